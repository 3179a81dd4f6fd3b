"""What differs between good and bad builds, whatever tells of them: logs, replays, engine layers, timing caches."""
