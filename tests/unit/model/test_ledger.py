"""Measured times come before tuned ones, what has no time is counted, and far slower calls are no steady time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.for_each import for_each
from tests.support.graph_builds import build, choice, engine, span
from trtforensics.model.ledger import UnitKind, ledger_of
from trtforensics.model.log import CachedResult
from trtforensics.model.run import RunResult
from trtforensics.model.timings import LayerTime, ProfileRun, TimeSource

if TYPE_CHECKING:
    from trtforensics.model.log import Build

NODE = "{ForeignNode[a...z]}"
LAYERS = (
    engine("a", "x", "t", 1, choice=0),
    engine("b", "t", "u", 2),
    engine("c", "u", "y", 3, type="NoOp"),
)


def test_tuned_times_are_those_of_layers_and_of_final_results_without_layers() -> None:
    choices = (choice(layer="a", time_ms=0.25), choice(layer="b", time_ms=0.75), choice(time_ms=9.0, final=False))
    ledger = ledger_of(build(choices=choices, engine_layers=LAYERS))
    assert [(unit.name, unit.time_ms, unit.share, unit.kind) for unit in ledger.slowest] == [
        ("b", 0.75, 0.75, UnitKind.BLOCK),
        ("a", 0.25, 0.25, UnitKind.LAYER),
    ]
    assert (ledger.basis, ledger.unknown_layers) == ("tuned", 1)
    assert ledger.note == "1 of 3 layers timed, 1 run no kernel"


def test_measured_times_take_the_place_of_tuned_ones() -> None:
    rows = (LayerTime("b", 3.0, 0.3, None, 75.0, span(7), 1), LayerTime("z", 1.0, 0.1, None, 25.0, span(8)))
    ledger = ledger_of(profiled(rows, layers=LAYERS[1:]))
    assert [unit.share for unit in ledger.slowest] == pytest.approx([0.75, 0.25])
    assert [(unit.name, unit.what, unit.time_is) for unit in ledger.slowest] == [
        ("b", "CaskConvolution", TimeSource.MEASURED),
        ("z", "", TimeSource.MEASURED),
    ]


def test_a_layer_that_only_the_autotuner_timed_has_no_share_of_measured_time() -> None:
    rows = (LayerTime("b", 3.0, 0.3, None, 100.0, span(7), 1),)
    ledger = ledger_of(profiled(rows, layers=LAYERS, choices=(choice(layer="a", time_ms=0.25),)))
    assert [(unit.name, unit.time_ms, unit.share, unit.state) for unit in ledger.units] == [
        ("b", 0.3, 1.0, "measured"),
        ("a", 0.25, None, "tuned"),
    ]
    assert (ledger.basis, ledger.total_ms, ledger.unknown_layers) == ("mixed", 0.3, 1)


def test_the_kernels_of_a_foreign_node_are_one_unit_that_a_row_of_its_name_measures() -> None:
    kernels = tuple(engine(f"__myl_k_myl0_{n}", "x", "y", n, type="kgen", choice=0) for n in range(2))
    tuned = build(choices=(choice(layer=NODE, time_ms=0.5),), engine_layers=kernels)
    (unit,) = ledger_of(tuned).units
    assert (unit.kind, unit.name, unit.layers, unit.time_ms) == (UnitKind.FOREIGN_NODE, NODE, (0, 1), 0.5)
    row = LayerTime(NODE, 4.0, 0.4, None, 100.0, span(9))
    (unit,) = ledger_of(profiled((row,), layers=kernels, choices=tuned.choices)).units
    assert (unit.layers, unit.time_ms, unit.state) == ((0, 1), 0.4, "measured")


def test_what_the_cache_gave_without_a_time_is_cached() -> None:
    result = CachedResult("a", "Cask", 7, None, (), (), span(4), 0, final=True)
    ledger = ledger_of(build(cached=(result,), engine_layers=(engine("a", "x", "y", 1, cached=0),)))
    assert [(unit.state, unit.time_ms) for unit in ledger.units] == [("cached", None)]
    assert (ledger.basis, ledger.total_ms, ledger.unknown_layers) == ("none", None, 1)


def test_a_profile_that_is_cut_has_a_total_beyond_its_rows() -> None:
    ledger = ledger_of(profiled((LayerTime("b", 3.0, 0.3, None, 75.0, span(7)),), total_ms=4.0))
    assert ledger.booked_ms == 0.3
    assert ledger.total_ms == pytest.approx(0.4)
    assert ledger.units[0].share == pytest.approx(0.75)


def test_an_average_far_above_the_median_is_no_steady_time() -> None:
    ledger = ledger_of(profiled((LayerTime("b", 9.0, 0.9, 0.3, 75.0, span(7)), row("c", 1.0))))
    assert [(unit.time_ms, unit.average_ms) for unit in ledger.units] == [(0.3, 0.9), (0.1, None)]


def test_beside_an_average_far_above_its_median_every_row_counts_with_its_median() -> None:
    rows = LayerTime("b", 9.0, 0.9, 0.3, 75.0, span(7)), LayerTime("c", 1.0, 0.1, 0.09, 8.0, span(8))
    assert [unit.time_ms for unit in ledger_of(profiled(rows)).units] == [0.3, 0.09]


ROWS = ("conv", 80.0), ("rest", 19.0), ("small", 1.0)
"""Ten calls, of which the first took 79 ms longer: the run's calls take 2.1 ms."""


def test_a_first_call_that_the_run_lacks_is_not_the_time_of_the_row_that_holds_it() -> None:
    ledger = ledger_of(profiled(tuple(row(*each) for each in ROWS), results=run(mean=2.1, calls=9)))
    assert [unit.time_ms for unit in ledger.units] == [pytest.approx(0.1), 1.9, 0.1]
    assert [unit.average_ms for unit in ledger.units] == [8.0, None, None]
    assert ledger.total_ms == pytest.approx(2.1)


def test_the_slowest_call_of_the_run_tells_a_first_call_too() -> None:
    ledger = ledger_of(profiled(tuple(row(*each) for each in ROWS), results=run(mean=10.0, calls=10, slowest=81.1)))
    assert ledger.units[0].time_ms == pytest.approx(0.1)


@for_each(
    ("rows", "facts"),
    [
        pytest.param(ROWS, {"mean": 2.1, "calls": 5}, id="a run of its own"),
        pytest.param(ROWS, {"mean": 9.9, "calls": 9}, id="no slow call"),
        pytest.param((("conv", 80.0), ("other", 75.0), ROWS[1]), {"mean": 9.5, "calls": 9}, id="two rows can hold it"),
        pytest.param((("conv", 60.0), *ROWS[1:]), {"mean": 0.1, "calls": 9}, id="more than one row can hold"),
    ],
)
def test_where_no_single_row_must_hold_a_slow_call_the_average_stays(
    rows: tuple[tuple[str, float], ...], facts: dict[str, float]
) -> None:
    made = profiled(tuple(row(*each) for each in rows), results=run(**facts))
    assert [unit.time_ms for unit in ledger_of(made).units] == [total / 10 for _, total in rows]


def test_a_separate_profile_run_has_no_calls_of_the_timed_run() -> None:
    made = profiled(
        tuple(row(*each) for each in ROWS), results=run(mean=2.1, calls=9), command="x --separateProfileRun"
    )
    assert all(unit.average_ms is None for unit in ledger_of(made).units)


def test_without_times_there_is_no_slowest_layer() -> None:
    assert ledger_of(build()).slowest == ()


def row(name: str, total_ms: float) -> LayerTime:
    """Return a row of ten calls."""
    return LayerTime(name, total_ms, total_ms / 10, None, 0.0, span(7))


def run(*, mean: float, calls: float, slowest: float | None = None) -> tuple[RunResult, ...]:
    """Return what a run says of its GPU time."""
    median = 2.1 if slowest else mean
    times = {"mean": mean, "median": median, "max": slowest or mean}
    return RunResult("gpu_compute_ms", times, span(20)), RunResult("gpu_compute_total_s", mean * calls / 1000, span(21))


def profiled(
    rows: tuple[LayerTime, ...], *, layers: tuple[Any, ...] = (), total_ms: float | None = None, **facts: Any
) -> Build:
    """Return a build with a profile of ten calls, its rows joined to layers by name."""
    joined = ProfileRun(10, rows, span(6), total_ms).joined([layer.name for layer in layers])
    for place, entry in enumerate(joined.layers):
        if entry.engine_layer is not None:
            layers[entry.engine_layer].profile = place
    return build(engine_layers=layers, profiles=(joined,), **facts)
