"""What Polygraphy compared: outputs of two runners, and outputs that were validated alone."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from trtforensics.knowledge.table import rows
from trtforensics.model.log import OnnxNode
from trtforensics.model.run import ComparedOutput, RunnerComparison
from trtforensics.model.span import SourceSpan
from trtforensics.parsers.builds.views import LinesView, Spans

_ROWS = {row["kind"]: row["fields"].split() for row in rows("comparison_rows", "trtforensics.parsers.builds")}
_TOLERANCE = re.compile(r"abs=([-+.0-9e]+), rel=([-+.0-9e]+)")
_OF_OUTPUT = re.compile(
    r"(?:Output: .+ is valid|Errors detected in output: |(?:Output: '.+' \| )?Difference (?:is within|exceeds) )"
)
"""The verdict on one output; others are on a whole comparison."""
_NAMED = re.compile(r"Output: '(.+?)' \|")


@dataclass(slots=True)
class _Reading:
    span: SourceSpan
    left: str = ""
    right: str = ""
    outputs: list[ComparedOutput] = field(default_factory=list)
    pass_rate: float | None = None

    def update(self, name: str | None = None, /, **facts: float | bool | tuple[float, float] | None) -> None:
        """Set facts of the last output of a name, else of the last one."""
        place = max((place for place, output in enumerate(self.outputs) if output.name == name), default=-1)
        if self.outputs:
            self.outputs[place] = replace(self.outputs[place], **facts)  # type: ignore[arg-type]  # mypy does not pair names with types


def comparisons(view: LinesView, spans: Spans, nodes: Sequence[OnnxNode]) -> tuple[RunnerComparison, ...]:
    """Read the comparisons of a run; the outputs get the order of the network where its nodes are known."""
    order = {name: place for place, node in enumerate(nodes) for name in node.outputs}
    read = []
    for each in _readings(view, spans):
        if all(output.name in order for output in each.outputs):
            each.outputs.sort(key=lambda output: order[output.name])
        if each.outputs or each.pass_rate is not None:
            read.append(RunnerComparison(each.left, each.right, tuple(each.outputs), each.span, each.pass_rate))
    return tuple(read)


def _readings(view: LinesView, spans: Spans) -> Iterator[_Reading]:
    read = [(line, kind, values) for kind, names in _ROWS.items() for line, *values in view.each(kind, *names)]
    reading: _Reading | None = None
    for line, kind, values in sorted(read, key=lambda row: row[0]):
        starts = kind == "poly_comparison" or (kind == "poly_validating" and (reading is None or bool(reading.right)))
        if reading is None or starts:
            if reading is not None:
                yield reading
            reading = _Reading(spans.of(line))
        if kind in {"poly_stats", "poly_metrics"} and not reading.outputs:  # an excerpt may lack the output's own line
            reading.outputs = [ComparedOutput(str(values[0]), spans.of(line))]
        if kind != "poly_metrics":
            _read(reading, kind, values, spans.of(line))
    if reading is not None:
        yield reading


def _read(reading: _Reading, kind: str, values: list[str | float | None], span: SourceSpan) -> None:
    if kind == "poly_comparison":
        reading.left, reading.right = map(str, values)
    elif kind == "poly_summary":
        *names, percent = values
        reading.left, reading.right = map(str, names)
        reading.pass_rate = float(percent) if percent is not None else None
    elif kind in {"poly_compared", "poly_validating"}:
        name, rest, dtype = values if kind == "poly_compared" else (values[1], "", None)
        reading.left = reading.left or (str(values[0]) if kind == "poly_validating" else "")
        reading.outputs.append(ComparedOutput(str(name), span, dtype=None if dtype is None else str(dtype)))
        _note_tolerance(reading, str(rest))
    elif kind == "poly_tolerance":
        _note_tolerance(reading, str(values[0]))
    elif kind in {"poly_difference", "poly_required"}:
        *basis, mean, largest = values
        reading.update(**({"max_rel": largest} if basis == ["Relative"] else {"mean_abs": mean, "max_abs": largest}))  # type: ignore[arg-type]  # numbers
    elif kind in {"poly_stats", "poly_stats_old"}:
        *names, runner, least, most = values
        reading.left = reading.left or str(runner)  # an excerpt may lack the line that names both
        reading.right = reading.right or (str(runner) if runner != reading.left else "")
        side = "left_range" if runner == reading.left else "right_range"
        reading.update(
            *map(str, names), **{side: None if least is None or most is None else (float(least), float(most))}
        )
    elif kind == "poly_nonfinite":
        reading.update(**{str(values[0]).lower(): 1})
    elif values[1] is None or _OF_OUTPUT.match(str(values[1])):
        _judge(reading, str(values[1]), span, passed=values[0] == "PASSED")


def _judge(reading: _Reading, text: str, span: SourceSpan, *, passed: bool) -> None:
    """Note the verdict on an output, whose own line may be cut off."""
    named = _NAMED.search(text)
    if named and reading.outputs and reading.outputs[-1].name != named[1]:
        reading.outputs.append(ComparedOutput(named[1], span))
    reading.update(passed=passed)
    if passed and not reading.right:  # an output that was validated holds no such values
        reading.update(nan=0, inf=0)


def _note_tolerance(reading: _Reading, text: str) -> None:
    tolerance = _TOLERANCE.search(text)
    if tolerance:
        reading.update(atol=float(tolerance[1]), rtol=float(tolerance[2]))
