"""Many sources: their tables, datasets of them on disk, questions in SQL, and what changed from run to run."""
