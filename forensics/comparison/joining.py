"""Joins the files of a side to the engines that they time: profiles by the names of layers, times by those of files."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from trtforensics.sources.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.comparison.views import BuildView, LayerView


def joined(views: Sequence[BuildView]) -> tuple[BuildView, ...]:
    """Return the builds of a side with profiles and times files joined to the engines that they time.

    A profile goes to the engine that has most of its layers, a times file to the engine whose file has its stem, or to
    the only engine. A file that fits no engine stays a separate build.
    """
    ways = {Kind.PROFILE: (_place_of_profile, _with_profile), Kind.TIMES: (_place_of_times, _with_times)}
    every = [view for view in views if view.kind not in ways]
    for kind, (place_of, with_file) in ways.items():
        for file in (view for view in views if view.kind is kind):
            place = place_of(file, every)
            if place is None:
                every.append(file)
            else:
                every[place] = with_file(every[place], file)
    return tuple(every)


def _place_of_profile(profile: BuildView, engines: Sequence[BuildView]) -> int | None:
    """Return the only engine that has most rows of a profile; of several, the one whose file has its stem."""
    names = [layer.name for layer in profile.layers or ()]
    owned = [
        set() if engine.kind in {Kind.REPLAY, Kind.PROFILE} else {layer.name for layer in engine.layers or ()}
        for engine in engines
    ]
    counts = [sum(name in layers for name in names) for layers in owned]
    best = max(counts, default=0)
    if best * 2 <= len(names):
        return None
    fitting = [place for place, count in enumerate(counts) if count == best]
    alike = [place for place in fitting if _stem(engines[place].source) == _stem(profile.source)]
    chosen = fitting if len(fitting) == 1 else alike
    return chosen[0] if len(chosen) == 1 else None


def _with_profile(engine: BuildView, profile: BuildView) -> BuildView:
    """Give each layer the profile's row of its name; of layers that share a name, the first takes the first row."""
    waiting: dict[str, list[LayerView]] = defaultdict(list)
    for row in reversed(profile.layers or ()):
        waiting[row.name].append(row)
    layers = []
    for layer in engine.layers or ():
        rows = waiting.get(layer.name)
        row = rows.pop() if rows else layer
        timed = replace(layer, measured_ms=row.measured_ms, median_ms=row.median_ms, time_span=row.time_span)
        layers.append(timed)
    unjoined = sum(map(len, waiting.values()))
    note = f"its layers' times are those of {profile.source}"
    note += f"; {unjoined} of its rows name no layer of this engine" if unjoined else ""
    return replace(engine, layers=tuple(layers), notes=(*engine.notes, note))


def _place_of_times(times: BuildView, engines: Sequence[BuildView]) -> int | None:
    alike = [place for place, engine in enumerate(engines) if _stem(engine.source) == _stem(times.source)]
    if len(alike) == 1:
        return alike[0]
    return 0 if len(engines) == 1 else None


def _with_times(engine: BuildView, times: BuildView) -> BuildView:
    """Give an engine the totals of a times file; what only its log tells stays."""
    if engine.run is None or times.run is None:
        run = times.run or engine.run
    else:
        run = replace(engine.run, totals={**engine.run.totals, **times.run.totals})
    return replace(engine, run=run, notes=(*engine.notes, f"its latency is that of {times.source}"))


def _stem(path: str) -> str:
    """Return what the files of one engine have in common: ``a/model`` of ``a/model.profile.json``."""
    pure = PurePath(path)
    name = pure.name
    for suffix in (".gz", ".zst", ".json", ".log", ".txt"):
        name = name.removesuffix(suffix)
    return str(pure.with_name(name.rpartition(".")[0] or name))
