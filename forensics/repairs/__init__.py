"""Repairs of ONNX models that TensorRT stumbles over, each equal to the original."""
