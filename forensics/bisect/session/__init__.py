"""A bisection that survives: its directory, its journal, its lock, and the loop from asks to verdicts."""
