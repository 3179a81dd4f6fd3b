"""Rules of codes TF9xx: two builds of one model compared."""
