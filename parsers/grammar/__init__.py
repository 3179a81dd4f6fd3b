"""The grammar rules, and how they run."""
