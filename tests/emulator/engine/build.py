"""Deterministic simulated builds of the little network: they time, choose and log as TensorRT does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tests.emulator.engine import parsing
from tests.emulator.engine.dump import Step, detailed, engine_steps, names_only
from tests.emulator.engine.kernels import hashed
from tests.emulator.engine.network import DIMS, FLOAT, INT32, SCOPED_NAMES, TORCH_NAMES, Format, Layer, Network
from tests.emulator.engine.tuner import Selection, Tuner
from tests.emulator.log import trtexec_lines as trtexec
from tests.emulator.log.event import TEN, Event, Version, six_digits
from tests.emulator.log.opening import (
    GraphConstructed,
    GraphOptimized,
    Message,
    ParseFinished,
    RegisteringLayer,
    StageCount,
)
from tests.emulator.log.render import Dialect, line
from tests.emulator.log.tuning import (
    AddingReformat,
    EngineDump,
    EngineGeneration,
    KernelIndex,
    KernelKind,
    LayerMemory,
    MemoryOmitted,
    ProfileBegin,
    ProfilingCompleted,
    SelectionCompleted,
    StrategyBegin,
    StrategyChosen,
    StrategyInitial,
    StrategySkipped,
    TimingCacheDeleted,
    TimingCacheInUse,
    TimingCacheOrigin,
    TimingCacheSerialized,
    TotalMemory,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OVERFLOW = (
    "Running layernorm after self-attention in FP16 may cause overflow. Exporting the model to the latest available "
    "ONNX opset (later than opset 17) to use the INormalizationLayer, or forcing layernorm layers to run in FP32 "
    "precision can help with preserving accuracy."
)
PREFER_MYELIN = 3
PERSISTENT = {"Cask": 4096, "PointWise": 496, "Myelin": 80}
"""Bytes of host memory by the runner's kind; the rest has none."""


@dataclass(frozen=True, slots=True)
class Log:
    """A build as events, and how its lines are written."""

    version: Version
    dialect: Dialect
    start: datetime
    events: tuple[Event, ...]

    def text(self) -> str:
        """Return the log; the clock moves by what each profiling took."""
        moment, lines = self.start, []
        for event in self.events:
            if isinstance(event, ProfilingCompleted):
                moment += timedelta(seconds=event.seconds)
            lines.append(line(event, self.version, self.dialect, moment))
        return "\n".join(lines) + "\n"


def trtexec_8_6() -> Log:
    """Return a build by trtexec 8.6: one pass, everything timed, then an inference."""
    version: Version = (8, 6, 1)
    tuner = Tuner(version, Network(SCOPED_NAMES), seed=86)
    command = trtexec.arguments(level=3, inference=True)
    events = [*trtexec.opening(version, command, 3), *_parsed(tuner, by_trtexec=True)]
    built = _pass(tuner, 2, _network_layers(events), profiles=1, several=False)
    events += [
        *built.events,
        TimingCacheDeleted(len(tuner.timed) + len(tuner.reformats), 0),
        EngineDump(detailed=False),
    ]
    events += [*map(names_only, built.steps), Message("V", "Adding 1 engine(s) to plan file.")]
    events += trtexec.closing(command, 6.40219, built.selection.ms, newer=False)
    return Log(version, "trtexec", datetime(2026, 11, 21, 9, 30, 0), tuple(events))  # noqa: DTZ001 - logs have no zone


def three_passes() -> Log:
    """Return a build by trtexec 10.16 at level 5: strategies 4, 3, 2, of which 3 becomes the engine."""
    version: Version = (10, 16, 1)
    tuner = Tuner(version, Network(TORCH_NAMES), seed=1016)
    command = trtexec.arguments(level=5, inference=False)
    events = [*trtexec.opening(version, command, 5), *_parsed(tuner, by_trtexec=True)]
    best: _Pass | None = None
    original = _network_layers(events)
    for strategy in (4, PREFER_MYELIN, 2):
        done = _pass(tuner, strategy, original, profiles=1, several=True)
        events += done.events
        ms = done.selection.ms
        if best is None:
            events.append(StrategyInitial(strategy, ms))
            best = done
        elif ms < best.selection.ms:
            events.append(StrategyChosen(strategy, ms, best.selection.ms))
            best = done
        else:
            events.append(StrategySkipped(strategy, ms, best.selection.ms))
    assert best is not None
    events += [EngineDump(detailed=False), *map(names_only, best.steps), *_planned()]
    events += [*_cache_saved(tuner), *trtexec.closing(command, 11.2841, None, newer=True)]
    return Log(version, "trtexec", datetime(2026, 11, 21, 10, 5, 0), tuple(events))  # noqa: DTZ001 - logs have no zone


def two_profiles() -> Log:
    """Return a build through Python 10.16: one strategy, two profiles, an editable timing cache, a detailed dump."""
    version: Version = (10, 16, 1)
    tuner = Tuner(version, Network(TORCH_NAMES), seed=2, editable=True)
    events = _parsed(tuner, by_trtexec=False)
    built = _pass(tuner, 2, _network_layers(events), profiles=2, several=False)
    events += [*built.events, EngineDump(detailed=True)]
    for group, step in enumerate(built.steps):
        events += detailed(step, tuner, group)
    events += [*_planned(), Message("I", "Loaded engine size: 0 MiB")]
    return Log(version, "python", datetime(2026, 11, 21, 11, 40, 0), tuple(events))  # noqa: DTZ001 - logs have no zone


@dataclass(frozen=True, slots=True)
class _Pass:
    events: list[Event]
    steps: list[Step]
    selection: Selection


def _parsed(tuner: Tuner, *, by_trtexec: bool) -> list[Event]:
    """Return the lines from the model's header to the builder's graph."""
    events: list[Event] = [
        *trtexec.model_header(newer=tuner.version >= TEN),
        *parsing.parse(tuner.network, tuner.version),
    ]
    if by_trtexec:
        events.append(ParseFinished(0.0187652))
    if by_trtexec and tuner.version >= TEN:
        missing = "Could not read cache from: tiny.cache. A new cache will be generated and written."
        events.append(Message("W", missing))
    original = _network_layers(events)
    events += [
        StageCount("Original", original),
        StageCount("dead-layer removal", original),
        GraphConstructed(0.00091342),
    ]
    return [
        *events,
        Message("W", f"Detected layernorm nodes in FP16: {tuner.network.names['norm']}"),
        Message("W", OVERFLOW),
    ]


def _network_layers(events: Sequence[Event]) -> int:
    return sum(isinstance(event, RegisteringLayer) for event in events)


def _pass(tuner: Tuner, strategy: int, original: int, *, profiles: int, several: bool) -> _Pass:
    """Return a pass; one of several optimises the graph after the strategy is named, a lone one before."""
    layers = tuner.network.layers(strategy)
    optimised: list[Event] = [
        *parsing.optimise(tuner.network, layers, original, tuner.version),
        GraphOptimized(0.00113977),
    ]
    events: list[Event] = [] if several else optimised
    events += [StrategyBegin(strategy), TimingCacheInUse("Global" if several else "Local")]
    steps: list[Step] = []
    selection = Selection((), ())
    started = len(events)
    for profile in range(profiles):
        suffix = f" [profile {profile}]" if profile else ""
        events += [ProfileBegin(profile, profiles)]
        events.append(Message("V", "Applying generic optimizations to the graph for inference."))
        events += optimised if several else []
        events.append(Message("V", "Reserving memory for host IO tensors. Host: 0 bytes"))
        events += _tuned(tuner, layers, suffix, f"{strategy}/{profile}")
        selection = tuner.select(layers)
        made = list(engine_steps(selection, tuner, suffix))
        events += _adopted(tuner, selection, made, suffix, _seconds(events[started:]))
        steps += made
    events += [*_kernels(steps), EngineGeneration(six_digits(_seconds(events[started:]) + 0.0221))]
    return _Pass(events, steps, selection)


def _seconds(events: Sequence[Event]) -> float:
    return six_digits(sum(event.seconds for event in events if isinstance(event, ProfilingCompleted)) + 0.0113)


def _tuned(tuner: Tuner, layers: tuple[Layer, ...], suffix: str, attempt: str) -> Iterator[Event]:
    for layer in layers:
        yield from tuner.layer(layer, suffix, attempt)
    sources: list[Format] = [FLOAT]
    for layer in layers:
        valid = [choice for source, _ in layer.formats if (choice := tuner.timed[layer.name, source])]
        yield from tuner.tensor(layer.source, sources, [choice.source for choice in valid], suffix)
        sources = list(dict.fromkeys(choice.targets[0] for choice in valid))
    yield from tuner.tensor("y", sources, [FLOAT], suffix)
    yield from tuner.tensor("z", [INT32], [INT32], suffix)


def _adopted(tuner: Tuner, selection: Selection, steps: list[Step], suffix: str, seconds: float) -> Iterator[Event]:
    """Yield what follows the choice: reformat layers, counts, memory."""
    for change in selection.reformats:
        name = f"Reformatted {'Input' if change.into else 'Output'} Tensor 0 to {change.layer.name}{suffix}"
        formats = change.source.strides(DIMS[change.tensor]), change.target.strides(DIMS[change.tensor])
        yield AddingReformat(name, tuner.network.tensor(change.tensor) + suffix, *formats)
    yield from (SelectionCompleted(seconds), StageCount("reformat layers", len(steps)))
    yield Message("V", f"Total number of blocks in pre-optimized block assignment: {len(steps)}")
    yield Message("I", "Detected 1 inputs and 2 output network tensors.")
    yield from _memory(steps, newer=tuner.version >= TEN)


def _memory(steps: list[Step], *, newer: bool) -> Iterator[Event]:
    hosts = {step.name: host for step in steps if (host := _host_bytes(step))}
    scratch = 66048 if newer else 0
    for step in steps:
        if step.name in hosts:
            yield LayerMemory(step.name, hosts[step.name], 0, scratch if step.runner == "Myelin" else 0)
    yield MemoryOmitted(len(steps) - len(hosts))
    yield TotalMemory("Total Host Persistent", sum(hosts.values()))
    yield TotalMemory("Total Device Persistent", 0)
    yield TotalMemory("Max Scratch" if newer else "Total Scratch", scratch)
    yield Message(
        "I", f"[BlockAssignment] Started assigning block shifts. This will take {len(steps)} steps to complete."
    )
    yield TotalMemory("Total Activation", 1081344)
    if newer:
        yield TotalMemory("Total Weights", 838272)


def _host_bytes(step: Step) -> int:
    size = next((size for kind, size in PERSISTENT.items() if step.runner.startswith(kind)), 0)
    return size + hashed(step.name) % 24 * 64 if step.runner.startswith("Cask") else size


def _kernels(steps: list[Step]) -> Iterator[Event]:
    owners = [step for step in steps if step.runner.startswith(("Cask", "PointWise"))]
    for index, step in enumerate(owners):
        yield KernelIndex(step.name, index)
    yield Message("V", f"Total number of generated kernels selected for the engine: {len(owners)}")
    for index, step in enumerate(owners):
        native = step.runner.startswith("PointWise")
        yield KernelKind(index, "TRT_SERIALIZABLE:generatedNativePointwise" if native else "CASK_STATIC")
    yield Message("V", "Disabling unused tactic source: JIT_CONVOLUTIONS")


def _planned() -> Iterator[Event]:
    memory = "[MemUsageStats] Peak memory usage of TRT CPU/GPU memory allocators: CPU 1 MiB, GPU 9 MiB"
    yield Message("I", memory)
    yield Message("V", "Adding 1 engine(s) to plan file.")


def _cache_saved(tuner: Tuner) -> Iterator[Event]:
    yield TimingCacheOrigin(trtexec.DEVICE, f"{hashed('commit'):016x}")
    yield TimingCacheSerialized(len(tuner.timed) + len(tuner.reformats))
    yield Message("I", "Saved 18432 bytes of timing cache to tiny.cache")
