"""What the user takes away: the repaired models, and the same repair for other tools."""
