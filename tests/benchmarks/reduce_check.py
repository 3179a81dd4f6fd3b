"""The check that all tools get: ``python -m tests.benchmarks.reduce_check MODEL rtx|fp16 COUNT``.

Exit status 1: the model fails, in whatever way; what the twin cannot judge passes. Each run appends a line to the file
COUNT.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import onnx

from tests.benchmarks.reduce_oracle import NOT_JUDGED, Oracle


def main(path: str, kind: str, count: str) -> int:
    """Judge a model on random inputs."""
    with Path(count).open("a", encoding="utf-8") as lines:
        lines.write(f"{path}\n")
    with tempfile.TemporaryDirectory() as scratch:
        oracle = Oracle(kind, Path(scratch))
        failure = oracle.failure(onnx.load(path), None, frozenset())
        return 0 if failure is None or failure.ended == NOT_JUDGED else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
