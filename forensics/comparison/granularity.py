"""Leaves out layers that a kind of source never shows: comparing them would report differences that do not exist.

A replay has no entries for reformats. A dump at detailed verbosity shows the kernels inside a ForeignNode; other dumps
and all replays show the ForeignNode instead. Some versions print layers that run no kernel, others leave them out.
"""

from __future__ import annotations

from itertools import filterfalse
from operator import attrgetter
from typing import TYPE_CHECKING

from trtforensics.model.layer_types import NO_KERNEL
from trtforensics.parsers.notation.names import myelin_graph
from trtforensics.sources.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trtforensics.comparison.alignment import Layers
    from trtforensics.comparison.views import LayerView


def comparable(builds: Mapping[int, Layers], kinds: Mapping[int, Kind]) -> tuple[dict[int, Layers], tuple[str, ...]]:
    """Return the layers that all builds could show, and notes on what was left out."""
    kept = dict(builds)
    notes: list[str] = []

    def leave_out(unwanted: Callable[[LayerView], bool], note: str) -> None:
        kept.update({build: tuple(filterfalse(unwanted, layers)) for build, layers in kept.items()})
        notes.append(note)

    replays = {kinds[build] is Kind.REPLAY for build in builds}
    if len(replays) > 1 and any(layer.is_reformat for layers in builds.values() for layer in layers):
        leave_out(attrgetter("is_reformat"), "reformats are not compared: a replay does not tell them")
    silent = [any(_runs_no_kernel(layer) for layer in layers) for layers in kept.values()]
    if any(silent) and not all(silent):
        note = "layers that run no kernel (NoOp, Constant) are not compared: some sources do not print them"
        leave_out(_runs_no_kernel, note)
    inside = {build: any(_is_kernel(layer) for layer in layers) for build, layers in builds.items()}
    outside = {build: any(_is_foreign(layer) for layer in layers) for build, layers in builds.items()}
    if any(inside.values()) and any(outside[build] and not inside[build] for build in builds):
        note = "ForeignNodes are not compared: some sources show the kernels inside them, others do not"
        leave_out(lambda layer: _is_kernel(layer) or _is_foreign(layer), note)
    return kept, tuple(notes)


def _runs_no_kernel(layer: LayerView) -> bool:
    return layer.runner in NO_KERNEL


def _is_kernel(layer: LayerView) -> bool:
    return myelin_graph(layer.name) is not None


def _is_foreign(layer: LayerView) -> bool:
    return "{ForeignNode[" in layer.name and not layer.is_reformat
