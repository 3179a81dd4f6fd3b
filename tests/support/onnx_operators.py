"""Writes the names of ONNX's operators that redaction keeps: ``python -m tests.support.onnx_operators``.

Redaction reads them from a file, because an import of onnx takes longer than redacting a log.
"""

from __future__ import annotations

import textwrap

from onnx import defs

from tests.support.repository import ROOT

PATH = ROOT / "forensics" / "redaction" / "onnx_operators.txt"
OPSET = 28
"""The newest operator set of ``ai.onnx`` whose operators the file has; those of other domains are all there."""


def text() -> str:
    """Return what the file says: every name that an operator ever had, of each domain."""
    schemas = defs.get_all_schemas_with_history()
    names = sorted({schema.name for schema in schemas if schema.domain or schema.since_version <= OPSET})
    head = f"# ONNX's operators of every domain, up to operator set {OPSET}; made by tests/support/onnx_operators.py.\n"
    return head + textwrap.fill(" ".join(names), 118) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
