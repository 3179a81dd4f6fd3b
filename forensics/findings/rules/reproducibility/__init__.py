"""Rules of codes TF5xx: whether two builds can come out alike."""
