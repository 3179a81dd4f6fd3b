"""Models judged before any build: one report a target, and a table of what each target refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.console.own_files import file_digest
from trtforensics.console.terminal import visible
from trtforensics.findings.case import Case
from trtforensics.findings.finding import JudgedTarget, Report, Severity
from trtforensics.findings.judging import judge_model
from trtforensics.findings.models.operators import standing
from trtforensics.findings.models.seen import by_operator
from trtforensics.findings.target import ModelTarget, as_log

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.suppression import Suppression
    from trtforensics.onnx_models.checked import CheckedModel

ANY = "any"
"""The name of no certain release."""
_BUILDS_ALL_THE_SAME = {"TF177"}
"""Errors that spoil what the engine computes, and do not keep it from being built."""
_MARKS = {Severity.ERROR: "refused", Severity.WARNING: "warning", Severity.NOTE: "note"}


def check(
    path: str, targets: Sequence[ModelTarget], suppression: Suppression, model: CheckedModel | None = None
) -> Iterator[Report]:
    """Judge a model for each target; the file is read once, or has been read as ``model``.

    Raises:
        SourceError: It cannot be read or is no ONNX model.
    """
    from trtforensics.onnx_models.checked import read_checked  # noqa: PLC0415 - imports onnx, which is slow

    model = model or read_checked(path)
    size, sha256 = file_digest(path)
    for target in targets:
        words = f"{counted(len(model.nodes), 'node')}, operator set {model.opset}, for {target.words}"
        log = as_log(model, size, sha256, target)
        report = judge_model(log, model, words, suppression)
        judged = _judged(Case(log.builds[0], log, model), target, report)
        yield replace(report, sources=(replace(report.sources[0], target=judged),))


def _judged(case: Case, target: ModelTarget, report: Report) -> JudgedTarget:
    groups = by_operator(case.checked.nodes)
    operators = {op: (len(nodes), standing(case, op, nodes)) for op, nodes in groups.items()}
    every = (*report.findings, *report.suppressed)
    errors = [each for each in every if each.severity is Severity.ERROR and each.code not in _BUILDS_ALL_THE_SAME]
    known = {word for _, word in operators.values()}.isdisjoint({"?", "plugin"})
    return JudgedTarget(target.version or ANY, operators, False if errors else True if known else None)


def table_of_targets(path: str, reports: Sequence[Report]) -> str:
    """Return a model's operators and findings as rows, targets as columns: how each takes the operator, the worst.

    Operators that all targets import are one row.
    """
    of_model = [report for report in reports if report.sources[0].path == path]
    targets = [target for report in of_model if (target := report.sources[0].target) is not None]
    rows: dict[str, list[str]] = {}
    same: list[str] = []
    for op, (count, _) in targets[0].operators.items():
        words = [target.operators[op][1] for target in targets]
        if set(words) == {"yes"}:
            same.append(f"{count:,} {op}")
        else:
            rows[f"operator {op}"] = [f"{count:,} {op}", *words]
    if same:
        rows["operators"] = [", ".join(same), *["yes"] * len(of_model)]
    for column, report in enumerate(of_model):
        for finding in report.findings:
            row = rows.setdefault(finding.signature, [finding.title, *[""] * len(of_model)])
            row[column + 1] = row[column + 1] or _MARKS[finding.severity]
    names = [target.release for target in targets]
    widths = [max(len(name), *map(len, _MARKS.values())) for name in names]
    lines = [" ".join(name.ljust(width) for name, width in zip(names, widths, strict=True)) + f" {visible(path)}"]
    for title, *marks in rows.values():
        cells = " ".join((mark or "-").ljust(width) for mark, width in zip(marks, widths, strict=True))
        lines.append(f"{cells} {visible(title)}")
    return "\n".join(lines) + "\n"
