"""Rewrites a log with made-up names, so that it can be attached to a public issue."""
