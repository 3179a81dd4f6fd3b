"""Rules of codes TF1xx: the ONNX model, and what the parser says of it."""
