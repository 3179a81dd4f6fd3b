"""A mutation fuzzer of the whole way from bytes to graph; ``python -m tests.fuzz`` runs it as long as one likes."""
