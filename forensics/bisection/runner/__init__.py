"""One probe: commands in a session of their own, with a timeout, their output in files, and nothing left behind."""
