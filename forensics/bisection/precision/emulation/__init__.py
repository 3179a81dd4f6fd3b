"""The emulated twin: an FP32 model that computes as 16-bit nodes would, its inputs, and how its outputs are judged."""
