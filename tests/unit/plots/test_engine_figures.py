"""Figures of engines: what they show is what the engines' facts say; which figures there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.build_views import build as view
from tests.support.build_views import layer
from tests.support.graph_builds import build, choice, engine, small_build, span
from trtforensics.comparison.times import LayerTimes, layer_times
from trtforensics.engines.facts import EngineFacts
from trtforensics.model.data_types import ComputePrecision, PrecisionSource
from trtforensics.model.log import LayerTuning
from trtforensics.model.run import RunResult
from trtforensics.model.span import SourceInfo
from trtforensics.model.timings import InferenceSamples, InferenceTimes, TimeSource
from trtforensics.plots.engine_figures import (
    MOST_ROWS,
    NEEDS,
    blocks,
    figures_of,
    layers,
    margins,
    memory,
    roofline,
    side_by_side,
    tuning,
    types,
    waterfall,
)
from trtforensics.plots.times_figures import figures_of_times
from trtforensics.render import colours

if TYPE_CHECKING:
    from trtforensics.model.log import EngineLayer
    from trtforensics.plots.figure import Figure

HALF, FLOAT = (ComputePrecision(one, PrecisionSource.KERNEL) for one in ("Half", "Float"))


def timed(name: str, ms: float | None, precision: ComputePrecision | None = HALF, **facts: object) -> EngineLayer:
    source = None if ms is None else TimeSource.TUNED
    return engine(
        name, f"{name} in", f"{name} out", 7, time_ms=ms, time_is=source, compute_precision=precision, **facts
    )


def drawn(figure: Figure | None) -> tuple[Figure, list[str]]:
    """Return a figure that must be there, and its texts."""
    assert figure is not None
    return figure, [one.text or "" for one in figure.svg.iter("text")]


def test_layers_are_slowest_first_in_the_colour_of_their_precision() -> None:
    facts = EngineFacts(build(engine_layers=(timed("a", 1.0), timed("b", 3.0, FLOAT), timed("c", None))), "x.log")
    figure, texts = drawn(layers(facts))
    assert [row[:4] for row in figure.rows] == [
        ("b", "Convolution", "Float", 3.0),
        ("a", "Convolution", "Half", 1.0),
    ]
    assert "3 ms, 75.0%" in texts
    bars = [one.attrib["fill"] for one in figure.svg.iter("rect") if one.find("title") is not None]
    assert bars == [colours.of_precision("Float"), colours.of_precision("Half")]
    assert "The slowest: b with 3 ms, 75.0%." in figure.alt


def test_of_many_layers_the_rest_is_in_the_table_only() -> None:
    every = tuple(timed(f"l{n}", n + 1.0) for n in range(MOST_ROWS + 5))
    figure, _ = drawn(layers(EngineFacts(build(engine_layers=every), "x")))
    assert len(figure.rows) == MOST_ROWS + 5
    assert figure.note == "5 smaller ones are in the table only."


def test_types_are_parted_by_precision() -> None:
    every = (timed("a", 1.0), timed("b", 3.0, FLOAT), timed("c", 1.0, type="Reformat"))
    figure, texts = drawn(types(EngineFacts(build(engine_layers=every), "x")))
    assert figure.rows == (
        ("Convolution", "Float", 3.0),
        ("Convolution", "Half", 1.0),
        ("Reformat", "Half", 1.0),
    )
    assert "4 ms, 2 layers" in texts


def test_blocks_are_those_of_the_onnx_nodes() -> None:
    every = (
        timed("a", 1.0, onnx_nodes=("/net/head/conv",)),
        timed("b", 3.0, onnx_nodes=("/net/body/conv",)),
    )
    figure, texts = drawn(blocks(EngineFacts(build(engine_layers=every), "x")))
    assert figure.rows == (("net/body", 1, 3.0), ("net/head", 1, 1.0))
    assert {"body", "head"} <= {*texts}, "the part that all share is left out in the picture"
    assert blocks(EngineFacts(build(engine_layers=every[:1]), "x")) is None


def test_a_tile_has_a_name_that_can_be_read_or_none() -> None:
    every = (
        timed("a", 100.0, onnx_nodes=("/left/a",)),
        timed("b", 90.0, onnx_nodes=("/right/block_of_many_many_many_words_in_it/b",)),
        timed("d", 20.0, onnx_nodes=("/below/d",)),
        timed("c", 0.001, onnx_nodes=("/small/c",)),
    )
    _, texts = drawn(blocks(EngineFacts(build(engine_layers=every), "x")))
    assert texts == ["left", "100 ms", "right/block_of_many_many_many_", "words_in_it", "90 ms", "below", "20 ms"]


def test_blocks_are_as_deep_as_none_takes_more_than_half() -> None:
    every = tuple(timed(name, 1.0, onnx_nodes=(f"/model/model/{name}/conv",)) for name in "abc")
    figure, _ = drawn(blocks(EngineFacts(build(engine_layers=every), "x")))
    assert [row[0] for row in figure.rows] == ["model/model/a", "model/model/b", "model/model/c"]
    alike = tuple(timed(name, 1.0, onnx_nodes=(f"/model/{at}/{name}/conv",)) for at, name in enumerate(["a", "b", "b"]))
    same = (*alike, timed("d", 9.0, onnx_nodes=("/model/0",)))
    figure, _ = drawn(blocks(EngineFacts(build(engine_layers=same), "x")))
    assert [row[0] for row in figure.rows] == ["model", "model/0", "model/1", "model/2"]


def test_weights_that_no_dump_tells_are_no_zero() -> None:
    told = {"Weights": '{"Type": "Half", "Count": 1048576}'}
    hidden, one = timed("a", None), timed("b", None, fields=told)
    figure, texts = drawn(memory(EngineFacts(build(engine_layers=(hidden,)), "x")))
    assert "weights that are not told" in figure.alt
    assert "weights" not in texts
    figure, texts = drawn(memory(EngineFacts(build(engine_layers=(hidden, one)), "x")))
    assert "2 MiB of weights (1 layer does not tell its own)" in figure.alt
    assert "weights" in texts


def test_memory_adds_weights_to_activations() -> None:
    fields = {"Weights": '{"Type": "Half", "Count": 1048576}'}
    figure, texts = drawn(memory(EngineFacts(build(engine_layers=(timed("a", None, fields=fields),)), "x")))
    assert figure.rows == (("a", 2 << 20, 32),)
    assert "2 MiB" in texts
    assert "2 MiB of weights" in figure.alt


def test_what_the_sources_do_not_tell_is_no_figure() -> None:
    facts = EngineFacts(build(engine_layers=(timed("a", None),)), "x")
    assert layers(facts) is types(facts) is blocks(facts) is roofline(facts) is None
    assert margins(facts.build) is tuning(facts.build) is None


def test_margins_begin_with_the_closest_and_mark_near_ties() -> None:
    close, far = choice(layer="close", runner_up_ms=0.2525), choice(layer="far", runner_up_ms=0.5)
    lost = choice(layer="lost", runner_up_ms=0.25, final=False)
    figure, texts = drawn(margins(build(choices=(far, close, lost))))
    assert [row[0] for row in figure.rows] == ["close", "far"]
    assert "runner-up 1.0% slower" in texts
    assert "1 are near ties" in figure.alt


def test_the_build_s_own_time_is_by_stage_and_by_layer() -> None:
    spent = (LayerTuning("a", 2.0, span(5)), LayerTuning("b", 1.0, span(9)))
    figure, _ = drawn(tuning(build(tuning=spent, results=(RunResult("build_s", 4.0, span(20)),))))
    assert figure.rows == (
        ("stage", "whole build", 4.0, 20),
        ("stage", "timing of tactics, all layers", 3.0, 5),
        ("tuning", "a", 2.0, 5),
        ("tuning", "b", 1.0, 9),
    )


def test_every_figure_is_known_by_its_name_and_says_what_it_needs() -> None:
    names = [figure.name for figure in figures_of(EngineFacts(small_build(), "x"))]
    times = layer_times([view(layer("a", measured_ms=1.0))], [view(layer("a", measured_ms=2.0))], None)
    assert times is not None
    names += [waterfall(times, "a", "b").name, side_by_side(times, "a", "b").name]
    samples = InferenceSamples((1.0,), (1.0,), 1.0, span(1))
    names += [figure.name for figure in figures_of_times([InferenceTimes(SourceInfo("x", 0, 0, ""), (samples,))])]
    drawn = {"layers", "types", "memory", "waterfall", "compare", "inferences", "spread"}
    assert drawn <= set(names) <= set(NEEDS)


def times(good: dict[str, float], bad: dict[str, float]) -> LayerTimes:
    first, second = (
        [view(*(layer(name, measured_ms=ms, operation=name[0]) for name, ms in one.items()))] for one in (good, bad)
    )
    found = layer_times(first, second, None)
    assert found is not None
    return found


def test_the_steps_lead_from_the_one_time_to_the_other() -> None:
    good = {f"c{n}": 1.0 for n in range(40)}
    bad = {name: ms + n / 8 for n, (name, ms) in enumerate(good.items())}
    figure = waterfall(times(good, bad), "fast.log", "slow.log")
    texts = [one.text or "" for one in figure.svg.iter("text")]
    steps = [float(text.removesuffix(" ms")) for text in texts if text[:1] in "+-" and text.endswith(" ms")]
    assert sum(steps) == pytest.approx(sum(bad.values()) - sum(good.values()))
    assert sum(row[4] for row in figure.rows if isinstance(row[4], float)) == pytest.approx(sum(steps))
    assert {"15 smaller differences", "fast.log", "slow.log"} <= {*texts}
    assert "The largest step: c39, +4.875 ms." in figure.alt


def test_small_steps_get_a_scale_of_their_own() -> None:
    figure = waterfall(times({"a": 10.0, "b": 10.0}, {"a": 11.0, "b": 10.0}), "x", "y")
    assert figure.note == "The scale begins at 19.75 ms."
    assert waterfall(times({"a": 1.0}, {"a": 9.0}), "x", "y").note == ""


def test_types_stand_side_by_side() -> None:
    figure = side_by_side(times({"a1": 1.0, "b1": 2.0}, {"a1": 4.0, "b1": 2.0}), "fast.log", "slow.log")
    assert figure.rows == (("a", 1.0, 1.0, 1.0, 4.0, 3.0), ("b", 1.0, 1.0, 2.0, 2.0, 0.0))
