"""The precision lever: which nodes of an ONNX model must stay FP32, by casting, emulation, scores and a search."""
