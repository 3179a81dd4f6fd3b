"""Everything that touches TensorRT's own API, always in a child process."""
