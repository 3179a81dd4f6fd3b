"""Loads typed objects from paths: build logs, replays, engine layers, timing caches."""
