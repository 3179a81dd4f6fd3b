"""Runs as words and as JSON: which program ran, how it ended, its phases, comparisons and results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from trtforensics.console.counting import MEBIBYTE
from trtforensics.knowledge.table import rows
from trtforensics.model.run import Ending
from trtforensics.render.documents import Forms, JsonObject, document_of

if TYPE_CHECKING:
    from trtforensics.model.run import ComparedOutput, Run, RunnerComparison, RunResult


_SHOWN = 3
"""Outputs of a comparison that the text shows."""


def run_members(run: Run) -> JsonObject:
    """Return a run as members of a JSON object."""
    return document_of("run", run, _FORMS)


_FORMS: Forms = {
    "facts": lambda facts: [{"text": text, "line": span.line} for text, span in facts],
    "results": lambda results: {
        result.key: dict(result.value) if isinstance(result.value, Mapping) else result.value for result in results
    },
    "name": lambda output: None if output is None else output.name,
}


def run_rows(run: Run) -> Iterator[tuple[str, str]]:
    """Give what the text says of a run: rows of a label and a text; further rows of a label leave it empty."""
    outcome = run.outcome
    ending = "ended" if outcome.ending is Ending.NONE else outcome.ending.value
    where = f" (line {outcome.span.line})" if outcome.span is not None else ""
    timed = ", ".join(f"{p.name} {p.seconds:.3g} s" if p.seconds is not None else p.name for p in run.phases)
    yield "run", f"{run.program}, {ending}: {outcome.why}{where}{f'; {timed}' if timed else ''}"
    if not run.uses_tensorrt:
        yield "", "it never uses TensorRT"
    if outcome.survived is not None:
        failed = f": {outcome.reached}, {outcome.survived.spoils}" if outcome.survived.spoils else ""
        yield "", f"its last error is in line {outcome.survived.span.line}{failed}"
    for comparison in run.comparisons:
        yield from _comparison_rows(comparison)


def _comparison_rows(comparison: RunnerComparison) -> Iterator[tuple[str, str]]:
    sides = f"{comparison.left} and {comparison.right}" if comparison.right else f"{comparison.left}, validated alone"
    failed = [output for output in comparison.outputs if output.passed is False]
    rate = f", pass rate {comparison.pass_rate:g} %" if comparison.pass_rate is not None else ""
    yield "compared", f"{sides}: {len(failed)} of {len(comparison.outputs)} outputs failed{rate}"
    for output in failed[:_SHOWN]:
        yield "", f"{output.name}: {_errors_of(output)} (line {output.span.line})"


def _errors_of(output: ComparedOutput) -> str:
    names = ("max absolute error", "mean", "atol", "rtol")
    facts = zip(names, (output.max_abs, output.mean_abs, output.atol, output.rtol), strict=True)
    words = [f"{name} {value:g}" for name, value in facts if value is not None]
    words += [f"holds {name}" for name, count in (("NaN", output.nan), ("Inf", output.inf)) if count]
    return ", ".join(words) or "failed"


_NAMES = {row["key"]: row["name"] for row in rows("results", "trtforensics.render")}
_UNITS = {"ms": "ms", "qps": "qps", "tps": "tokens/s", "s": "s", "bytes": "MiB", "mib": "MiB", "percent": "%"}


def result_name(result: RunResult) -> str:
    """Return what a result is of."""
    return _NAMES.get(result.key, result.key)


def result_text(result: RunResult) -> str:
    """Return a result's value with its unit."""
    key = result.key.rpartition("_")[2]
    unit = result.stated.unit if result.stated else _UNITS.get(key, "")
    if isinstance(result.value, float | int):
        return f"{result.value / MEBIBYTE if key == 'bytes' else result.value:g} {unit}".rstrip()
    return _spread(result.value, unit)


def _spread(values: Mapping[str, float], unit: str) -> str:
    """Spell many measurements by the median, the extremes and the last percentile; JSON has them all."""
    last = [name for name in values if name.startswith("p")][-1:]
    order = (*("before", "after", "average", "median", "min", "max"), *last)
    return ", ".join(f"{name} {values[name]:g} {unit}" for name in order if name in values)
