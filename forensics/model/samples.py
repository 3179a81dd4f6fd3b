"""What each inference of a run took: what ``trtexec --exportTimes`` writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trtforensics.model.log import SourceInfo
    from trtforensics.model.span import SourceSpan


@dataclass(frozen=True, slots=True)
class InferenceSamples:
    """One run's inferences, in order, in ms.

    ``latency_ms`` counts the transfers of inputs and outputs, ``compute_ms`` the GPU's work only. ``elapsed_ms`` is
    from the first inference's enqueue to the last one's end.
    """

    latency_ms: tuple[float, ...]
    compute_ms: tuple[float, ...]
    elapsed_ms: float
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class InferenceTimes:
    """A times file; a file that several runs were appended to holds several, each with at least one inference."""

    source: SourceInfo
    runs: tuple[InferenceSamples, ...]
