"""Compares good and bad builds, given as logs, replays, engine layers or timing caches."""
