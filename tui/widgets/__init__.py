"""Widgets that several screens use. They know no screen."""
