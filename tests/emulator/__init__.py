"""A program of ours that stands in for TensorRT: it writes build logs in TensorRT's own line formats."""
