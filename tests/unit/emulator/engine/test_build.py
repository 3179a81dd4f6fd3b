"""The fixed builds are consistent, and the stored samples are theirs."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest

from tests.emulator.engine import build
from tests.emulator.log import render, tuning
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from tests.emulator.log.event import Event, Version

TESTDATA = ROOT / "testdata"
NEW: Version = (10, 16, 1)
SAMPLES = {
    "emulated-trtexec-8.6.log": build.trtexec_8_6,
    "emulated-trtexec-10.16-three-passes.log": build.three_passes,
    "emulated-python-10.16-two-profiles.log": build.two_profiles,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_stored_samples_are_what_the_emulator_writes(name: str) -> None:
    assert (TESTDATA / "logs" / name).read_bytes() == SAMPLES[name]().text().encode()


def test_the_script_writes_these_samples() -> None:
    spec = importlib.util.spec_from_file_location("make_emulated", TESTDATA / "make_emulated.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.LOGS == SAMPLES


@pytest.mark.parametrize("name", SAMPLES)
def test_a_combination_chooses_the_fastest_of_its_timings(name: str) -> None:
    timed: dict[int, float] = {}
    chosen = 0
    for event in SAMPLES[name]().events:
        if isinstance(event, tuning.Combination):
            timed = {}
        elif isinstance(event, tuning.TacticTimed):
            timed[event.tactic] = min(event.ms, timed.get(event.tactic, event.ms))
        elif isinstance(event, tuning.Chose):
            assert timed[event.tactic] == min(timed.values())
            chosen += 1
    assert chosen > 20


@pytest.mark.parametrize("name", SAMPLES)
def test_each_engine_layer_was_chosen_or_cached_in_the_pass_of_the_engine(name: str) -> None:
    events = _engines_pass(SAMPLES[name]().events)
    settled, members = _settled(events), _members(events)
    layers = 0
    for event in events:
        if isinstance(event, tuning.EngineLayerNamesOnly):
            found = (event.name, event.runner, event.tactic)
        elif isinstance(event, tuning.EngineLayerDetailed) and event.layer_type not in {"kgen", "gemm"}:
            assert event.tactic is not None
            found = (event.name, event.layer_type, event.tactic)
        elif isinstance(event, tuning.EngineLayerDetailed):
            assert members.issuperset(event.metadata or ())
            continue
        else:
            continue
        assert found in settled
        layers += 1
    assert layers >= 8


def test_only_the_second_pass_gives_the_first_convolution_to_a_foreign_node() -> None:
    log = build.three_passes()
    names = {event.name for event in log.events if isinstance(event, tuning.EngineLayerNamesOnly)}
    assert "{ForeignNode[node_conv2d...node_relu]}" in names
    begun = [event.strategy for event in log.events if isinstance(event, tuning.StrategyBegin)]
    assert begun == [4, 3, 2]
    kept = [event.strategy for event in log.events if isinstance(event, tuning.StrategyChosen)]
    assert kept == [3]
    whole = "".join(render.render(event, NEW) for event in log.events if isinstance(event, tuning.CostsHeader))
    assert whole.count("{ForeignNode[node_conv2d...node_relu]}") == 1


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_big_enough_to_be_interesting_and_small_enough_to_store(name: str) -> None:
    text = SAMPLES[name]().text()
    assert "Scratch requested: " in text
    assert "Fastest Tactic: 0xd15ea5edd15ea5ed Time: inf" in text
    assert text.count("[W]") >= 2
    assert ("got cached result" in text) == (name != "emulated-trtexec-8.6.log")
    assert text.count("\n") >= 400
    assert len(text.encode()) < 300_000


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_has_near_ties(name: str) -> None:
    block: list[float] = []
    ties = 0
    for event in SAMPLES[name]().events:
        if isinstance(event, tuning.TimingRunner):
            block = []
        elif isinstance(event, tuning.TacticTimed):
            block.append(event.ms)
        elif isinstance(event, tuning.ProfilingCompleted) and len(block) > 1:
            fastest, second, *_ = sorted(block)
            ties += second <= fastest * 1.01
    assert ties >= 5


def _engines_pass(events: tuple[Event, ...]) -> list[Event]:
    """Return the events of the pass that became the engine, and all from the engine's dump on."""
    begins = [at for at, event in enumerate(events) if isinstance(event, tuning.StrategyBegin)]
    ends = [*begins[1:], len(events)]
    dump = next(at for at, event in enumerate(events) if isinstance(event, tuning.EngineDump))
    kept = {event.strategy for event in events if isinstance(event, tuning.StrategyChosen)}
    for begin, end in zip(begins, ends, strict=True):
        first = events[begin]
        if isinstance(first, tuning.StrategyBegin) and (first.strategy in kept or not kept):
            return [*events[begin : min(end, dump)], *events[dump:]]
    raise AssertionError("no pass was kept")


def _settled(events: list[Event]) -> set[tuple[str, str, int]]:
    """Return layer, runner and tactic of everything that the pass chose, read from its cache, or reformatted."""
    found: set[tuple[str, str, int]] = set()
    layer = ""
    reformats: dict[str, set[int]] = {}
    for event in events:
        if isinstance(event, tuning.TimingRunner):
            layer = event.layer
        elif isinstance(event, tuning.Chose):
            found.add((layer, event.runner, event.tactic))
        elif isinstance(event, tuning.CachedResult):
            found.add((event.layer, event.runner, event.tactic))
            reformats.setdefault(event.layer, set()).add(event.tactic)
        elif isinstance(event, tuning.ProfilingCompleted):
            reformats.setdefault(event.layer, set()).add(event.tactic)
        elif isinstance(event, tuning.AddingReformat):
            side = "<in> -> {}" if "Output Tensor" in event.name else "{} -> <out>"
            tactics = reformats[f"Optimizer Reformat({side.format(event.tensor)})"]
            copy = event.name.replace("Reformatted ", "Reformatting CopyNode for ")
            found |= {(copy, "Reformat", tactic) for tactic in tactics}
    return found


def _members(events: list[Event]) -> set[str]:
    """Return the metadata of all ONNX layers inside ForeignNodes."""
    return {entry for event in events if isinstance(event, tuning.ForeignNodeMetadata) for entry in event.onnx_layers}
