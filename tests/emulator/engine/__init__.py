"""Simulated builds: networks, the tactics offered for their layers, what is chosen, and the files of a build."""
