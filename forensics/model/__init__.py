"""What the parsers produce and everything else reads: typed, with a source span on every fact."""
