"""Tactic ids, every tactic that was timed, and how long layers and inferences took in a run.

Ids are unsigned 64-bit integers, outside ``0x%016x``; durations are milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, overload

from trtforensics.model.older_python import StrEnum
from trtforensics.model.span import SourceInfo, SourceSpan

if TYPE_CHECKING:
    from trtforensics.model.arrays import Floats, Numbers, Positions, Words


NO_TACTIC = 0xD15EA5EDD15EA5ED
"""What TensorRT prints for "no tactic worked"; up to 8.2 as the signed decimal -3360065831133338131."""

NEAR_TIE_RATIO = 1.02
"""A runner-up at most this much slower than the chosen tactic is a near tie: build noise may flip it."""


def is_near_tie(time_ms: float | None, runner_up_ms: float | None, ratio: float = NEAR_TIE_RATIO) -> bool:
    """Whether a runner-up is at most ``ratio`` times as slow as the chosen tactic: build noise may flip it."""
    return time_ms is not None and runner_up_ms is not None and runner_up_ms <= time_ms * ratio


def tactic_text(tactic: int | None) -> str | None:
    """Return a tactic id as this tool prints it (``0x%016x``); None for "no tactic" and for a missing id."""
    return None if tactic is None or tactic == NO_TACTIC else f"0x{tactic:016x}"


@dataclass(slots=True, unsafe_hash=True)
class Candidate:
    """One timed tactic of a block. ``kernel`` is empty where the log names none."""

    tactic: int | None
    time_ms: float | None
    runner: str
    kernel: str
    line: int
    splits: int | None = None
    """Into how many parts the line says that the reduction is split (8.5, 8.6); None where it does not say."""


@dataclass(frozen=True, slots=True)
class TacticTimings:
    """Every timed tactic and every runner block of one build, in numpy columns sorted by line.

    ``line``, ``tactic``, ``ms`` (NaN: the log printed no finite time) and ``kernel`` have one entry a timed tactic;
    ``runner_line``, ``runner_layer`` and ``runner_name`` one a ``Timing Runner`` line. Kernels, layers and runners are
    indexes into ``texts``; -1 is "not printed". ``splits`` has one entry a timed tactic, negative where its line does
    not say into how many parts K is split; None where no line does.
    """

    line: Positions
    tactic: Words
    ms: Floats
    kernel: Numbers
    runner_line: Positions
    runner_layer: Numbers
    runner_name: Numbers
    texts: Sequence[str]
    splits: Positions | None = None

    def __repr__(self) -> str:
        return f"<{len(self.ms):,} timed tactics in {len(self.runner_line):,} runner blocks>"

    def rows(self, first_line: int, last_line: int) -> range:
        """Return which rows were timed on these lines, both ends included."""
        return range(*self.line.searchsorted((first_line, last_line + 1)).tolist())

    def fastest_first(self, rows: range) -> Positions:
        """Return rows by their times, untimed ones last."""
        return self.ms[rows.start : rows.stop].argsort(kind="stable") + rows.start

    def candidate(self, row: int) -> Candidate:
        """Return one timed tactic."""
        line = int(self.line[row])
        tactic, ms, kernel = int(self.tactic[row]), float(self.ms[row]), int(self.kernel[row])
        runner = int(self.runner_line.searchsorted(line)) - 1
        name = int(self.runner_name[runner]) if runner >= 0 else -1
        splits = -1 if self.splits is None else int(self.splits[row])
        return Candidate(
            tactic=None if tactic == NO_TACTIC else tactic,
            time_ms=None if ms != ms else ms,  # noqa: PLR0124 - NaN is the only value unequal to itself
            runner=self.texts[name] if name >= 0 else "",
            kernel=self.texts[kernel] if kernel >= 0 else "",
            line=line,
            splits=splits if splits >= 0 else None,
        )


def no_timings() -> TacticTimings:
    """Return the timings of a build that timed nothing."""
    import numpy as np  # noqa: PLC0415 - a build child has none

    no_lines, no_texts = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return TacticTimings(
        no_lines, np.zeros(0, np.uint64), np.zeros(0, np.float64), no_texts, no_lines, no_texts, no_texts, ()
    )


if TYPE_CHECKING:
    _Candidates = Sequence[Candidate]
else:
    _Candidates = Sequence  # a build child of Python 3.8 imports this module too


class TimedTactics(_Candidates):
    """The tactics timed on some rows, fastest first. Rows are sorted, and candidates created, on first access."""

    def __init__(self, timings: TacticTimings, rows: range) -> None:
        self.timings = timings
        self.unsorted = rows

    def __len__(self) -> int:
        return len(self.unsorted)

    @cached_property
    def _rows(self) -> Positions:
        return self.timings.fastest_first(self.unsorted)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> list[Candidate]: ...
    def __getitem__(self, index: int | slice) -> Candidate | list[Candidate]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self.timings.candidate(int(self._rows[index]))

    def with_tactic(self, tactic: int) -> list[int]:
        """Return where a tactic stands; it may have been timed more than once."""
        positions: list[int] = (self.timings.tactic[self._rows] == tactic).nonzero()[0].tolist()
        return positions

    def widest_kernel(self) -> int:
        """Return how long the longest kernel name is."""
        return self._widest(self.timings.kernel[self._rows])

    def widest_runner(self) -> int:
        """Return how long the longest runner name is."""
        blocks = self.timings.runner_line.searchsorted(self.timings.line[self._rows]) - 1
        return self._widest(self.timings.runner_name[blocks[blocks >= 0]])

    def _widest(self, texts: Numbers) -> int:
        indexes = set(texts[texts >= 0].tolist())
        return max((len(self.timings.texts[index]) for index in indexes), default=0)


@dataclass(frozen=True, slots=True)
class OpenBlock:
    """A block that no ``Chose`` line ends: the log stops in it, or nothing worked, as where a kernel crashes.

    ``first_line`` and ``last_line``: where it begins, and the last line before the next block or build begins.
    ``tactic`` and ``kernel`` are those of the first ``Set Tactic Name`` line (7.x to 8.5) behind the last tactic with a
    time: it was announced, and its time never came. ``inputs`` and ``outputs`` are formats as printed, empty where no
    line names them.
    """

    layer: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tactic: int | None
    kernel: str
    first_line: int
    last_line: int
    span: SourceSpan
    """The block's first runner."""


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
