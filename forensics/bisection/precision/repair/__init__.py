"""The search for the nodes that must stay FP32, the proof of its answer, and the repair that loses nothing inside."""
