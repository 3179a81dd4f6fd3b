"""Lines to columns of events."""
