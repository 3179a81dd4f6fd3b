"""The detail of a layer: everything that the log tells of it, wrapped to the width, each fact with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import milliseconds
from trtforensics.model.timings import tactic_text
from trtforensics.tables.layers import compute_text
from trtforensics.tui.rows.layers.index import formats_text, line_of, tensor_layout, tensor_text
from trtforensics.tui.rows.overview_rows import OverviewRow
from trtforensics.tui.rows.pieces import UNNAMED, CitingLine, Presentation, Role, line_digits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trtforensics.engines.facts import LayerFacts
    from trtforensics.engines.why import Reason
    from trtforensics.model.log import Build

_LABEL = 9
"""Cells of a label."""
_FINAL = {True: "✔ in the engine", False: "✗ lost", None: "? unknown"}


def details(build: Build, entry: LayerFacts, why: Iterable[Reason]) -> list[OverviewRow]:
    """Return the facts about a layer, why it is as it is first."""
    line = entry.span.line
    rows = [OverviewRow("layer", entry.name or UNNAMED, line, Role.STRONG)]
    rows += [OverviewRow("why", reason.text, reason.span.line if reason.span else None) for reason in why]
    rows += _facts(entry, line)
    rows += _nodes(build, entry, line)
    rows += _tensors(entry, line)
    rows += _tuned(entry)
    if entry.in_engine:
        rows += [OverviewRow("printed", f"{name}: {value}", line) for name, value in entry.layer.fields.items()]
    return rows


def _nodes(build: Build, entry: LayerFacts, line: int | None) -> Iterator[OverviewRow]:
    """Yield the ONNX nodes; an operator that the log does not tell is the model's, which has no lines."""
    lines = {node.name: node.span.line for node in build.onnx_nodes}
    for name in entry.onnx_nodes:
        op = entry.engine.operators.get(name, "")
        operator = f"{op}{'' if name in lines else ', by the ONNX model'}" if op else ""
        yield OverviewRow("onnx", f"{name}  {operator}".rstrip(), lines.get(name, line))


def _facts(entry: LayerFacts, line: int | None) -> Iterator[OverviewRow]:
    layer = entry.layer
    yield OverviewRow("kind", layer.type or "?", line)
    by = f", by its {entry.compute_precision.source}" if entry.compute_precision else ""
    yield OverviewRow("compute", f"{compute_text(entry)}{by}", line)
    if entry.time_ms is not None:
        share = f", {entry.share:.1%} of the engine's time".replace("%", " %") if entry.share is not None else ""
        yield OverviewRow("time", f"{milliseconds(entry.time_ms)} ms {entry.time_is or ''}{share}", line_of(entry))
    else:
        yield OverviewRow("time", f"?  {layer.origin}".rstrip(), line)
    if entry.in_engine and (layer.tactic is not None or layer.tactic_name):
        yield OverviewRow("tactic", " ".join(filter(None, (tactic_text(layer.tactic), layer.tactic_name))), line)
    if layer.origin:
        yield OverviewRow("origin", layer.origin, line)
    if entry.inside:
        yield OverviewRow("origin", f"a kernel of {entry.inside}, which was tuned as a whole", line)


def _tensors(entry: LayerFacts, line: int | None) -> Iterator[OverviewRow]:
    if not entry.in_engine:
        return
    for label, tensors in (("reads", entry.layer.inputs), ("writes", entry.layer.outputs)):
        for tensor in tensors:
            yield OverviewRow(label, f"{tensor_text(tensor)}  {tensor.name}  {tensor_layout(tensor)}".rstrip(), line)


def _tuned(entry: LayerFacts) -> Iterator[OverviewRow]:
    for result in entry.tuned if not entry.inside else ():
        time = "no time" if result.time_ms is None else f"{milliseconds(result.time_ms)} ms"
        tactic = f"{result.runner} {tactic_text(result.tactic) or ''}"
        text = f"{_FINAL[result.final]}  {time}  {formats_text(result)}  {tactic}"
        role = {True: Role.GOOD, False: Role.DIM, None: Role.WARNING}[result.final]
        yield OverviewRow("tuned", f"{text} {result.kernel}".rstrip(), result.span.line, role)


def labelled(rows: Sequence[OverviewRow]) -> Presentation[OverviewRow]:
    """Return how the facts about a layer look in a list."""
    gutter = line_digits(row.line for row in rows)
    return Presentation(
        wrapped=lambda row, width: (
            CitingLine(line, row.line) for line in row.lines(gutter, width - 1, _LABEL, Role.ACCENT)
        )
    )
