"""The same log with names replaced, so that it can be attached to a public issue."""
