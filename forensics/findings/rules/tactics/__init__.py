"""Rules of codes TF3xx: tactics that fail, are skipped or are refused, and builds that stop because of it."""
