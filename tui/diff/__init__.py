"""The screen that shows two sources side by side."""
