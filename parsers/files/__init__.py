"""Files that are one document: replays, engine layers, profiles, timing caches."""
