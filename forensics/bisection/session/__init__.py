"""A bisection that can be stopped and resumed: its directory, journal and lock, and the loop that runs its probes."""
