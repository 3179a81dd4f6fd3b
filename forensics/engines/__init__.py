"""Facts about an engine's layers that no single line states."""
