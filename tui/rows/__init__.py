"""What the panes show: rows of text laid out for a width, without Textual."""
