"""Bisection through real builds: the search, probes, artifacts directories, levers, precision."""
