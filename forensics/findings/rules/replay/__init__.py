"""Rules of codes TF8xx: a tactic replay held against a build's log."""
