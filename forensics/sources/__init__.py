"""From a path to a typed thing: a build log, a replay, engine layers, a timing cache."""
