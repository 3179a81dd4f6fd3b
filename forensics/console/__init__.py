"""The terminal, the standard streams and result files: results, progress, diagnostics."""
