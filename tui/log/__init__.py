"""The screen of a build log."""
