"""The terminal and the standard streams: results, progress, diagnostics, files written whole."""
