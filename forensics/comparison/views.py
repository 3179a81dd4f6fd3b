"""A build as one source shows it, its layers and its run: a field that the source does not state is None."""

import re
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import lru_cache
from statistics import fmean, median, quantiles
from typing import TypeVar

from trtforensics.console.counting import grouped
from trtforensics.engines.facts import EngineFacts, LayerFacts
from trtforensics.engines.joining import build_of_layers
from trtforensics.model.data_types import ELEMENT_TYPES
from trtforensics.model.engine import EngineInfo, ProfileInfo, TimingCache
from trtforensics.model.layer_types import FOREIGN_NODE, is_foreign_node, operation_of_type
from trtforensics.model.ledger import ledger_of
from trtforensics.model.log import Build, BuildLog, CachedResult, Choice, EngineTensor, Fusion, MyelinOperation
from trtforensics.model.replay import Replay, ReplayTensor
from trtforensics.model.run import RunResult
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import InferenceSamples, InferenceTimes, TimeSource, is_near_tie
from trtforensics.parsers.notation.formats import Format, parse_formats
from trtforensics.parsers.notation.names import is_helper, is_reformat, members
from trtforensics.render.headline import headline_of
from trtforensics.sources.kinds import Kind


@dataclass(frozen=True, slots=True)
class Measured:
    """A total of a run: the median where the source has several values, else the value.

    ``spread`` says how far single inferences lie from the median: the distance to the 90th percentile or, in a log that
    prints none (TensorRT before 8.6), to the fastest inference. None where the source has one value only. ``count`` is
    how many inferences were timed, where that is known.
    """

    value: float
    spread: float | None
    span: SourceSpan
    mean: float | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Circumstance:
    """Something the run or the build was done with: an option, the device, a version."""

    block: str
    name: str
    value: str
    span: SourceSpan | None


@dataclass(frozen=True, slots=True)
class RunView:
    """``totals`` by the key of the result (``latency_ms``, ``gpu_compute_ms``, ``throughput_qps``); some may lack."""

    totals: Mapping[str, Measured]
    circumstances: tuple[Circumstance, ...] = ()


TOTALS = {
    "latency_ms": "latency",
    "gpu_compute_ms": "GPU compute",
    "end_to_end_ms": "end-to-end latency",
    "throughput_qps": "throughput",
}
"""The results that are compared, in order, and their names. A larger throughput is better, a larger time is worse."""

_PATHS = {"Save engine", "Load engine", "timingCacheFile", "Available Devices", "Selected Device UUID", "Device"}
"""Options that name files and machines: they differ between any two runs."""


def run_of_build(build: Build) -> RunView:
    """Return what a log says about a build and of the engine's run."""
    totals = {key: measured for key in TOTALS if (result := build.result(key)) and (measured := _measured(result))}
    stated: list[Circumstance] = []
    if build.tensorrt_version:
        stated.append(Circumstance("version", "TensorRT", build.tensorrt_version, None))
    for block, facts in build.options.items():
        if block != "reporting":  # which names what is printed and written, not what is run
            stated += [Circumstance(block, f.name, f.value, f.span) for f in facts if f.name not in _PATHS]
    return RunView(totals, tuple(stated))


def _measured(result: RunResult) -> Measured | None:
    if isinstance(result.value, float | int):
        return Measured(float(result.value), None, result.span)
    values = result.value
    middle = values.get("median", values.get("mean"))
    if middle is None:
        return None
    far = next((values[key] for key in ("p90", "p95", "min") if key in values), None)
    spread = None if far is None else abs(far - middle)
    return Measured(middle, spread, result.span, values.get("mean"))


def run_of_samples(samples: InferenceSamples) -> RunView:
    """Return the totals of a times file's run."""
    totals = {
        "latency_ms": _median_of(samples.latency_ms, samples.span),
        "gpu_compute_ms": _median_of(samples.compute_ms, samples.span),
    }
    if samples.elapsed_ms > 0:
        per_second = len(samples.latency_ms) / samples.elapsed_ms * 1000
        totals["throughput_qps"] = Measured(per_second, None, samples.span, None, len(samples.latency_ms))
    return RunView(totals)


def _median_of(values: Sequence[float], span: SourceSpan) -> Measured:
    middle = median(values)
    spread = quantiles(values, n=10, method="inclusive")[-1] - middle if len(values) > 1 else None
    return Measured(middle, spread, span, fmean(values), len(values))


@dataclass(frozen=True, slots=True)
class LayerTensors:
    """A layer's inputs and outputs, inputs first, as far as the source describes them.

    ``types`` are spelled as in logs (``Half``). ``packing``: elements a pack of a vectorised format holds, 1 for none.
    ``packed_dim``: which dimension is packed, -1 for none. ``strides``: in elements, the outermost first. ``layout``:
    the inspector's words for it, without type. ``enumerator``: ``TensorFormat`` as replays up to form F4 name it.
    ``texts``: each format as the source prints it, for people.
    """

    inputs: int = 0
    types: tuple[str, ...] | None = None
    packing: tuple[int, ...] | None = None
    strides: tuple[tuple[int | str, ...], ...] | None = None
    packed_dim: tuple[int, ...] | None = None
    layout: tuple[str, ...] | None = None
    enumerator: tuple[str, ...] | None = None
    texts: tuple[str, ...] = ()


NO_TENSORS = LayerTensors()


@dataclass(frozen=True, slots=True)
class LayerView:
    """What a source tells of a layer, or of an operation inside a ForeignNode (then ``key`` is its timing-cache key).

    It is no record of an engine's layer: a replay, a cache and a log without a dump have no engine. ``reads`` and
    ``writes`` are names of tensors. ``time_ms`` is of one run of the autotuner; ``measured_ms`` and ``median_ms`` are
    over a profile's iterations, ``time_span`` is its row. ``operation`` is its kind of work (``Convolution``),
    ``shape`` the dimensions of its first input and of its outputs, ``inside`` the ForeignNode that it is a kernel of.
    """

    name: str
    span: SourceSpan
    runner: str | None = None
    runner_id: int | None = None
    tactic: int | None = None
    kernel: str | None = None
    tensors: LayerTensors = NO_TENSORS
    time_ms: float | None = None
    runner_up_ms: float | None = None
    onnx_nodes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    key: str = ""
    measured_ms: float | None = None
    median_ms: float | None = None
    time_span: SourceSpan | None = None
    operation: str = ""
    shape: tuple[tuple[int | str, ...], ...] = ()
    inside: str = ""

    @property
    def near_tie(self) -> bool:
        """Whether the runner-up was within 2 % of the chosen tactic: build noise may flip it."""
        return is_near_tie(self.time_ms, self.runner_up_ms)

    @property
    def types_text(self) -> str:
        """The types of its inputs and outputs as text (``Half, Half -> Float``); empty where unknown."""
        return self.arrow(self.tensors.types or ())

    def arrow(self, texts: tuple[str, ...]) -> str:
        """Return texts of its tensors, inputs first, as ``a, b -> c``."""
        inputs = self.tensors.inputs
        return f"{', '.join(texts[:inputs])} -> {', '.join(texts[inputs:])}".strip() if texts else ""

    @property
    def is_reformat(self) -> bool:
        """Whether TensorRT put the layer in to change a format."""
        return is_reformat(self.name)

    @property
    def parts(self) -> frozenset[str]:
        """The network layers and ONNX nodes that became this layer, without helpers; none for a reformat."""
        return _parts(self.name, self.onnx_nodes)


@lru_cache(maxsize=1 << 16)
def _parts(name: str, onnx_nodes: tuple[str, ...]) -> frozenset[str]:
    if is_reformat(name):
        return frozenset()
    return frozenset(part for part in (*members(name), *onnx_nodes) if not is_helper(part))


@dataclass(frozen=True, slots=True)
class BuildView:
    """A build. ``layers``, ``operations`` and ``fusions`` are None where the source has none of that sort.

    ``unlisted`` was timed and is no layer of its dump, as a ForeignNode of which the dump lists the kernels.
    ``source`` is its path; ``what`` names the build for people (``build 2 of 3 in a log of …``). ``run`` is the
    engine's speed and the options of its build and run, as far as the source states them. ``headline`` is of a log's
    run, empty for other files.
    """

    source: str
    kind: Kind
    what: str
    layers: tuple[LayerView, ...] | None
    operations: tuple[LayerView, ...] | None = None
    fusions: tuple[Fusion, ...] | None = None
    tensorrt_version: str | None = None
    notes: tuple[str, ...] = field(default=())
    run: RunView | None = None
    unlisted: tuple[LayerView, ...] = ()
    headline: str = ""


_T = TypeVar("_T")

_LOG_TYPES = {element.replay: element.name for element in ELEMENT_TYPES.values() if element.replay}
"""The types of replays (``DataType.HALF``), spelled as in logs."""

_KNOWN = frozenset(_LOG_TYPES.values())
_TYPE_WORDS = re.compile(r" ?\b(?:FP32|FP16|BF16|BFloat16|Int8|Int32|Int64|Bool|BOOL|UInt8|FP8|FP4|Int4)\b(?: format)?")
_SHORT = re.compile(r"\w+\[.*\]")


@lru_cache(maxsize=1 << 14)
def tensors_of_formats(inputs: tuple[str, ...], outputs: tuple[str, ...]) -> LayerTensors:
    """Read formats as the autotuner prints them (``Half(100352,50176:2,224,1)``)."""
    texts = (*inputs, *outputs)
    formats: list[Format] = []
    for text in texts:
        parsed = parse_formats(text)
        if not parsed:
            return LayerTensors(len(inputs), texts=texts)
        formats += parsed[:1]
    return LayerTensors(
        inputs=len(inputs),
        types=tuple(form.dtype for form in formats),
        packing=tuple(form.components for form in formats),
        packed_dim=tuple(form.vectorized_dim for form in formats),
        strides=tuple(form.strides for form in formats),
        texts=texts,
    )


@lru_cache(maxsize=1 << 14)
def tensors_of_replay(inputs: tuple[ReplayTensor, ...], outputs: tuple[ReplayTensor, ...]) -> LayerTensors:
    """Read the tensors of a replay's entry; fields that its form does not have are None."""
    both = (*inputs, *outputs)
    types = [None if tensor.dtype is None else _LOG_TYPES.get(tensor.dtype.upper(), tensor.dtype) for tensor in both]
    return LayerTensors(
        inputs=len(inputs),
        types=_whole(types),
        packing=_whole([tensor.components for tensor in both]),
        packed_dim=_whole([tensor.vectorized_dim for tensor in both]),
        strides=_whole([tensor.strides for tensor in both]),
        enumerator=_whole([tensor.format for tensor in both]),
        texts=tuple(replace(tensor, dtype=spelled).text for tensor, spelled in zip(both, types, strict=True)),
    )


@lru_cache(maxsize=1 << 14)
def tensors_of_engine(inputs: tuple[EngineTensor, ...], outputs: tuple[EngineTensor, ...]) -> LayerTensors:
    """Read tensors as the inspector or an engine dump describes them: layouts in words, no strides."""
    both = (*inputs, *outputs)
    if not both:
        return NO_TENSORS
    layout = [
        None if not tensor.format or _SHORT.fullmatch(tensor.format) else _TYPE_WORDS.sub("", tensor.format).strip()
        for tensor in both
    ]
    return LayerTensors(
        inputs=len(inputs),
        types=_whole([tensor.dtype if tensor.dtype in _KNOWN else None for tensor in both]),
        packing=_whole([tensor.components if tensor.format else None for tensor in both]),
        layout=_whole(layout),
        texts=tuple(tensor.format or tensor.dtype for tensor in both),
    )


def _whole(values: Sequence[_T | None]) -> tuple[_T, ...] | None:
    """Return the values if none of them is None, else None."""
    known = [value for value in values if value is not None]
    return tuple(known) if len(known) == len(values) else None


def of_log(log: BuildLog) -> BuildView | None:
    """Return the last build with an engine dump, else with tuning or a profile, else with results; None without any."""
    candidates = [b for b in log.builds if b.engine_layers or b.layer_names]
    candidates = candidates or [b for b in log.builds if _tells_of_layers(b)]
    candidates = candidates or [b for b in log.builds if run_of_build(b).totals]
    if not candidates:
        return None
    build = candidates[-1]
    several = f"build {build.index + 1} of {len(log.builds)}" if len(log.builds) > 1 else ""
    facts = EngineFacts(build)
    layers, notes = _log_layers(facts)
    chosen = [fusion for fusion in build.fusions if build.may_be_in_engine(fusion.pass_index)]
    return BuildView(
        source=log.source.path,
        kind=Kind.BUILD_LOG,
        what=several,
        layers=layers,
        operations=_operations(_timed_by_myelin(build)),
        fusions=tuple(chosen) or None,
        tensorrt_version=build.tensorrt_version,
        notes=notes,
        run=run_of_build(_timed_build(log, build)),
        unlisted=_unlisted(facts),
        headline=headline_of(log, build).text if log.runs else "",
    )


def _tells_of_layers(build: Build) -> bool:
    return bool(build.choices or build.cached or build.timing_cache_keys or build.fusions or build.profiles)


def _timed_build(log: BuildLog, build: Build) -> Build:
    """Return the build itself where it was run, else the run of its engine that follows it in the log."""
    if run_of_build(build).totals:
        return build
    for later in log.builds[build.index + 1 :]:
        if later.engine_layers or later.layer_names or _tells_of_layers(later):
            break
        if run_of_build(later).totals:
            return later
    return build


def _log_layers(facts: EngineFacts) -> tuple[tuple[LayerView, ...] | None, tuple[str, ...]]:
    build = facts.build
    if build.engine_layers:
        return tuple(map(_dumped, facts.layers)), ()
    if build.profile:
        return tuple(map(_dumped, facts.listed)), ("it prints no engine layers: those of its profile count",)
    tuned = _tuned(build)
    undecided = sum(layer.runner is None for layer in tuned)
    notes = ["it prints no engine layers: its layers are those that it tunes"] if tuned else []
    if undecided:
        notes.append(f"of {undecided} layers it tunes several combinations of formats and does not tell which won")
    return tuple(tuned) or None, tuple(notes)


def _unlisted(facts: EngineFacts) -> tuple[LayerView, ...]:
    """Return what was timed, measured or tuned, and is no layer of the dump."""
    if not facts.build.engine_layers:
        return ()
    units = (*facts.unlisted(facts.ledger), *facts.unlisted(ledger_of(facts.build, TimeSource.TUNED)))
    return tuple({unit.name: _dumped(unit) for unit in reversed(units)}.values())


def _dumped(facts: LayerFacts) -> LayerView:
    """Make a layer of an engine dump; formats and times are those of the choice it came from, where known."""
    layer, tuned = facts.layer, facts.own_choice
    measured = facts.unit if facts.unit is not None and facts.unit.time_is is TimeSource.MEASURED else None
    tensors = tensors_of_engine(layer.inputs, layer.outputs)
    if tuned is not None and (tuned.inputs or tuned.outputs):
        tensors = tensors_of_formats(tuned.inputs, tuned.outputs)
    return LayerView(
        name=layer.name,
        span=layer.span,
        runner=layer.type or None,
        runner_id=facts.engine.build.runner_ids.get(tuned.runner) if tuned is not None else None,
        tactic=None if layer.type == FOREIGN_NODE else layer.tactic,
        kernel=layer.tactic_name or None,
        tensors=tensors,
        time_ms=tuned.time_ms if tuned is not None else None,
        runner_up_ms=facts.runner_up_ms,
        onnx_nodes=layer.onnx_nodes,
        reads=tuple(tensor.name for tensor in layer.inputs),
        writes=tuple(tensor.name for tensor in layer.outputs),
        operation=facts.kind,
        shape=tuple(tensor.dims for tensor in (*layer.inputs[:1], *layer.outputs)),
        inside=facts.inside,
        measured_ms=facts.time_ms if measured else None,
        median_ms=facts.median_ms if measured else None,
        time_span=measured.span if measured else None,
    )


def _tuned(build: Build) -> list[LayerView]:
    """Make the layers of a log without an engine dump from the choices and cached results that may be final."""
    kept = (each for each in build.tuned_results if each.final is not False and build.may_be_in_engine(each.pass_index))
    by_layer = grouped(sorted(kept, key=lambda result: result.span.line), lambda result: result.layer)
    return [_tuned_layer(build, layer, tuned) for layer, tuned in by_layer.items()]


def _tuned_layer(build: Build, name: str, tuned: list[Choice | CachedResult]) -> LayerView:
    """Make a layer of what was tuned for it; of combinations that differ, its name alone."""
    first = tuned[0]
    if len({(result.tactic, result.runner, result.inputs, result.outputs) for result in tuned}) > 1:
        return LayerView(name, first.span)
    return LayerView(
        name=name,
        span=first.span,
        runner=first.runner,
        runner_id=build.runner_ids.get(first.runner),
        tactic=None if first.runner == FOREIGN_NODE else first.tactic,
        kernel=first.kernel or None,
        tensors=tensors_of_formats(first.inputs, first.outputs),
        time_ms=first.time_ms,
        runner_up_ms=getattr(first, "runner_up_ms", None),
        operation=operation_of_type(first.runner),
    )


def of_replay(replay: Replay) -> BuildView:
    """Return the layers that a replay pins, as a build."""
    layers = tuple(
        LayerView(
            name=entry.layer,
            span=entry.span,
            runner_id=entry.runner_id,
            tactic=entry.tactic,
            tensors=tensors_of_replay(entry.inputs, entry.outputs),
        )
        for entry in replay.entries
    )
    notes = [f"{len(replay.shadowed)} entries stand twice; the last of each counts"] if replay.shadowed else []
    notes += [f"{len(replay.problems)} problems in it: `trtforensics replay lint` tells"] if replay.problems else []
    what = f"form {replay.form}" if replay.form else ""
    return BuildView(replay.source.path, Kind.REPLAY, what, layers, notes=tuple(notes))


def of_engine_info(info: EngineInfo) -> tuple[BuildView, ...]:
    """Return the engines of an engine-layer file."""
    count = len(info.engines)
    repaired = (f"{len(info.repairs)} names in it are not escaped",) if info.repairs else ()
    return tuple(
        BuildView(
            source=info.source.path,
            kind=Kind.LAYER_INFO,
            what=f"document {number} of {count}" if count > 1 else "",
            layers=tuple(map(_dumped, EngineFacts(build_of_layers(info.source, engine.layers)).layers)),
            notes=repaired if engine.detailed else (*repaired, "it holds names only: built without detailed profiling"),
        )
        for number, engine in enumerate(info.engines, 1)
    )


def of_profile(profile: ProfileInfo) -> BuildView:
    """Return the layers of a profile file, of its last run."""
    build = replace(build_of_layers(profile.source, ()), profiles=profile.runs[-1:])
    layers = tuple(map(_dumped, EngineFacts(build).listed))
    return BuildView(profile.source.path, Kind.PROFILE, _last(profile.runs), layers)


def of_times(times: InferenceTimes) -> BuildView:
    """Return the times of the last run in a times file."""
    return BuildView(times.source.path, Kind.TIMES, _last(times.runs), None, run=run_of_samples(times.runs[-1]))


def _last(several: Sized) -> str:
    return f"run {len(several)} of {len(several)}" if len(several) > 1 else ""


def of_timing_cache(cache: TimingCache) -> BuildView:
    """Return the operations of a timing cache."""
    what = f"made from {cache.made_from}" if cache.made_from and cache.made_from != cache.source.path else ""
    operations = _operations(cache.keys) or ()
    return BuildView(cache.source.path, Kind.TIMING_CACHE, what, None, operations, None, cache.tensorrt_version)


def _timed_by_myelin(build: Build) -> Iterable[MyelinOperation]:
    """Return the operations with a timing-cache key, and those without one that the engine's own choices contain."""
    used = (choice for choice in build.choices if choice.final and is_foreign_node(choice.layer))
    keyless = (operation for choice in used for operation in build.operations_of(choice) if not operation.key)
    return (*build.timing_cache_keys, *keyless)


def _operations(keys: Iterable[MyelinOperation]) -> tuple[LayerView, ...] | None:
    """Make views of operations, of each key the last; if no candidate is selected, the first is taken, the cheapest."""
    by_key = {key.key or (key.foreign_node, key.op): _operation(key) for key in keys}
    return tuple(by_key.values()) or None


def _operation(key: MyelinOperation) -> LayerView:
    first = key.candidates[0] if key.candidates else None
    tactic = key.selected if key.selected is not None else first.tactic if first else None
    taken = next((candidate for candidate in key.candidates if candidate.tactic == tactic), None)
    others = [other.time_ms for other in key.candidates if other.tactic != tactic and other.time_ms is not None]
    return LayerView(
        name=key.op or key.key,
        span=key.span,
        tactic=tactic,
        kernel=taken.kernel if taken and taken.kernel else None,
        time_ms=key.time_ms if key.time_ms is not None else taken.time_ms if taken else None,
        runner_up_ms=min(others, default=None),
        key=key.key,
    )
