"""Rules of codes TF7xx: what the log itself lacks, and errors that no other rule explains."""
