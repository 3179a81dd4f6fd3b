"""The parts of the commands that search through builds: their arguments, and what they make of them."""
