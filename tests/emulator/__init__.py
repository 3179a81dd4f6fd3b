"""A program of ours that stands in for TensorRT: it writes build logs in TensorRT's own line formats.

It is a test double and never part of the product. Each package imports only those after it: ``trtexec`` (the command
line programs) and ``tensorrt`` (the Python module), ``engine`` (simulated builds), ``log`` (the lines of a log).
"""
