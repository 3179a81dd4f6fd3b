"""The screen of a replay, an engine-layer file or a timing cache."""
