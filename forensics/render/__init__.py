"""A typed thing as text or JSON."""
