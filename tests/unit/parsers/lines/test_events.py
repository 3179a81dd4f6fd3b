"""Every event that the emulator can render is read back as it was."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.emulator.log import opening as o
from tests.emulator.log import render
from tests.emulator.log import tuning as t
from tests.emulator.log.event import DetailedTensor, LayerTensor, OnnxTensor
from tests.support.grammar_rules import rules_of
from tests.support.judging import fields_of
from tests.support.property_settings import examples
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.lines.events import KEPT, TEXT, column_type, duration, tactic_id
from trtforensics.parsers.lines.singly import Dispatch
from trtforensics.parsers.notation.names import onnx_nodes
from trtforensics.parsers.notation.tensors import details, short_tensors

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulator.log.event import Event, Version

LOOKAHEAD = re.compile(r"\(\?[=!](?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)")
NUMBERS = sorted({name for names in KEPT.values() for name in names if column_type(name) is not TEXT})
"""Fields that are kept as numbers."""


@cache
def regexes_of(field: str) -> list[str]:
    """Return what the grammar lets stand in a field."""
    terminals = (
        terminal
        for rule in rules_of()
        if field in (rule.kind.kept or ())
        for alternative in rule.alternatives
        for terminal in alternative
    )
    return sorted({LOOKAHEAD.sub("", terminal.regex) for terminal in terminals if terminal.field == field})


VERSIONS: tuple[Version, ...] = ((8, 6, 1), (10, 16, 1))
READER = Dispatch(tables.kinds())

PIECES = [
    "a",
    "conv_1",
    "/b/Mul",
    "7",
    ", ",
    "]",
    "[",
    "{",
    "}",
    " -> ",
    " + ",
    ".",
    "(Unnamed Layer* 5) [Shuffle]",
    "é",
]
names = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join).map(str.strip).filter(bool)
words = st.sampled_from(["CaskConvolution", "Myelin", "Reformat", "PointWiseV2"])
types = st.sampled_from(["ELEMENTWISE", "POINTWISE", "SHUFFLE"])
kernels = st.text("abcxyz019_<>", min_size=1, max_size=20)
ids = st.integers(0, (1 << 64) - 1)
runner_ids = st.integers(0x80000000, 0x800000FF)
sizes = st.integers(0, (1 << 63) - 1)
counts = st.integers(0, 1 << 31)
times = st.floats(0, 1e9).map(lambda value: float(f"{value:.6g}"))
endless = times | st.just(float("inf"))
dims = st.lists(st.integers(-1, 4096), min_size=1, max_size=4).map(tuple)
formats = st.sampled_from(["Float(784,1:4,28,1)", "Half(10,1)", "Int32()", "Int8((* 64 seq),1)", "BF16(E0,1)"])
sides = st.lists(formats, min_size=1, max_size=3).map(tuple)
onnx = st.lists(st.sampled_from(["/a/Conv", "b, c", "d -> e"]), min_size=1, max_size=3, unique=True).map(
    lambda nodes: tuple(f"[ONNX Layer: {node}]" for node in nodes)
)
onnx_tensors = st.lists(st.builds(OnnxTensor, names, dims, st.just("FLOAT")), min_size=1, max_size=3).map(tuple)
layer_dims = st.lists(st.sampled_from(["-1", "28", "32:8", "1"]), max_size=4).map(tuple)
layer_tensors = st.lists(st.builds(LayerTensor, names, st.sampled_from(["Half", "Int32"]), layer_dims), max_size=3)
datatypes = st.sampled_from(["Half", "Channel major FP16 format where channel % 8 == 0", "Row major linear FP32"])
detailed_tensors = st.lists(
    # a detailed line ends its tensors with "}]", and does not quote a name that holds it; no real one does
    st.builds(
        DetailedTensor,
        names.filter(lambda name: "}]" not in name),
        dims,
        datatypes,
        st.sampled_from(["Device", "Host", None]),
    ),
    max_size=3,
)
parameters = st.sampled_from([(), (("ParameterType", "Convolution"), ("Kernel", "[3,3]"), ("Weights", "{...}"))])


def joined(parts: tuple[object, ...]) -> str:
    return ", ".join(map(str, parts))


Reading = tuple[str, dict[str, Any]]
TOTALS = {"Total Activation": "activations_total", "Total Weights": "weights_total"}
"""Sums that are results of a build."""
READINGS: dict[type[Event], tuple[st.SearchStrategy[Any], Callable[[Any], Reading]]] = {
    o.Banner: (
        st.builds(o.Banner, st.sampled_from(["RUNNING", "PASSED", "FAILED"]), names, counts),
        lambda e: ("banner", {"verdict": e.verb, "program": "TensorRT.trtexec", "command": e.arguments}),
    ),
    o.OptionBlock: (
        st.builds(o.OptionBlock, st.sampled_from(["Build Options", "Device Information"])),
        lambda e: ("section", {"section": e.name}),
    ),
    o.Option: (
        st.builds(o.Option, st.sampled_from(["Precision", "Output", "Dump refittable layers"]), st.none() | names),
        lambda e: ("option", {"name": e.name, "value": e.value}),
    ),
    o.DeviceFact: (
        st.builds(o.DeviceFact, st.sampled_from(["SMs", "Compute Capability"]), names),
        lambda e: ("device", {"name": e.name, "value": e.value}),
    ),
    o.ParseFinished: (st.builds(o.ParseFinished, times), lambda e: ("parse_end", {"seconds": e.seconds})),
    o.EngineSize: (st.builds(o.EngineSize, times), lambda e: ("engine_created", {"number": e.mebibytes})),
    o.EngineBuilt: (st.builds(o.EngineBuilt, times), lambda e: ("engine_built", {"seconds": e.seconds})),
    o.Throughput: (
        st.builds(o.Throughput, times),
        lambda e: ("metric_total", {"name": "Throughput", "number": e.queries_per_second}),
    ),
    o.Latency: (
        st.builds(o.Latency, st.sampled_from(["Latency", "GPU Compute Time"]), *[times] * 7),
        lambda e: (
            "metric_latency",
            {"name": e.name, "ms": e.minimum, "max_ms": e.maximum, "mean_ms": e.mean, "median_ms": e.median},
        ),
    ),
    o.TotalTime: (
        st.builds(o.TotalTime, st.sampled_from(["Total Host Walltime", "Total GPU Compute Time"]), times),
        lambda e: ("metric_total", {"name": e.name, "number": e.seconds}),
    ),
    o.OnnxHeader: (
        st.builds(o.OnnxHeader, st.sampled_from(["Opset version", "Domain"]), st.just("") | names),
        lambda e: ("onnx_header", {"name": e.name, "value": e.value or None}),
    ),
    o.NetworkInput: (
        st.builds(o.NetworkInput, names, st.just("float32"), dims),
        lambda e: ("adding_input", {"tensor": e.name, "dtype": e.dtype, "dims": f"({joined(e.dims)})"}),
    ),
    o.ImportingInitializer: (
        st.builds(o.ImportingInitializer, names),
        lambda e: ("importing_initializer", {"tensor": e.name}),
    ),
    o.StaticCheck: (
        st.builds(o.StaticCheck, names, st.just("Conv")),
        lambda e: ("static_check", {"node": e.name, "op": e.op}),
    ),
    o.ParsingNode: (
        st.builds(o.ParsingNode, names, st.just("Conv")),
        lambda e: ("parsing_node", {"node": e.name, "op": e.op}),
    ),
    o.SearchingInput: (st.builds(o.SearchingInput, names), lambda e: ("searching_input", {"tensor": e.tensor})),
    o.NodeInputs: (
        st.builds(o.NodeInputs, names, st.just("Conv"), onnx_tensors),
        lambda e: ("node_inputs", {"node": e.name, "op": e.op, "tensors": f" {joined(e.tensors)}, "}),
    ),
    o.NodeOutputs: (
        st.builds(o.NodeOutputs, names, st.just("Conv"), onnx_tensors),
        lambda e: ("node_outputs", {"node": e.name, "op": e.op, "tensors": f" {joined(e.tensors)}, "}),
    ),
    o.RegisteringLayer: (
        st.builds(o.RegisteringLayer, names, st.none() | names),
        lambda e: (
            ("registering_layer", {"layer": e.layer, "node": e.node})
            if e.node is not None
            else ("registering_helper", {"layer": e.layer})
        ),
    ),
    o.RegisteringTensor: (
        st.builds(o.RegisteringTensor, names, names),
        lambda e: ("registering_tensor", {"tensor": e.tensor, "tensor_onnx": e.onnx}),
    ),
    o.MarkingOutput: (
        st.builds(o.MarkingOutput, st.just("y_0"), names),
        lambda e: ("marking_output", {"tensor": e.onnx}),
    ),
    o.StageCount: (
        st.builds(o.StageCount, st.sampled_from(["Original", "vertical fusions", "concat removal"]), counts),
        lambda e: (
            ("stage_original", {"count": e.layers})
            if e.stage == "Original"
            else ("stage", {"stage": f"After {e.stage}", "count": e.layers})
        ),
    ),
    o.GraphConstructed: (st.builds(o.GraphConstructed, times), lambda e: ("graph_completed", {"seconds": e.seconds})),
    o.GraphOptimized: (st.builds(o.GraphOptimized, times), lambda e: ("graph_optimized", {"seconds": e.seconds})),
    o.RunningPass: (
        st.builds(o.RunningPass, words, names),
        lambda e: ("running", {"pass": e.name, "layer": e.layer}),
    ),
    o.FusingPair: (
        st.builds(o.FusingPair, words, names, names),
        lambda e: ("fusing", {"pass": e.kind, "first": e.first, "second": e.second}),
    ),
    o.MergingLayers: (
        st.builds(o.MergingLayers, st.lists(names, min_size=2, max_size=4).map(tuple)),
        lambda e: ("merging", {"layers": " || ".join(e.layers)}),
    ),
    o.RemovingLayer: (st.builds(o.RemovingLayer, names), lambda e: ("removing", {"layer": e.layer})),
    o.SwappingLayerType: (
        st.builds(o.SwappingLayerType, names, types, types),
        lambda e: ("layer_type_swap", {"layer": e.layer, "source": e.source, "target": e.target}),
    ),
    t.StrategyBegin: (
        st.builds(t.StrategyBegin, st.integers(0, 9)),
        lambda e: ("strategy_begin", {"strategy": e.strategy}),
    ),
    t.StrategyInitial: (
        st.builds(t.StrategyInitial, st.integers(0, 9), endless),
        lambda e: ("strategy_initial", {"strategy": e.strategy, "ms": e.ms}),
    ),
    t.StrategyChosen: (
        st.builds(t.StrategyChosen, st.integers(0, 9), times, endless),
        lambda e: ("strategy_chosen", {"strategy": e.strategy, "ms": e.ms}),
    ),
    t.StrategySkipped: (
        st.builds(t.StrategySkipped, st.integers(0, 9), endless, times),
        lambda e: ("strategy_skipped", {"strategy": e.strategy, "ms": e.ms}),
    ),
    t.TimingCacheInUse: (
        st.builds(t.TimingCacheInUse, st.sampled_from(["Local", "Global"])),
        lambda _: ("cache_scope", {}),
    ),
    t.ProfileBegin: (
        st.builds(t.ProfileBegin, st.integers(0, 9), st.integers(1, 9)),
        lambda e: ("profile_begin", {"profile": str(e.index)}),
    ),
    t.CostsHeader: (
        st.builds(t.CostsHeader, st.just("") | names),
        lambda e: ("costs_begin", {"layer": e.layer or None}),
    ),
    t.ForeignNodeMetadata: (
        st.builds(t.ForeignNodeMetadata, names, onnx),
        lambda e: ("foreign_node", {"layer": e.layer, "onnx": e.onnx_layers}),
    ),
    t.Combination: (
        st.builds(
            t.Combination,
            sides,
            sides,
            st.sampled_from(["", "E0=(* 64 seq)"]),
            st.sampled_from(["", "0x0123456789abcdef0123456789abcdef"]),
        ),
        lambda e: (
            "format_combination",
            {
                "inputs": joined(e.inputs),
                "outputs": joined(e.outputs) + (f" where {e.where}" if e.where else ""),
                "key": e.key or None,
            },
        ),
    ),
    t.TimingRunner: (
        st.builds(t.TimingRunner, names, words, runner_ids),
        lambda e: ("timing_runner", {"layer": e.layer, "runner": e.runner, "runner_id": f"{e.runner_id:#010x}"}),
    ),
    t.TacticTimed: (
        st.builds(t.TacticTimed, ids, endless, st.just("") | kernels),
        lambda e: (
            "tactic_timed",
            {"tactic": e.tactic, "ms": e.ms} | ({"kernel": e.kernel} if e.kernel else {}),
        ),
    ),
    t.TacticSkippedScratch: (
        st.builds(t.TacticSkippedScratch, ids, sizes, sizes),
        lambda e: ("tactic_skipped", {"tactic": e.tactic, "requested": e.requested, "available": e.available}),
    ),
    t.WorkspaceHint: (
        st.builds(t.WorkspaceHint, sizes),
        lambda e: ("workspace_hint", {"requested": e.requested}),
    ),
    t.ProfilingCompleted: (
        st.builds(t.ProfilingCompleted, names, words, runner_ids, times, ids, endless),
        lambda e: (
            "profiling_completed",
            {"layer": e.layer, "runner": e.runner, "seconds": e.seconds, "tactic": e.tactic, "ms": e.ms},
        ),
    ),
    t.Chose: (st.builds(t.Chose, words, ids), lambda e: ("chose", {"runner": e.runner, "tactic": e.tactic})),
    t.CachedResult: (
        st.builds(t.CachedResult, names, sides, sides, words, ids, endless),
        lambda e: (
            "cached_result",
            {
                "layer": e.layer,
                "inputs": joined(e.inputs),
                "outputs": joined(e.outputs),
                "runner": e.runner,
                "tactic": e.tactic,
                "ms": e.ms,
            },
        ),
    ),
    t.ForeignOp: (
        st.builds(t.ForeignOp, kernels, onnx, st.sampled_from(["", "0x0123456789abcdef0123456789abcdef"])),
        lambda e: ("myelin_op", {"op": e.op, "key": e.key or None, "onnx": e.onnx_layers}),
    ),
    t.ForeignTable: (st.builds(t.ForeignTable), lambda _: ("myelin_table", {})),
    t.ForeignColumns: (
        st.builds(t.ForeignColumns, st.sampled_from([(), ("occupancy",)])),
        lambda _: ("myelin_columns", {}),
    ),
    t.ForeignTactic: (
        st.builds(
            t.ForeignTactic,
            st.integers(0, 9999),
            st.floats(0, 1e6),
            times,
            times,
            kernels,
            ids,
            st.sampled_from(["", "k"]),
        ),
        lambda e: ("myelin_row", {"ms": float(f"{e.ms:.7f}"), "kernel": e.kernel, "hash": e.tactic}),
    ),
    t.ForeignSelected: (
        st.builds(t.ForeignSelected, ids, endless),
        lambda e: ("myelin_selected", {"hash": e.tactic, "ms": e.ms}),
    ),
    t.ForeignStored: (st.builds(t.ForeignStored, ids), lambda e: ("myelin_written", {"hash": e.tactic})),
    t.ReformatCostsHeader: (
        st.builds(t.ReformatCostsHeader, opening=st.booleans()),
        lambda _: ("reformat_costs_begin", {}),
    ),
    t.ReformatAutotune: (
        st.builds(t.ReformatAutotune, formats, formats),
        lambda e: ("reformat_combination", {"source": e.source, "target": e.target}),
    ),
    t.AddingReformat: (
        st.builds(t.AddingReformat, names.map(lambda n: f"Reformatted Input Tensor 0 to {n}"), names, formats, formats),
        lambda e: ("adding_reformat", {"layer": e.name, "tensor": e.tensor, "source": e.source, "target": e.target}),
    ),
    t.SelectionCompleted: (
        st.builds(t.SelectionCompleted, times),
        lambda e: ("selection_completed", {"seconds": e.seconds}),
    ),
    t.LayerMemory: (
        st.builds(t.LayerMemory, names, sizes, sizes, sizes),
        lambda e: (
            "layer_memory",
            {"layer": e.layer, "host": str(e.host), "device": str(e.device), "scratch": str(e.scratch)},
        ),
    ),
    t.MemoryOmitted: (st.builds(t.MemoryOmitted, counts), lambda e: ("memory_skipped", {"count": e.layers})),
    t.TotalMemory: (
        st.builds(t.TotalMemory, st.sampled_from(["Total Host Persistent", "Max Scratch", *TOTALS]), sizes),
        lambda e: (
            TOTALS.get(e.kind, "memory_total"),
            {"count": e.size} | ({} if e.kind in TOTALS else {"name": f"{e.kind} Memory"}),
        ),
    ),
    t.KernelIndex: (
        st.builds(t.KernelIndex, names, counts),
        lambda e: ("finalize", {"layer": e.layer, "count": e.index}),
    ),
    t.KernelKind: (
        st.builds(t.KernelKind, counts, kernels),
        lambda e: ("kernel", {"count": e.index, "kernel": e.kind}),
    ),
    t.EngineGeneration: (
        st.builds(t.EngineGeneration, times),
        lambda e: ("engine_generated", {"seconds": e.seconds}),
    ),
    t.EngineDump: (
        st.builds(t.EngineDump, st.booleans()),
        lambda e: ("engine_layers_detailed" if e.detailed else "engine_layers", {}),
    ),
    t.EngineLayerNamesOnly: (
        st.builds(t.EngineLayerNamesOnly, words, names, ids, layer_tensors.map(tuple), layer_tensors.map(tuple)),
        lambda e: (
            "layer_short",
            {
                "type": e.runner,
                "name": e.name,
                "tactic": e.tactic,
                "sides": tuple([(x.name, x.dtype, x.dims) for x in side] for side in (e.inputs, e.outputs)),
            },
        ),
    ),
    t.EngineLayerDetailed: (
        st.builds(
            t.EngineLayerDetailed,
            names,
            words,
            detailed_tensors.map(tuple),
            detailed_tensors.map(tuple),
            parameters,
            st.none() | kernels,
            st.none() | ids,
            st.none() | st.integers(0, 9),
            st.none() | onnx,
            st.sampled_from(["\x1e", "\x1f"]),
        ),
        lambda e: (
            "layer_detailed",
            {
                "name": e.name,
                "type": e.layer_type,
                "detailed": tuple([(x.name, x.dims) for x in side] for side in (e.inputs, e.outputs)),
                "fields": dict(e.parameters)
                | ({} if e.tactic_name is None else {"TacticName": e.tactic_name})
                | ({} if e.tactic is None else {"TacticValue": f"{e.tactic:#018x}"})
                | ({} if e.stream is None else {"StreamId": str(e.stream)})
                | ({} if e.metadata is None else {"Metadata": e.separator.join(e.metadata)}),
            },
        ),
    ),
    t.TimingCacheDeleted: (
        st.builds(t.TimingCacheDeleted, counts, counts),
        lambda e: ("cache_deleted", {"count": e.entries, "hits": str(e.hits)}),
    ),
    t.TimingCacheOrigin: (
        st.builds(t.TimingCacheOrigin, st.just("GPU-0e0e"), st.text("0123456789abcdef", min_size=1)),
        lambda e: ("cache_serializing", {"uuid": e.device, "commit": e.commit}),
    ),
    t.TimingCacheSerialized: (
        st.builds(t.TimingCacheSerialized, counts),
        lambda e: ("cache_serialized", {"count": e.entries}),
    ),
}
"""For every event with a kind of its own: how to make one, and how its line is to be read."""

NO_KIND = {
    o.Blank: "a blank line",
    o.Message: "any text",
    t.NoValidTactics: "of two kinds, by version: see its own test",
}


def value(name: str, raw: bytes | None, expected: object) -> object:
    """Return a field as the event's type has it."""
    if raw is None or expected is None:
        return raw
    if isinstance(expected, float):
        return float("inf") if (raw == b"inf") else duration(raw)
    if isinstance(expected, int):
        return tactic_id(raw) if name in {"tactic", "hash"} else int(raw)
    return raw.decode()


def sides_of(text: str) -> object:
    read = short_tensors(text)
    assert read is not None
    return tuple(
        [
            (x.name, x.dtype, tuple(x.format.removesuffix("]").partition("[")[2].split(",")) if x.dims else ())
            for x in side
        ]
        for side in read
    )


DERIVED = {"onnx", "sides", "detailed", "fields"}


def derived(name: str, fields: dict[str, bytes | None]) -> object:
    """Return what the nested grammars make of a field."""
    if name == "onnx":
        return tuple(f"[ONNX Layer: {node}]" for node in onnx_nodes((fields["metadata"] or b"").decode()))
    if name == "sides":
        return sides_of((fields["tensors"] or b"").decode())
    read = details((fields["details"] or b"").decode())
    assert read is not None
    if name == "fields":
        return read.fields
    return tuple([(x.name, x.dims) for x in side] for side in (read.inputs, read.outputs))


def test_every_event_of_the_emulator_has_its_reading() -> None:
    assert READINGS.keys() | NO_KIND.keys() == set(render.EVENTS)


@pytest.mark.parametrize("event_type", READINGS, ids=lambda event_type: event_type.__name__)
@examples(40)
@given(data=st.data(), version=st.sampled_from(VERSIONS))
def test_what_is_rendered_is_read_back(event_type: type[Event], data: st.DataObject, version: Version) -> None:
    strategy, reading = READINGS[event_type]
    event = data.draw(strategy)
    found = fields_of(READER, render.render(event, version).encode())
    assert found is not None
    kind, fields = found
    expected_kind, expected = reading(event)
    assert kind == expected_kind
    for name, wanted in expected.items():
        read = derived(name, fields) if name in DERIVED else value(name, fields[name], wanted)
        assert read == wanted, name


@given(runner=words, layer=names)
def test_a_runner_without_tactics_is_read_in_both_forms(runner: str, layer: str) -> None:
    event = t.NoValidTactics(runner, layer)
    old = fields_of(READER, render.render(event, (8, 6, 1)).encode())
    new = fields_of(READER, render.render(event, (10, 16, 1)).encode())
    assert old == ("no_valid_tactics_old", {"runner": runner.encode()})
    assert new == ("no_valid_tactics", {"runner": runner.encode(), "layer": layer.encode()})


@pytest.mark.parametrize("field", NUMBERS)
@examples(120)
@given(data=st.data())
def test_what_the_grammar_takes_for_a_number_can_be_read_as_one(field: str, data: st.DataObject) -> None:
    read = column_type(field).read
    assert read is not None
    regex = data.draw(st.sampled_from(regexes_of(field)))
    read(data.draw(st.from_regex(re.compile(regex, re.ASCII), fullmatch=True)).encode())
