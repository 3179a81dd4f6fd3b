"""Finds members when outcomes may be wrong: repeats checks and builds until a stated confidence is reached."""
