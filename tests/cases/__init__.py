"""Judges ``report`` on excerpts of public threads of which the cause is known."""
