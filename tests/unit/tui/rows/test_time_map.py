"""The map of an engine's time: it adds up to the ledger, the largest first, and every layer is below it."""

from __future__ import annotations

from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING

import pytest

from tests.support.graph_builds import build, choice, engine, span
from tests.support.screens import text_of
from trtforensics.engines.facts import EngineFacts
from trtforensics.errors import ForensicsError
from trtforensics.model.log import CachedResult
from trtforensics.model.timings import LayerTime, ProfileRun
from trtforensics.sources.build_log import load_build_log
from trtforensics.tui.rows.time_map import SHOWN, MapRow, TimeMap, address

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from trtforensics.model.log import Build

NODE = "{ForeignNode[a...z]}"


def profiled(rows: tuple[LayerTime, ...], judged: Build, total_ms: float | None = None) -> Build:
    """Return a build with a profile; its layers know their rows."""
    places = {row.engine_layer: number for number, row in enumerate(rows)}
    for number, layer in enumerate(judged.engine_layers):
        layer.profile = places.get(number)
    return replace(judged, profiles=(ProfileRun(10, rows, span(6), total_ms),))


def reached(time_map: TimeMap, rows: Sequence[object]) -> set[int]:
    """Return the engine's layers that are reached by opening rows and what stands in them."""
    places: set[int] = set()
    for row in rows:
        if not isinstance(row, MapRow):
            continue
        if row.entry is not None and row.entry.in_engine:
            places.add(row.entry.index)
        assert not row.is_open or time_map.inside(row), row
        if row.foreign or row.units:
            places |= reached(time_map, time_map.inside(row))
    return places


def walked(judged: Build) -> None:
    """Check what holds for every map."""
    time_map = TimeMap(EngineFacts(judged))
    rows, ledger = time_map.root(), time_map.facts.ledger
    assert len(rows) <= SHOWN + 1
    assert fsum(row.ms or 0.0 for row in rows if row.parts) == pytest.approx(ledger.total_ms or 0.0)
    assert fsum(row.share for row in rows) == pytest.approx(1.0 if ledger.total_ms else 0.0)
    bars = [row.share for row in rows if not row.units]
    assert bars == sorted(bars, reverse=True)
    assert set(range(len(judged.engine_layers))) <= reached(time_map, rows)
    for row in rows:
        for width in (40, 80, 120):
            assert len(text_of(row.lines(4, width)[0])) <= max(width, 70)


def test_the_map_of_each_sample_is_whole(samples: list[Path]) -> None:
    for path in samples:
        for each in load_build_log([str(path)]).builds:
            walked(each)


@pytest.mark.slow
@pytest.mark.corpus
def test_the_map_of_each_real_log_is_whole(corpus: Path) -> None:
    timed = 0
    for path in sorted((corpus / "buildlog").iterdir()):
        try:
            log = load_build_log([str(path)])
        except ForensicsError:
            continue
        for each in log.builds:
            walked(each)
            timed += bool(each.engine_layers)
    assert timed > 20


def test_what_a_profile_holds_beyond_its_rows_and_what_has_no_time_are_in_the_rest() -> None:
    times = (LayerTime("b", 3.0, 0.3, None, 75.0, span(7), 1),)
    layers = (
        engine("a", "x", "t", 1, cached=0),
        engine("b", "t", "u", 2),
        engine("c", "u", "y", 3, type="NoOp"),
        engine("d", "u", "z", 4),
    )
    cached = (CachedResult("a", "Cask", 7, None, (), (), span(4), 0, final=True),)
    cut = profiled(times, build(engine_layers=layers, cached=cached), total_ms=4.0)
    walked(cut)
    time_map = TimeMap(EngineFacts(cut))
    *rows, rest = time_map.root()
    assert [(row.label, row.state) for row in rows] == [("b", "measured"), ("a", "cached"), ("d", "unknown")]
    assert rest.label == "the rest, 1 row: no row of the profile 25.0%, 1 no kernel"


def test_a_kernel_stands_below_its_foreign_node_wherever_its_time_is() -> None:
    kernels = tuple(engine(f"__myl_k_myl0_{n}", "x", "y", n, type="kgen", choice=0) for n in range(12))
    tuned = build(choices=(choice(layer=NODE, time_ms=0.5),), engine_layers=kernels)
    walked(tuned)
    time_map = TimeMap(EngineFacts(tuned))
    (whole,) = time_map.root()
    assert (whole.label, whole.foreign, whole.ms, whole.share) == (NODE, NODE, 0.5, 1.0)
    listed = [row for row in time_map.inside(whole) if isinstance(row, MapRow)]
    assert [row.state for row in listed] == ["in whole"] * SHOWN + [""]
    rows = tuple(LayerTime(layer.name, 1.0, 0.1 + n, None, 1.0, span(9), n) for n, layer in enumerate(kernels))
    measured = profiled(rows, tuned)
    walked(measured)
    time_map = TimeMap(EngineFacts(measured))
    slowest = time_map.root()[0]
    path = time_map.path_to((), slowest)
    assert [row.label for row in path] == [NODE, "__myl_k_myl0_11"]
    assert path[0].ms == pytest.approx(sum(row.average_ms for row in rows))
    assert text_of(address(path, 80)) == f" engine › {NODE} › __myl_k_myl0_11"  # noqa: RUF001 - an arrowhead
    assert time_map.path_to(path[:1], slowest) == path
    assert [row.label for row in TimeMap(EngineFacts(measured)).renewed(path)] == [NODE, "__myl_k_myl0_11"]
    assert TimeMap(EngineFacts(tuned)).renewed((slowest, *path))[0].label == "__myl_k_myl0_11"
