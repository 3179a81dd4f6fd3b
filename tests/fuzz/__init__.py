"""A mutation fuzzer of logs, JSON, settings and directories; ``python -m tests.fuzz`` runs it as long as one likes."""
