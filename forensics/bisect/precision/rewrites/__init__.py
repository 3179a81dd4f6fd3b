"""Chains of primitive operators that TensorRT has one operator for, and the model with that operator."""
