"""The ledger of an engine's time: each unit of time is booked once, by a profile where there is one, else as tuned.

Whatever shows a layer's time, its share or a sum takes it from here, so that no two of them disagree.

A unit is what was timed as one: a row of the profile, a layer that was tuned, a ForeignNode that was tuned as a whole
with all its kernels, or a tuned block that joins no layer. Each layer that runs a kernel is in exactly one unit, with a
time or without. Shares are of the total, and only of units whose time has the ledger's basis.

The average of a profile's row is no steady time where a few calls far slower than the others are in it, such as the
first one. Medians are, where the profile has them: then every row counts with its own, so that shares are of one kind.
Where it has none, the run tells how long such calls took: a profile that counts the calls of the warm-up too adds up to
more than the run's GPU time, or the run's slowest call is far from its median. If one row alone can hold that much, it
does not count in the row's time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from trtforensics.model.layer_types import UNTUNED, is_foreign_node
from trtforensics.model.log import Build, CachedResult, Choice, EngineLayer
from trtforensics.model.older_python import StrEnum
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import LayerTime, ProfileRun, TimeSource

_FAR = 2.0
"""How many times its steady time a row's average is where far slower calls are in it."""
_ROUNDED_MS = 0.01
"""How far a printed total may be from the exact one."""
_WHOLE = 90.0
"""The percentages of a whole profile's rows add up to at least this."""
_MOST_WARM_UPS = 0.1
"""The largest part of a profile's iterations that are calls of the warm-up."""


class UnitKind(StrEnum):
    """What was timed as one."""

    LAYER = "layer"
    FOREIGN_NODE = "foreign-node"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class TimedUnit:
    """What was timed as one, with its time in ms and its ``share`` of the ledger's total, 0 to 1.

    ``layers`` are indexes of the engine's layers: none for a row of a profile that is of no layer, several for a
    ForeignNode with its kernels. ``time_ms`` is None where nothing tells the time; ``share`` also where the time has
    another basis than the ledger, and so does not count. ``what`` is a type or a runner, empty where unknown; ``tuned``
    is what the autotuner chose, ``row`` what the profile says.
    """

    kind: UnitKind
    name: str
    layers: tuple[int, ...]
    time_ms: float | None
    time_is: TimeSource | None
    span: SourceSpan
    what: str
    tuned: Choice | CachedResult | None
    row: LayerTime | None = None
    share: float | None = None

    @property
    def average_ms(self) -> float | None:
        """The average of its row where ``time_ms`` leaves far slower calls out of it, else None."""
        far = self.row is not None and self.time_ms is not None and self.row.average_ms >= _FAR * self.time_ms > 0
        return self.row.average_ms if self.row is not None and far else None

    @property
    def state(self) -> str:
        """``measured`` or ``tuned``; without a time ``cached`` where it is from the timing cache, else ``unknown``."""
        if self.time_is is not None:
            return self.time_is.value
        return "cached" if isinstance(self.tuned, CachedResult) else "unknown"


@dataclass(frozen=True)
class TimeLedger:
    """The units of an engine: the rows of its profile and what it lacks, or else the layers in their order.

    ``time_is`` is the basis of the times that count, None where there are none. ``booked_ms`` is the time of the units
    that count, ``total_ms`` that and what a profile's printed total holds beyond its rows; None where nothing counts.
    ``layers`` is the number of the engine's layers, ``unknown_layers`` of those that run a kernel and have no time that
    counts.
    """

    time_is: TimeSource | None
    units: tuple[TimedUnit, ...]
    booked_ms: float | None
    total_ms: float | None
    layers: int
    unknown_layers: int

    def __repr__(self) -> str:
        total = "no times" if self.total_ms is None else f"{self.total_ms:.4g} ms {self.basis}"
        return f"<{len(self.units):,} units of time: {total}>"

    @property
    def basis(self) -> str:
        """``measured``, ``tuned`` or ``none``; ``mixed`` where a profile lacks layers that the autotuner timed."""
        if self.time_is is None:
            return "none"
        return "mixed" if any(unit.time_is not in {None, self.time_is} for unit in self.units) else self.time_is.value

    @cached_property
    def slowest(self) -> tuple[TimedUnit, ...]:
        """The units whose time counts, slowest first."""
        return tuple(
            sorted((unit for unit in self.units if unit.share is not None), key=lambda unit: -(unit.share or 0.0))
        )

    def of_layer(self, index: int) -> TimedUnit | None:
        """Return the unit that a layer of the engine is in; None for a layer without a kernel and without a time."""
        return self._by_layer.get(index)

    @cached_property
    def _by_layer(self) -> Mapping[int, TimedUnit]:
        return {index: unit for unit in self.units for index in unit.layers}

    @property
    def note(self) -> str:
        """How many of the engine's layers have a time that counts, as ``15 of 29 layers timed, 4 run no kernel``."""
        timed = sum(len(unit.layers) for unit in self.slowest)
        silent = self.layers - timed - self.unknown_layers
        return f"{timed} of {self.layers} layers timed" + (f", {silent} run no kernel" if silent else "")


def ledger_of(build: Build, source: TimeSource | None = None) -> TimeLedger:
    """Return the ledger of a build's engine: measured where it has a profile, else tuned, unless ``source`` says."""
    basis = source or (TimeSource.MEASURED if build.profile else TimeSource.TUNED)
    units, cut_ms = (
        (_measured(build), _cut(build.profile_info)) if basis is TimeSource.MEASURED else (_tuned(build), 0.0)
    )
    counted = [unit.time_ms if unit.time_is is basis else None for unit in units]
    known = [ms for ms in counted if ms is not None]
    booked, total = (sum(known), sum(known) + cut_ms) if known else (None, None)
    shared = (
        unit if ms is None else replace(unit, share=ms / (total or 1.0))
        for unit, ms in zip(units, counted, strict=True)
    )
    timed = {index for unit, ms in zip(units, counted, strict=True) if ms is not None for index in unit.layers}
    unknown = sum(place not in timed and layer.type not in UNTUNED for place, layer in enumerate(build.engine_layers))
    return TimeLedger(basis if known else None, tuple(shared), booked, total, len(build.engine_layers), unknown)


def _cut(run: ProfileRun | None) -> float:
    """Return the time of an iteration that a profile's total holds beyond its rows: the printed one, else by shares."""
    if run is None:
        return 0.0
    shown = sum(row.percentage for row in run.layers)
    if run.total_ms is None and 0 < shown < _WHOLE:
        return sum(row.average_ms for row in run.layers) * (100 / shown - 1)
    if run.total_ms is None or not run.iterations:
        return 0.0
    missing = run.total_ms - sum(row.total_ms for row in run.layers)
    return missing / run.iterations if missing > _ROUNDED_MS * (len(run.layers) + 1) else 0.0


def _measured(build: Build) -> list[TimedUnit]:
    """Return a unit for each row of the profile, and for what the profile lacks.

    A row that has the name of a ForeignNode is the time of its kernels, where the profile has no rows of these.
    """
    layers = build.engine_layers
    rest: dict[tuple[int, ...], TimedUnit] = {}
    for unit in _tuned(build):
        places = tuple(place for place in unit.layers if layers[place].profile is None)
        apart = () if places == unit.layers else ((place,) for place in places)
        rest |= {alone: _untimed(layers[alone[0]], alone, unit.tuned) for alone in apart}
        rest |= {places: unit} if places and places == unit.layers else {}
    wholes = {unit.name: unit for unit in rest.values()}
    units = []
    for row, ms in zip(build.profile, _steady_times(build), strict=True):
        whole = wholes.pop(row.name, None) if row.engine_layer is None else None
        if whole is not None:
            del rest[whole.layers]
        places = (whole.layers if whole else ()) if row.engine_layer is None else (row.engine_layer,)
        tuned = build.origin_of(layers[places[0]]) if places else None
        what = whole.what if whole else layers[places[0]].type if places else ""
        units.append(TimedUnit(_kind(row.name), row.name, places, ms, TimeSource.MEASURED, row.span, what, tuned, row))
    return [*units, *rest.values()]


def _tuned(build: Build) -> list[TimedUnit]:
    """Return a unit for each layer that runs a kernel, the kernels of a ForeignNode as one, and for other results."""
    units: list[TimedUnit] = []
    origins = [build.origin_of(layer) for layer in build.engine_layers]
    kernels: dict[int, list[int]] = {}
    for place, (layer, origin) in enumerate(zip(build.engine_layers, origins, strict=True)):
        if origin is not None and is_foreign_node(origin.layer) and not is_foreign_node(layer.name):
            group = kernels.setdefault(id(origin), [])
            group.append(place)
            if len(group) > 1:
                continue
            units.append(_tuned_unit(UnitKind.FOREIGN_NODE, origin))
        elif origin is not None and origin.time_ms is not None:
            units.append(
                replace(_tuned_unit(_kind(layer.name), origin), name=layer.name, layers=(place,), what=layer.type)
            )
        elif layer.time_is is TimeSource.TUNED or layer.type not in UNTUNED:
            unit = _untimed(layer, (place,), origin)
            is_tuned = layer.time_is is TimeSource.TUNED
            units.append(replace(unit, time_ms=layer.time_ms, time_is=layer.time_is) if is_tuned else unit)
    whole = [replace(u, layers=tuple(kernels[id(u.tuned)])) if not u.layers else u for u in units]
    used = set(map(id, origins))
    loose = (
        result for result in build.tuned_results if build.engine_layers and result.final and id(result) not in used
    )
    return [*whole, *(_tuned_unit(UnitKind.BLOCK, result) for result in loose)]


def _untimed(layer: EngineLayer, places: tuple[int, ...], origin: Choice | CachedResult | None) -> TimedUnit:
    return TimedUnit(_kind(layer.name), layer.name, places, None, None, layer.span, layer.type, origin)


def _tuned_unit(kind: UnitKind, result: Choice | CachedResult) -> TimedUnit:
    source = None if result.time_ms is None else TimeSource.TUNED
    return TimedUnit(kind, result.layer, (), result.time_ms, source, result.span, result.runner, result)


def _kind(name: str) -> UnitKind:
    return UnitKind.FOREIGN_NODE if is_foreign_node(name) else UnitKind.LAYER


def _steady_times(build: Build) -> Sequence[float]:
    """Return the time of each row of the profile without calls that are far slower than the others."""
    rows, slow_ms = build.profile, _slow_calls(build)
    is_far = any(row.median_ms and row.average_ms >= _FAR * row.median_ms for row in rows)
    times = [row.median_ms if is_far and row.median_ms else row.average_ms for row in rows]
    able = [place for place, row in enumerate(rows) if row.total_ms * _FAR >= slow_ms]
    if slow_ms and len(able) == 1 and rows[able[0]].median_ms is None:
        row = rows[able[0]]
        steady = row.average_ms * (1 - slow_ms / row.total_ms)
        if row.average_ms >= _FAR * steady > 0:
            times[able[0]] = steady
    return times


def _slow_calls(build: Build) -> float:
    """Return the ms of a profile's calls that the steady run lacks: of the warm-up, or of its slowest call; else 0."""
    profile, gpu, whole_s = build.profile_info, build.figures("gpu_compute_ms"), build.number("gpu_compute_total_s")
    if profile is None or not profile.iterations or "--separateProfileRun" in (build.command or ""):
        return 0.0
    mean = gpu.get("mean", 0.0)
    if not mean or whole_s is None:
        return 0.0
    before = profile.iterations - round(whole_s * 1000 / mean)
    if before == 0:
        return max(gpu.get("max", mean) - gpu.get("median", mean), 0.0)
    if not 0 < before <= max(1.0, _MOST_WARM_UPS * profile.iterations):
        return 0.0
    return max(sum(row.total_ms for row in profile.layers) - profile.iterations * mean, 0.0)
