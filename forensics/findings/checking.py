"""Models judged before any build: one report a target, and a table of what each target refuses."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.console.terminal import visible
from trtforensics.findings.finding import Severity
from trtforensics.findings.judging import judge_model
from trtforensics.findings.target import as_log
from trtforensics.onnx_models.outline import load_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.finding import Report
    from trtforensics.findings.suppression import Suppression
    from trtforensics.findings.target import ModelTarget

_BLOCK = 1 << 20
_MARKS = {Severity.ERROR: "refused", Severity.WARNING: "warning", Severity.NOTE: "note"}


def check(path: str, targets: Sequence[ModelTarget], suppression: Suppression) -> Iterator[Report]:
    """Judge a model for each target; the file is read once.

    Raises:
        SourceError: It cannot be read or is no ONNX model.
    """
    model = load_model(path)
    size, sha256 = _digest(path)
    for target in targets:
        checked = model.checked
        words = f"{counted(len(checked.nodes), 'node')}, operator set {checked.opset}, for {target.words}"
        yield judge_model(as_log(checked, size, sha256, target), model, words, suppression)


def _digest(path: str) -> tuple[int, str]:
    """Return the bytes of a file and their digest; it may be of some GiB."""
    digest, size = hashlib.sha256(), 0
    with Path(path).open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return size, digest.hexdigest()


def table_of_targets(path: str, targets: Sequence[ModelTarget], reports: Sequence[Report]) -> str:
    """Return a model's findings as rows and targets as columns: the worst that each says of it."""
    own = [report for report in reports if report.sources[0].path == path]
    rows: dict[str, list[str]] = {}
    for column, report in enumerate(own):
        for finding in report.findings:
            row = rows.setdefault(finding.signature, [finding.title, *[""] * len(own)])
            row[column + 1] = row[column + 1] or _MARKS[finding.severity]
    names = [target.version or "any" for target in targets]
    widths = [max(len(name), *map(len, _MARKS.values())) for name in names]
    lines = [" ".join(name.ljust(width) for name, width in zip(names, widths, strict=True)) + f" {visible(path)}"]
    for title, *marks in rows.values():
        cells = " ".join((mark or "-").ljust(width) for mark, width in zip(marks, widths, strict=True))
        lines.append(f"{cells} {visible(title)}")
    return "\n".join(lines) + "\n"
