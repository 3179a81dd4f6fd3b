"""What the layers pane and the panes about one layer show."""
