"""Which figures there are, and which of them sources give."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from trtforensics.comparison.times import compare_times
from trtforensics.comparison.view_building import of_log
from trtforensics.errors import UsageError
from trtforensics.plots.comparison_figures import side_by_side, waterfall
from trtforensics.plots.engine_figures import blocks, layers, margins, memory, roofline, tuning, types
from trtforensics.render.names import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.engines.facts import EngineFacts
    from trtforensics.model.log import BuildLog
    from trtforensics.plots.figure import Figure

_LABEL = 30
"""Characters of an engine's name beside its bar."""
NEEDS = {
    "layers": "times of layers: a profile, or a verbose log",
    "types": "times of layers: a profile, or a verbose log",
    "blocks": "times of layers, and names of ONNX nodes with `/` or `.` in them",
    "memory": "engine layers with dimensions and types",
    "roofline": "times of layers, and engine layers at detailed verbosity",
    "margins": "a verbose log in which tactics are timed",
    "build": "a log of TensorRT 8.6 or later",
    "inferences": "times of inferences: a file of `trtexec --exportTimes`",
    "spread": "times of inferences: a file of `trtexec --exportTimes`",
    "waterfall": "a second engine (`--against`), times on both sides",
    "compare": "a second engine (`--against`), times on both sides",
}
"""What each figure needs, in words; its keys are the names of all figures."""


def figures_of(engine: EngineFacts) -> list[Figure]:
    """Return the figures that one engine's sources give, in order."""
    of_layers = (draw(engine) for draw in (layers, types, blocks, memory, roofline))
    of_build = (draw(engine.build) for draw in (margins, tuning))
    return [figure for figure in (*of_layers, *of_build) if figure is not None]


def named(made: Iterable[Figure], name: str, where: str) -> Figure:
    """Return one of the figures that files give; ``where`` is the file that an error names.

    Raises:
        UsageError: the files do not give it; the error says what it needs.
    """
    by_name = {figure.name: figure for figure in made}
    if name not in by_name:
        raise UsageError(where, f"does not give the figure {name}", f"It needs {NEEDS.get(name, 'another name')}")
    return by_name[name]


def figures_of_two(first: BuildLog, second: BuildLog) -> list[Figure]:
    """Return the figures of two engines; none where their layers have no times of one source."""
    views = [view for log in (first, second) if (view := of_log(log)) is not None]
    times = compare_times(views[:1], views[1:]).layers if len(views) > 1 else None
    if times is None:
        return []
    left, right = (shortened(PurePath(log.source.path).name, _LABEL) for log in (first, second))
    names = (left, right) if left != right else (f"first {left}", f"second {right}")
    return [waterfall(times, *names), side_by_side(times, *names)]
