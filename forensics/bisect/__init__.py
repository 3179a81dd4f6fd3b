"""Bisection through real builds: search, probes, artifacts directory, levers, precision."""
