"""The terminal interface, built on Textual. ``commands/tui.py`` is its only user."""
