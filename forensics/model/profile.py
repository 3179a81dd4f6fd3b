"""How long the layers of an engine took in a profiled run, and how long each inference of a run took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trtforensics.model.older_python import StrEnum
from trtforensics.model.span import SourceInfo, SourceSpan


class TimeSource(StrEnum):
    """Where a layer's time comes from: the profile of a run, or the autotuner, which timed the layer alone."""

    MEASURED = "measured"
    TUNED = "tuned"


@dataclass(frozen=True, slots=True)
class LayerTime:
    """How long a layer took over a profiled run, in ms: in all, on average, in the median (TensorRT >= 8.2, else None).

    ``percentage`` is its share of the time of all layers. ``engine_layer`` is its index in the build's engine layers;
    None where it is not among them, and in a profile file.
    """

    name: str
    total_ms: float
    average_ms: float
    median_ms: float | None
    percentage: float
    span: SourceSpan
    engine_layer: int | None = None


@dataclass(frozen=True, slots=True)
class ProfileRun:
    """One profile, of a log or a file: the iterations that were timed, and the layers in the engine's order.

    ``iterations`` is None where a log has the table without its title. ``total_ms`` is the total that the log prints
    under its table; None in a file, and where the table is cut.
    """

    iterations: int | None
    layers: tuple[LayerTime, ...]
    span: SourceSpan
    total_ms: float | None = None

    def joined(self, names: Sequence[str]) -> ProfileRun:
        """Return the profile with each row joined to the layer of its name; ``names`` are those of an engine's layers.

        Of layers that share a name, the first takes the first row.
        """
        waiting: dict[str, list[int]] = {}
        for place in reversed(range(len(names))):
            waiting.setdefault(names[place], []).append(place)
        rows = []
        for row in self.layers:
            places = waiting.get(row.name)
            rows.append(replace(row, engine_layer=places.pop() if places else None))
        return replace(self, layers=tuple(rows))

    @property
    def fits(self) -> bool:
        """Whether most rows are joined to layers: times of another engine's profile must not be used."""
        return sum(row.engine_layer is not None for row in self.layers) * 2 > len(self.layers)


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
    """A file of ``trtexec --exportTimes``: as many runs as were appended to it, each with at least one inference."""

    source: SourceInfo
    runs: tuple[InferenceSamples, ...]
