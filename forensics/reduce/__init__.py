"""Reduces a model that fails to the smallest one that still fails in the same way."""
