"""The lines of a build log: what each of them holds, and how a version and a logger print it."""
