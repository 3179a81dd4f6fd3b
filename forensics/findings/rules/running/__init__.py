"""Rules of codes TF6xx: loading an engine and running it."""
