"""Which nodes of an ONNX model must stay FP32: casting, emulating, scoring, and what is searched."""
