"""Rules about ONNX models, which need no log: each judges the model of a case for the case's release and options."""
