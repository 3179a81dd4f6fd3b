"""The Python module: ``on_path/tensorrt`` is what ``import tensorrt`` finds in a process that asks for it."""
