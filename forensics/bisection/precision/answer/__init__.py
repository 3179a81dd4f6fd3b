"""The answer of a precision search: its parts, its document, its text."""
