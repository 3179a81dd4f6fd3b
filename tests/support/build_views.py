"""Builds as the comparison sees them, made by hand, and their differences in short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trtforensics.comparison.compare import compare
from trtforensics.comparison.loading import ComparedSide
from trtforensics.comparison.views import BuildView, LayerTensors, LayerView
from trtforensics.model.span import SourceSpan
from trtforensics.sources.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.comparison.differences import Comparison


def build(*layers: LayerView, kind: Kind = Kind.BUILD_LOG) -> BuildView:
    return BuildView("x", kind, "", layers)


def layer(name: str, line: int = 1, **fields: Any) -> LayerView:
    return LayerView(name, SourceSpan("x", line, 0), **fields)


def layers(names: str, **members: tuple[str, ...]) -> tuple[LayerView, ...]:
    """Make layers from names parted by ``;``, each with a convolution's runner and two tensors."""
    tensors = LayerTensors(1, ("Half", "Half"), texts=("Half", "Half"))
    return tuple(
        LayerView(name, SourceSpan("x", n, 0), runner="Cask", tensors=tensors, onnx_nodes=members.get(name, ()))
        for n, name in enumerate(names.split(";"), 1)
    )


def compared(good: Sequence[BuildView], bad: Sequence[BuildView]) -> Comparison:
    return compare(ComparedSide("good", tuple(good)), ComparedSide("bad", tuple(bad)))


def rows(comparison: Comparison) -> list[tuple[str, str]]:
    return [(row.type.value, row.layer) for row in comparison.differences]
