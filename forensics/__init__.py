"""Tactic and build-log forensics for NVIDIA TensorRT."""

__version__ = "0.1.0"
