"""The commands about many sources: datasets of them, SQL, and what changed."""
