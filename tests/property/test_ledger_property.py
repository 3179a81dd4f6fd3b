"""The ledger is conserved: each layer with a kernel is in one unit, each time booked once, shares are of one basis."""

from __future__ import annotations

import json
from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.graph_builds import build, choice, engine, span
from tests.support.property_settings import examples
from trtforensics.comparison.times import layer_times
from trtforensics.comparison.views import of_log
from trtforensics.engines.facts import EngineFacts
from trtforensics.errors import ForensicsError
from trtforensics.findings.case import Case
from trtforensics.findings.registry import rules
from trtforensics.model.layer_types import UNTUNED, is_foreign_node
from trtforensics.model.ledger import ledger_of
from trtforensics.model.run import RunResult
from trtforensics.model.timings import LayerTime, ProfileRun, TimeSource
from trtforensics.plots.engine_figures import layers as layers_figure
from trtforensics.render.log_json import to_json
from trtforensics.render.stated_rows import figure as spelled
from trtforensics.render.time_rows import time_rows
from trtforensics.sources.build_log import load_build_log
from trtforensics.tables.layers import layer_table
from trtforensics.tui.rows.layers.index import LayerIndex

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.model.log import Build, BuildLog

NODE = "{ForeignNode[a...z]}"
TIMES = st.floats(0.001, 50) | st.just(0.0)


def conserved(build: Build, source: TimeSource | None = None) -> None:
    """Check what holds for every ledger."""
    ledger = ledger_of(build, source)
    places = [index for unit in ledger.units for index in unit.layers]
    assert len(places) == len(set(places))
    running = {index for index, layer in enumerate(build.engine_layers) if layer.type not in UNTUNED}
    assert running <= set(places)
    counted = [unit for unit in ledger.units if unit.share is not None]
    assert {unit.time_is for unit in counted} == ({ledger.time_is} if counted else set())
    assert ledger.unknown_layers == len(running - {index for unit in counted for index in unit.layers})
    if not counted:
        assert (ledger.basis, ledger.booked_ms, ledger.total_ms) == ("none", None, None)
        return
    booked, total = ledger.booked_ms or 0.0, ledger.total_ms or 0.0
    assert fsum(unit.time_ms or 0.0 for unit in counted) == pytest.approx(booked)
    assert booked <= total
    assert fsum(unit.share or 0.0 for unit in counted) == pytest.approx(booked / total if total else 0.0)
    assert all(unit.time_ms is None or unit.time_ms >= 0 for unit in ledger.units)
    measured = sum(unit.time_is is TimeSource.MEASURED for unit in ledger.units)
    assert measured == (len(build.profile) if ledger.time_is is TimeSource.MEASURED else 0)
    listed = EngineFacts(build).listed
    assert source is not None or fsum(layer.time_ms or 0.0 for layer in listed) == pytest.approx(booked)
    assert source is not None or fsum(layer.share or 0.0 for layer in listed) == pytest.approx(booked / (total or 1.0))


def ledgers_of(log: BuildLog) -> int:
    """Check the ledgers of all builds of a log; return how many book a time."""
    for each in log.builds:
        conserved(each)
        conserved(each, TimeSource.TUNED)
    return sum(ledger_of(each).total_ms is not None for each in log.builds)


def real_logs(corpus: Path) -> list[Path]:
    """Return the logs of the corpus and of the rounds that are open, in order."""
    rounds = (path for each in "012" for path in (corpus.parent / "rounds" / each / "logs").glob("*"))
    return sorted([*(corpus / "buildlog").iterdir(), *rounds])


def test_the_ledger_of_every_log_of_this_project_is_conserved(samples: list[Path]) -> None:
    assert sum(ledgers_of(load_build_log([str(path)])) for path in samples) > len(samples) / 2


@st.composite
def engines(draw: Any) -> Build:
    """Draw an engine: tuned layers, kernels of a ForeignNode tuned as a whole, and a profile that may lack some."""
    kinds = draw(st.lists(st.sampled_from(("tuned", "untuned", "kernel", "NoOp")), min_size=1, max_size=8))
    whole = draw(st.none() | TIMES)
    choices = [choice(layer=NODE, time_ms=whole)]
    layers = []
    for index, kind in enumerate(kinds):
        facts: dict[str, Any] = {"type": kind if kind == "NoOp" else "CaskConvolution"}
        if kind == "tuned":
            facts |= {"choice": len(choices)}
            choices.append(choice(layer=f"l{index}", time_ms=draw(TIMES)))
        facts |= {"choice": 0, "type": "kgen"} if kind == "kernel" else {}
        name = f"__myl_k_myl0_{index}" if kind == "kernel" else f"l{index}"
        layers.append(engine(name, "x", "y", 100 + index, **facts))
    made = build(choices=tuple(choices), engine_layers=tuple(layers))
    if not draw(st.booleans()):
        return made
    names = [*(layer.name for layer in layers), NODE, "stranger"]
    count = draw(st.integers(1, 40))
    rows = []
    for name in draw(st.lists(st.sampled_from(names), unique=True, min_size=1)):
        average = draw(TIMES)
        median = draw(st.none() | st.floats(0, average))
        rows.append(LayerTime(name, average * count, average, median, 0.0, span(200)))
    whole_ms = draw(st.none() | st.just(sum(row.total_ms for row in rows) * draw(st.sampled_from((1.0, 1.5)))))
    run = ProfileRun(count, tuple(rows), span(199), whole_ms).joined([layer.name for layer in layers])
    for row, place in enumerate(entry.engine_layer for entry in run.layers):
        if place is not None:
            layers[place].profile = row
    mean = draw(st.floats(0.01, 100))
    queries = draw(st.integers(1, 40))
    results = (
        RunResult("gpu_compute_ms", {"mean": mean, "median": mean, "max": mean * draw(st.floats(1, 50))}, span(300)),
        RunResult("gpu_compute_total_s", mean * queries / 1000, span(301)),
    )
    return replace(made, profiles=(run,), results=results)


@given(engines())
@examples(200)
def test_the_ledger_of_any_engine_is_conserved(made: Build) -> None:
    conserved(made)
    conserved(made, TimeSource.TUNED)


@given(engines())
@examples(100)
def test_a_kernel_of_a_foreign_node_has_a_time_only_by_a_profile(made: Build) -> None:
    facts = EngineFacts(made)
    for layer in facts.listed:
        if layer.inside and not is_foreign_node(layer.name):
            assert layer.time_ms is None or (layer.unit is not None and layer.unit.row is not None)


def same_sum_everywhere(build: Build, log: BuildLog) -> None:
    """Check that table, TUI, figure, diff, API's facts and JSON add up to the same time."""
    engine = EngineFacts(build, log.source.path)
    booked = engine.ledger.booked_ms or 0.0
    printed = layer_table([engine])
    column = [each.name for each in printed.header].index("time_ms")
    table = [float(str(row[column] or 0.0)) for row in printed.values()]
    tree = [row.entry.time_ms or 0.0 for row in LayerIndex(build).rows() if row.entry and row.entry.in_engine]
    figure = layers_figure(engine)
    drawn = [float(row[3] or 0.0) for row in figure.rows] if figure else []
    (document,) = [made for made in json.loads(to_json(log))["builds"] if made["index"] == build.index]
    counted = [unit["ms"] for unit in document["ledger"]["units"] if unit["share"] is not None]
    sums = [fsum(table), fsum(tree), fsum(drawn), engine.whole.time_ms or 0.0, fsum(counted)]
    told = [row.text for row in time_rows(log, build) if row.label == "time"]
    whole = engine.ledger.total_ms
    assert whole is None or told[0].startswith(f"{spelled(whole)} ms "), told
    view = of_log(replace(log, builds=(build,)))
    compared = layer_times([view], [view], None) if view is not None else None
    if compared is not None and booked:
        sums += [compared.good_ms, compared.bad_ms]
    assert sums == pytest.approx([booked] * len(sums)), (log.source.path, build.index)


def no_finding_claims_more(log: BuildLog) -> None:
    """Check that what findings say of time is of units that lie in their layers, and what is not shared adds up."""
    for each in log.builds:
        case = Case(each, log)
        claimed: dict[str, float] = {}
        for rule in rules():
            for observation in rule.check(case) if not rule.needs and rule.concerns(case.kinds) else ():
                cost = observation.cost
                if cost is None:
                    continue
                names = {*observation.layers}
                places = {index for index, layer in enumerate(each.engine_layers) if layer.name in names}
                assert all(places.issuperset(unit.layers) or unit.name in names for unit in cost.units)
                assert cost.share is None or cost.share <= 1 + 1e-9
                claimed |= {f"{unit.name} {unit.span.line}": unit.time_ms or 0.0 for unit in cost.units}
        assert fsum(claimed.values()) <= (case.facts.ledger.booked_ms or 0.0) + 1e-9


def test_every_view_of_the_logs_of_this_project_adds_up_to_the_ledger(samples: list[Path]) -> None:
    for path in samples:
        log = load_build_log([str(path)])
        no_finding_claims_more(log)
        for each in log.builds:
            same_sum_everywhere(each, log)


@pytest.mark.corpus
@pytest.mark.slow
def test_the_ledger_of_every_real_log_is_conserved_and_every_view_adds_up_to_it(corpus: Path) -> None:
    booked = 0
    for path in real_logs(corpus):
        try:
            log = load_build_log([str(path)])
        except ForensicsError:
            continue
        booked += ledgers_of(log)
        no_finding_claims_more(log)
        for each in log.builds:
            if each.engine_layers or each.profile:
                same_sum_everywhere(each, log)
    assert booked > 40
