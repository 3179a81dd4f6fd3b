"""The Textual front end; nothing but ``commands/tui.py`` imports it."""
