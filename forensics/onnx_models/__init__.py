"""ONNX models: read, measured, run in ONNX Runtime, sampled, and written with weights outside of their message."""
