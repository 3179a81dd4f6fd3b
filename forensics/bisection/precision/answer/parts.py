"""The answer of a precision search as typed parts, which are what ``result.json`` has besides any search's answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.bisection.session.answer import JudgedProbe

if TYPE_CHECKING:
    from collections.abc import Mapping

    WorstScores = Mapping[str, float | None]
    """The worst score of each output by its first metric; None where it is not finite."""


@dataclass(frozen=True, slots=True)
class ScoredProbe(JudgedProbe):
    """A probe with its scores; ``near`` the tolerance, noise may decide. ``built`` is None where nothing was built."""

    scores: WorstScores
    near: bool
    built: bool | None
    log_tail: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrecisionEvidence:
    """What the answer rests on."""

    emulated: bool
    built: bool
    executed: bool


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """A metric and what must be reached by it; ``rounding_floor`` is what rounding alone costs, None: not finite."""

    metric: str
    tolerance: float
    default: bool
    rounding_floor: float | None
    cap: float | None
    below_floor: bool


@dataclass(frozen=True, slots=True)
class JudgedOutput(JudgedBy):
    """How an output is judged: by its first metric, and by others besides."""

    also: tuple[JudgedBy, ...]


@dataclass(frozen=True, slots=True)
class RepairSummary:
    """The nodes that a repair keeps in FP32, in the model's order, and its probe."""

    nodes: tuple[str, ...]
    verdict: str | None
    scores: WorstScores
    folder: str | None


@dataclass(frozen=True, slots=True)
class TensorReason:
    """Why the nodes at a tensor must stay FP32; ``set`` is the number of their repair."""

    tensor: str
    moved_as: tuple[str, ...]
    why: str
    nodes: tuple[str, ...]
    set: int


@dataclass(frozen=True, slots=True)
class RepairNode:
    """A node of a repair, with the scores of two probes: the node alone in 16 bits, and the repair without it."""

    node: str
    op: str
    set: int
    needed: bool | None
    alone_in_16_bits: WorstScores | None
    dropped: WorstScores | None
