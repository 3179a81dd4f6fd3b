"""TensorRT's small languages: layer names, formats, tensors."""
