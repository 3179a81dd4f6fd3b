"""How a probe becomes a real build, one module a lever."""
