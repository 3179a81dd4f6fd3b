"""What differs between good and bad builds, from any source: logs, replays, engine layers, timing caches."""
