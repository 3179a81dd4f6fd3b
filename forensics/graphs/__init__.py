"""The graph of one build, and its export to files."""
