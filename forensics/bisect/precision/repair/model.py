"""The types of a search for repairs: its probes, and its answer."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.bisect.search import Status

_T = TypeVar("_T")

Nodes = frozenset[str]
RepairProbe = tuple[Nodes, str]
"""A probe: the nodes that stay FP32, and its purpose."""
RepairSteps = Generator[Sequence[RepairProbe], None, _T]
"""A part of the search: it yields probes, and is resumed when all of them have verdicts."""


@dataclass(frozen=True, slots=True)
class RepairSet:
    """A minimal set: the model passes with these nodes in FP32, and fails without any one of them.

    ``tensors`` are the items that the nodes belong to. ``proven`` is False if a probe of the proof was not resolved.
    """

    nodes: Nodes
    tensors: tuple[str, ...]
    proven: bool


@dataclass(frozen=True, slots=True)
class RepairAnswer:
    """The answer of the search: the first repair, and alternatives that share no node with it.

    ``needed`` says for nodes of a small first repair whether the model fails with that node alone in 16 bits; if not,
    other nodes can do its part. ``passes_narrow`` says that the model passes with every node in 16 bits.
    """

    status: Status
    why: str
    repairs: tuple[RepairSet, ...] = ()
    needed: Mapping[str, bool | None] = field(default_factory=dict)
    suspects: Nodes = frozenset()
    passes_narrow: bool = False
