"""Pictures of an engine's times, memory and tuning: plain SVG, with the data of each as a table and in words."""
