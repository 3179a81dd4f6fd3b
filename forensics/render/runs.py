"""Runs as words and as JSON: which program ran, how it ended, its phases, comparisons and results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from trtforensics.console.counting import MEBIBYTE, counted, listed
from trtforensics.knowledge.table import rows
from trtforensics.model.run import ComparedOutput, Ending, Run, RunResult
from trtforensics.render.json_text import Forms, JsonObject, document_of

if TYPE_CHECKING:
    from trtforensics.model.span import SourceSpan


_SHOWN = 3
"""Outputs of a comparison that the text shows."""
_LOOSE = 0.5
"""The relative tolerance from which a comparison says little."""
_FAR = 10
"""How many times its part of the range a relative error is where it is of values near zero."""


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
    yield from (("compared", text) for text, _ in compared(run))


def compared(run: Run) -> Iterator[tuple[str, SourceSpan]]:
    """Give what each comparison of a run came to, with its line: how many outputs agree, within what, the worst."""
    for comparison in run.comparisons:
        outputs, left, right = comparison.outputs, comparison.left.split("-N")[0], comparison.right.split("-N")[0]
        alone = left and not right
        measured = not right and all(output.passed is None for output in outputs)
        other = "a side that is not shown" if measured else right
        sides = f"{left} against {other}".strip() if other else f"{left}, validated alone" if alone else "two runners"
        failed = [output for output in outputs if output.passed is False]
        good, bad = ("are valid", "failed") if alone else ("agree", "differ")
        good, bad = ("have no verdict", "differ") if measured else (good, bad)
        number, judged = len(outputs), comparison.pass_rate is not None or measured
        passed = number if judged else sum(output.passed is True for output in outputs)
        result = f"{len(failed)} of {number} outputs {bad}" if failed else f"{passed} of {number} outputs {good}"
        result = result if failed or passed else "no verdict is shown" if outputs else ""
        rate = f"pass rate {comparison.pass_rate:g} %" if comparison.pass_rate is not None else ""
        tolerances = {(each.atol, each.rtol) for each in outputs if each.atol is not None and each.rtol is not None}
        within = " or ".join(f"abs {atol:g}, rel {rtol:g}" for atol, rtol in sorted(tolerances)[:_SHOWN])
        loose = max((rtol for _, rtol in tolerances), default=0.0)
        within += f", which is {loose:.0%} and lets nearly all pass" if loose >= _LOOSE else ""
        either = [each.name for each in outputs if each.passed and each.atol and (each.max_abs or 0.0) > each.atol]
        by_relative = (
            f"{listed(either, _SHOWN)} pass{'es' * (len(either) == 1)} by the relative error alone" if either else ""
        )
        parts = (result, rate, f"tolerance {within}" if within else "", by_relative, *_worst(failed or outputs))
        yield f"{sides}: {'; '.join(filter(None, parts))}", (failed or outputs or (comparison,))[0].span


def _worst(outputs: Sequence[ComparedOutput]) -> Iterator[str]:
    """Name the outputs with the largest errors, what they hold, and where a relative error is one of small values."""
    if len(outputs) > _SHOWN and (first := outputs[0]).max_abs and first.passed is False:
        yield f"of the first (in the order of the network, if that is known) {_error_of(first)}"
    by_error = sorted((each for each in outputs if each.max_abs), key=lambda each: -(each.max_abs or 0.0))
    if by_error:
        least = f", least {_error_of(by_error[-1])}" if len(by_error) > _SHOWN else ""
        yield f"largest absolute error {', '.join(map(_error_of, by_error[:_SHOWN]))}{least}"
    if not by_error and outputs and all(each.max_abs == 0 for each in outputs):
        yield "no difference at all"
    fixed = [each for each in outputs if each.left_range and len({*each.left_range, *(each.right_range or ())}) == 1]
    if fixed:
        each_is = ", ".join(f"{each.name} is {(each.left_range or (0,))[0]:g}" for each in fixed[:_SHOWN])
        yield f"{each_is} throughout"
    relative = max((each for each in outputs if each.max_rel), key=lambda each: each.max_rel or 0.0, default=None)
    if relative is not None and relative.max_rel is not None:
        part, most = _part_of_range(relative), (relative.max_abs or 0.0) / relative.max_rel
        is_small = part is not None and relative.max_rel > _FAR * part
        near = f", at a value of at most {most:.3g}, where it says little" if is_small else ""
        endless = sum(bool(each.max_abs) and each.max_rel is None for each in outputs)
        rest = (
            f"; of {counted(endless, 'output')} it is infinite, as where a value is 0, or not shown" if endless else ""
        )
        yield f"largest relative error {relative.max_rel:.3g} of {relative.name}{near}{rest}"
    for name, kind in (("NaN", "nan"), ("Inf", "inf")):
        holding = [each.name for each in outputs if getattr(each, kind)]
        if holding:
            yield f"{name} in {listed(holding, _SHOWN)}"


def _error_of(output: ComparedOutput) -> str:
    mean = f"mean {output.mean_abs:.3g}" if output.mean_abs is not None else ""
    part = _part_of_range(output)
    words = ", ".join(filter(None, (mean, f"{part:.2%} of its range" if part is not None else "")))
    kind = " (integers)" if output.holds_integers else ""
    return f"{output.max_abs:.3g} of {output.name}{kind}{f' ({words})' if words else ''}"


def _part_of_range(output: ComparedOutput) -> float | None:
    """Return the largest error as a part of the span of the output's values."""
    ends = [end for side in (output.left_range, output.right_range) if side is not None for end in side]
    width = max(ends) - min(ends) if ends else 0.0
    return output.max_abs / width if output.max_abs is not None and width > 0 else None


_NAMES = {row["key"]: row["name"] for row in rows("results", "trtforensics.render")}
_UNITS = {"ms": "ms", "qps": "qps", "tps": "tokens/s", "s": "s", "bytes": "MiB", "mib": "MiB", "percent": "%"}


def result_name(result: RunResult) -> str:
    """Return what a result is of."""
    return _NAMES.get(result.key, result.key)


def result_text(result: RunResult) -> str:
    """Return a result's value with its unit; of many measurements median, extremes and the last percentile."""
    key = result.key.rpartition("_")[2]
    unit = result.stated.unit if result.stated else _UNITS.get(key, "")
    if isinstance(values := result.value, float | int):
        return f"{values / MEBIBYTE if key == 'bytes' else values:g} {unit}".rstrip()
    last = [name for name in values if re.match(r"p\d", name)][-1:]
    order = (*("before", "after", "average", "median", "min", "max"), *last)
    return ", ".join(f"{name} {values[name]:g} {unit}" for name in order if name in values)
