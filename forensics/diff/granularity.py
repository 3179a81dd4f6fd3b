"""Leaves out layers that a kind of source never shows: comparing them would report differences that do not exist.

A replay has no entries for reformats. A dump at detailed verbosity shows the kernels inside a ForeignNode; other dumps
and all replays show the ForeignNode instead. Some versions print layers that run no kernel, others leave them out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.model.times import NO_KERNEL
from trtforensics.parsers.notation.names import myelin_graph
from trtforensics.sources.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.diff.builds.aligned_layers import Layers
    from trtforensics.diff.builds.views import LayerView


def comparable(builds: Mapping[int, Layers], kinds: Mapping[int, Kind]) -> tuple[dict[int, Layers], tuple[str, ...]]:
    """Return the layers that all builds could show, and notes on what was left out."""
    found = dict(builds)
    notes: list[str] = []
    replays = {kinds[build] is Kind.REPLAY for build in builds}
    if len(replays) > 1 and any(layer.is_reformat for layers in builds.values() for layer in layers):
        found = {build: tuple(one for one in layers if not one.is_reformat) for build, layers in found.items()}
        notes.append("reformats are not compared: a replay does not tell them")
    silent = [any(_runs_no_kernel(layer) for layer in layers) for layers in found.values()]
    if any(silent) and not all(silent):
        found = {build: tuple(one for one in layers if not _runs_no_kernel(one)) for build, layers in found.items()}
        notes.append("layers that run no kernel (NoOp, Constant) are not compared: some sources do not print them")
    inside = {build: any(_is_kernel(layer) for layer in layers) for build, layers in builds.items()}
    outside = {build: any(_is_foreign(layer) for layer in layers) for build, layers in builds.items()}
    if any(inside.values()) and any(outside[build] and not inside[build] for build in builds):
        found = {
            build: tuple(one for one in layers if not _is_kernel(one) and not _is_foreign(one))
            for build, layers in found.items()
        }
        notes.append("ForeignNodes are not compared: some sources show the kernels inside them, others do not")
    return found, tuple(notes)


def _runs_no_kernel(layer: LayerView) -> bool:
    return layer.runner in NO_KERNEL


def _is_kernel(layer: LayerView) -> bool:
    return myelin_graph(layer.name) is not None


def _is_foreign(layer: LayerView) -> bool:
    return "{ForeignNode[" in layer.name and not layer.is_reformat
