"""Which figures there are, and which of them sources give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.plots import build_figures, comparison_figures, engine_figures

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trtforensics.diff.times.deltas import LayerTimes
    from trtforensics.engines.facts import EngineFacts
    from trtforensics.plots.figure import Figure

_OF_ENGINE: Mapping[str, Callable[[EngineFacts], Figure | None]] = {
    "layers": engine_figures.layers,
    "types": engine_figures.types,
    "blocks": engine_figures.blocks,
    "memory": engine_figures.memory,
    "roofline": engine_figures.roofline,
    "margins": lambda engine: build_figures.margins(engine.build),
    "build": lambda engine: build_figures.tuning(engine.build),
}
_OF_TWO: Mapping[str, Callable[[LayerTimes], Figure]] = {
    "waterfall": comparison_figures.waterfall,
    "compare": comparison_figures.side_by_side,
}
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
    made = (draw(engine) for draw in _OF_ENGINE.values())
    return [figure for figure in made if figure is not None]


def figures_of_two(times: LayerTimes) -> list[Figure]:
    """Return the figures of two engines."""
    return [draw(times) for draw in _OF_TWO.values()]
