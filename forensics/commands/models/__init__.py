"""The commands whose subject is an ONNX model."""
