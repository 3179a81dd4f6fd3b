"""Where the time goes: what was run otherwise, totals with their spread, and layers aligned across fusions by Δms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import PurePath
from statistics import fmean, median

from trtforensics.comparison.alignment import AlignedBuilds, Layers, MatchedBy, align_builds
from trtforensics.comparison.views import TOTALS, BuildView, Circumstance, LayerView, Measured, RunView
from trtforensics.model.layer_types import NO_KERNEL
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import NEAR_TIE_RATIO, TimeSource

_BLOCKS = ("version", "device", "build", "inference", "system", "model")
_FILES = {"Model", "Plugins", "Loaded static plugins", "dynamicPlugins", "setPluginsToSerialize"}
"""Options that name files; only the name of the file tells whether they differ."""


@dataclass(frozen=True, slots=True)
class OtherCircumstance:
    """Something that the sides were built or run with otherwise; each side's values, without those both sides have."""

    block: str
    name: str
    good: tuple[Circumstance, ...]
    bad: tuple[Circumstance, ...]


@dataclass(frozen=True, slots=True)
class TotalDelta:
    """A total on both sides: over several builds of a side the median, with the width of all."""

    key: str
    good: Measured
    bad: Measured

    @property
    def delta(self) -> float:
        """How much larger it is in bad."""
        return self.bad.value - self.good.value

    @property
    def noise(self) -> float | None:
        """The larger spread of the two sides; None where no side tells one."""
        return max((m.spread for m in (self.good, self.bad) if m.spread is not None), default=None)

    @property
    def within_noise(self) -> bool:
        """Whether the difference is no larger than the spread of single inferences."""
        return self.noise is not None and abs(self.delta) <= self.noise


@dataclass(frozen=True, slots=True)
class TimeComparison:
    """Why it is slower, as far as the sources tell. ``layers`` is None where the sides have no times in common."""

    circumstances: tuple[OtherCircumstance, ...]
    totals: tuple[TotalDelta, ...]
    layers: LayerTimes | None

    def __repr__(self) -> str:
        return f"<{len(self.totals)} totals compared, times of layers {'' if self.layers else 'not '}known>"

    @property
    def tells(self) -> bool:
        """Whether anything was timed on both sides."""
        return bool(self.totals or self.layers)


def compare_times(good: Sequence[BuildView], bad: Sequence[BuildView]) -> TimeComparison:
    """Compare the times of two sides, each with at least one build."""
    runs = tuple([build.run for build in side if build.run is not None] for side in (good, bad))
    totals = tuple(_totals(*runs))
    of_first = [side for total in totals[:1] for side in (total.good, total.bad)]
    spreads = [side.spread / side.value for side in of_first if side.spread is not None and side.value > 0]
    return TimeComparison(tuple(_circumstances(*runs)), totals, layer_times(good, bad, max(spreads, default=None)))


def _totals(good: Sequence[RunView], bad: Sequence[RunView]) -> Iterator[TotalDelta]:
    for key in TOTALS:
        ours, theirs = ([run.totals[key] for run in side if key in run.totals] for side in (good, bad))
        if ours and theirs:
            yield TotalDelta(key, _joined(ours), _joined(theirs))


def _joined(several: Sequence[Measured]) -> Measured:
    """Return the median of several builds; its spread also covers how far the builds lie apart."""
    if len(several) == 1:
        return several[0]
    values = [measured.value for measured in several]
    spreads = [measured.spread for measured in several if measured.spread is not None]
    return Measured(median(values), max(max(values) - min(values), *spreads, 0.0), several[0].span)


def _circumstances(good: Sequence[RunView], bad: Sequence[RunView]) -> Iterator[OtherCircumstance]:
    """Yield what both sides state, and state otherwise, in the order of the blocks."""
    stated: list[dict[tuple[str, str], dict[str, Circumstance]]] = []
    for side in (good, bad):
        by_name: dict[tuple[str, str], dict[str, Circumstance]] = {}
        for run in side:
            for circumstance in run.circumstances:
                by_value = by_name.setdefault((circumstance.block, circumstance.name), {})
                value = circumstance.value
                by_value.setdefault(PurePath(value).name if circumstance.name in _FILES else value, circumstance)
        stated.append(by_name)
    ours, theirs = stated
    common = [key for key in ours if key in theirs and ours[key].keys() != theirs[key].keys()]
    for key in sorted(common, key=lambda key: _BLOCKS.index(key[0]) if key[0] in _BLOCKS else len(_BLOCKS)):
        yield OtherCircumstance(*key, tuple(ours[key].values()), tuple(theirs[key].values()))


ONE_SIDE = "one side only"
"""What stands in the place of :class:`MatchedBy` for layers that only one side has."""

SHAPE = "shape"
"""Likewise for layers of other names that do the same operation on as large tensors, in the same order."""


@dataclass(frozen=True, slots=True)
class TimedHalf:
    """What a row is on one side: the ``layers`` of one build, their types, their ms and the lines that state them.

    ``ms`` is the mean over the side's builds; ``widest`` is how far single builds, or the median and the average of a
    layer's iterations, lie apart.
    """

    layers: tuple[str, ...]
    types: tuple[str, ...]
    ms: float
    widest: float
    spans: tuple[SourceSpan, ...]


@dataclass(frozen=True, slots=True)
class LayerDelta:
    """A layer, or layers that hold the same members, on both sides. A layer that a side lacks counts as 0 ms there.

    ``noise_ms`` is a bound on what may be chance, None where nothing tells it; ``parts`` are the network layers and
    ONNX nodes concerned; ``changes`` say in words what else differs (types, formats, tactic, fusion).
    """

    name: str
    how: str
    good: TimedHalf
    bad: TimedHalf
    noise_ms: float | None
    parts: frozenset[str]
    changes: tuple[str, ...] = ()

    @property
    def delta_ms(self) -> float:
        """How much longer it takes in bad than in good."""
        return self.bad.ms - self.good.ms

    @property
    def within_noise(self) -> bool:
        """Whether the difference is no larger than what may be chance."""
        return self.noise_ms is not None and abs(self.delta_ms) <= self.noise_ms


@dataclass(frozen=True, slots=True)
class TypeDelta:
    """All layers of a type: how many a build of each side has (on average) and how long they take."""

    type: str
    good_layers: float
    bad_layers: float
    good_ms: float
    bad_ms: float

    @property
    def delta_ms(self) -> float:
        """How much longer they take in bad than in good."""
        return self.bad_ms - self.good_ms


@dataclass(frozen=True, slots=True)
class LayerTimes:
    """Layers by Δms, the largest difference first, and types likewise. The rows of either add up to the totals.

    ``untimed`` counts the layers of both sides that have no time of this source. ``left_out`` are the layers that are
    timed on one side, while the other has them without a time; they count in no sum.
    """

    time_is: TimeSource
    rows: tuple[LayerDelta, ...]
    types: tuple[TypeDelta, ...]
    good_ms: float
    bad_ms: float
    untimed: tuple[int, int]
    left_out: tuple[LayerDelta, ...] = ()


def layer_times(good: Sequence[BuildView], bad: Sequence[BuildView], spread: float | None) -> LayerTimes | None:
    """Compare the layers' times; None where the sides have no times of one source.

    ``spread`` is the larger spread of the two runs as a share of its median (None: not known). It is taken to hold for
    each layer as it holds for the whole. Measured times are compared where both sides have some, else tuned ones.
    """
    for source in TimeSource:
        views = [_timed(build, source) for build in (*good, *bad)]
        timed = {number: layers for number, layers in enumerate(views) if layers}
        sides = {number >= len(good) for number in timed}
        if len(sides) > 1:
            return _compared(timed, (good, bad), source, spread)
    return None


def layer_ms(layer: LayerView, source: TimeSource) -> float | None:
    """Return a layer's time of one source."""
    return layer.measured_ms if source is TimeSource.MEASURED else layer.time_ms


def _timed(build: BuildView, source: TimeSource) -> Layers:
    """Return the layers that have a time and run a kernel."""
    timed = [(layer, layer_ms(layer, source)) for layer in (*(build.layers or ()), *build.unlisted)]
    return tuple(layer for layer, ms in timed if ms is not None and (ms or layer.runner not in NO_KERNEL))


def _untimed(build: BuildView, source: TimeSource) -> list[LayerView]:
    """Return the layers that run a kernel and have no time, by themselves or with the ForeignNode that they are in."""
    wholes = {layer.name for layer in build.unlisted if layer_ms(layer, source) is not None}
    running = (layer for layer in build.layers or () if layer.runner not in NO_KERNEL and layer.inside not in wholes)
    return [layer for layer in running if layer_ms(layer, source) is None]


def _compared(
    timed: Mapping[int, Layers],
    sides: tuple[Sequence[BuildView], Sequence[BuildView]],
    source: TimeSource,
    spread: float | None,
) -> LayerTimes:
    goods = len(sides[0])
    untimed = tuple([layer for build in side for layer in _untimed(build, source)] for side in sides)
    untold = [{name for layer in side for name in (layer.name, layer.inside, *layer.parts)} - {""} for side in untimed]
    rows: dict[bool, list[LayerDelta]] = {False: [], True: []}
    left: set[int] = set()
    for group in _by_shape([*_groups(align_builds(timed))], timed):
        row = _row(group, timed, goods, source, spread)
        others = untold[1] if not row.bad.layers else untold[0] if not row.good.layers else set()
        is_left = not others.isdisjoint({*row.good.layers, *row.bad.layers, *row.parts})
        rows[is_left].append(row)
        left |= {id(layer) for layers in group.layers.values() for layer in layers if is_left}
    for each in rows.values():
        each.sort(key=lambda row: -abs(row.delta_ms))
    counted = {n: tuple(layer for layer in layers if id(layer) not in left) for n, layers in timed.items()}
    good_ms, bad_ms = (sum(getattr(row, side).ms for row in rows[False]) for side in ("good", "bad"))
    counts = len(untimed[0]), len(untimed[1])
    return LayerTimes(
        source, tuple(rows[False]), _types(counted, goods, source), good_ms, bad_ms, counts, tuple(rows[True])
    )


@dataclass(frozen=True, slots=True)
class _AlignedGroup:
    """Layers of several builds that are one row."""

    name: str
    how: str
    layers: Mapping[int, Layers]


def _groups(aligned: AlignedBuilds) -> Iterable[_AlignedGroup]:
    """Yield each layer once, first those fused otherwise. Layers matched by position must have one kind and shape."""
    claimed: set[tuple[int, int]] = set()
    for site in aligned.sites:
        unclaimed = {
            build: tuple(layer for layer in layers if (build, id(layer)) not in claimed)
            for build, layers in site.layers.items()
        }
        unclaimed = {build: layers for build, layers in unclaimed.items() if layers}
        claimed |= {(build, id(layer)) for build, layers in unclaimed.items() for layer in layers}
        fewest = min(unclaimed.values(), key=len, default=())
        if fewest:
            yield _AlignedGroup(fewest[0].name, MatchedBy.FUSED_MEMBERS, unclaimed)
    for aligned_layer in aligned.layers:
        left = {build: (layer,) for build, layer in aligned_layer.by_build.items() if (build, id(layer)) not in claimed}
        known = {_signature(layer) for (layer,) in left.values() if layer.operation and layer.shape}
        if aligned_layer.how is MatchedBy.POSITION and len(known) > 1:
            for build, layers in left.items():
                yield _AlignedGroup(layers[0].name, aligned_layer.how, {build: layers})
        elif left:
            yield _AlignedGroup(aligned_layer.name, aligned_layer.how, left)


def _by_shape(groups: list[_AlignedGroup], timed: Mapping[int, Layers]) -> list[_AlignedGroup]:
    """Match what is left of one build a side, which another exporter may number otherwise, by shape, in order."""
    if len(timed) != len(("good", "bad")):
        return groups
    good, bad = sorted(timed)
    lone = (group for group in groups if len(group.layers) == 1)
    single = {(build, id(group.layers[build][0])): group for group in lone for build in group.layers}
    left, right = (
        [layer for layer in timed[build] if (build, id(layer)) in single and layer.operation and layer.shape]
        for build in (good, bad)
    )
    matcher = SequenceMatcher(None, [*map(_signature, left)], [*map(_signature, right)], autojunk=False)
    matched: dict[int, _AlignedGroup] = {}
    gone: set[int] = set()
    for block in matcher.get_matching_blocks():
        for ours, theirs in zip(left[block.a :][: block.size], right[block.b :][: block.size], strict=True):
            first, second = single[good, id(ours)], single[bad, id(theirs)]
            matched[id(first)] = _AlignedGroup(ours.name, SHAPE, {good: (ours,), bad: (theirs,)})
            gone.add(id(second))
    return [matched.get(id(group), group) for group in groups if id(group) not in gone]


def _signature(layer: LayerView) -> tuple[str, tuple[tuple[int | str, ...], ...]]:
    return layer.operation, layer.shape


def _row(
    group: _AlignedGroup, timed: Mapping[int, Layers], goods: int, source: TimeSource, spread: float | None
) -> LayerDelta:
    sides = [n for n in timed if n < goods], [n for n in timed if n >= goods]
    good, bad = (_half({n: group.layers.get(n, ()) for n in side}, source) for side in sides)
    how = group.how if good.layers and bad.layers else ONE_SIDE
    parts = frozenset().union(*(layer.parts for layers in group.layers.values() for layer in layers))
    changes = _changes(*(next((group.layers[n] for n in side if n in group.layers), ()) for side in sides))
    return LayerDelta(group.name, how, good, bad, _noise(good, bad, source, spread), parts, changes)


def _changes(good: Layers, bad: Layers) -> tuple[str, ...]:
    """Say what else differs between the layers of a row."""
    if not good or not bad:
        return ()
    if len(good) > 1 or len(bad) > 1:
        return (f"fused otherwise, {len(good)} -> {len(bad)} layers",)
    ours, theirs = good[0], bad[0]
    changes = []
    types = [layer.types_text for layer in (ours, theirs)]
    if all(types) and types[0] != types[1]:
        changes.append(f"{types[0]} became {types[1]}")
    formats = [layer.tensors.texts for layer in (ours, theirs)]
    if all(formats) and formats[0] != formats[1] and not changes:
        changes.append("other formats")
    tactics = [(layer.tactic, layer.kernel) for layer in (ours, theirs)]
    if all(any(value is not None for value in pair) for pair in tactics) and tactics[0] != tactics[1]:
        changes.append("other tactic")
    return tuple(changes)


def _half(layers: Mapping[int, Layers], source: TimeSource) -> TimedHalf:
    sums = [sum(layer_ms(layer, source) or 0.0 for layer in group) for group in layers.values()]
    first: Layers = next((group for group in layers.values() if group), ())
    skew = max((_skew(group, source) for group in layers.values()), default=0.0)
    return TimedHalf(
        tuple(layer.name for layer in first),
        tuple(dict.fromkeys(_type(layer) for layer in first)),
        fmean(sums),
        max(max(sums) - min(sums), skew),
        tuple(layer.time_span or layer.span for layer in first),
    )


def _skew(layers: Layers, source: TimeSource) -> float:
    """Return how far the average of iterations lies from the median: large where single iterations stand out."""
    if source is not TimeSource.MEASURED:
        return 0.0
    both = [(layer.measured_ms, layer.median_ms) for layer in layers]
    return sum(abs(ms - middle) for ms, middle in both if ms is not None and middle is not None)


def _noise(good: TimedHalf, bad: TimedHalf, source: TimeSource, spread: float | None) -> float | None:
    """Bound what may be chance: the widest of what the builds, the iterations and the whole run show."""
    if source is TimeSource.TUNED:
        spread = NEAR_TIE_RATIO - 1
    widest = max(good.widest, bad.widest)
    of_run = None if spread is None else spread * max(good.ms, bad.ms)
    return max(of_run, widest) if of_run is not None else widest or None


def _types(timed: Mapping[int, Layers], goods: int, source: TimeSource) -> tuple[TypeDelta, ...]:
    """Sum up by type, on average over the builds of a side."""
    by_type: dict[str, list[float]] = defaultdict(lambda: [0.0] * 4)
    builds = [sum(n < goods for n in timed), sum(n >= goods for n in timed)]
    for number, layers in timed.items():
        side = int(number >= goods)
        for layer in layers:
            sums = by_type[_type(layer)]
            sums[side] += 1 / builds[side]
            sums[2 + side] += (layer_ms(layer, source) or 0.0) / builds[side]
    rows = [TypeDelta(name, *sums) for name, sums in by_type.items()]
    return tuple(sorted(rows, key=lambda row: -abs(row.delta_ms)))


def _type(layer: LayerView) -> str:
    return "Reformat" if layer.is_reformat else layer.operation
