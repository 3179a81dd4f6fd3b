"""Typed models: which nodes may compute in 16 bits, and the model with Casts around those that may not."""
