"""Makes a build of the common form (``views.py``) of a parsed source: one function for each kind of source."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from trtforensics.comparison import runs
from trtforensics.comparison.views import BuildView, LayerView, tensors_of_engine, tensors_of_formats, tensors_of_replay
from trtforensics.engines.facts import EngineFacts
from trtforensics.engines.joining import build_of_layers
from trtforensics.model.layer_types import FOREIGN_NODE, is_foreign_node, operation_of_type
from trtforensics.model.ledger import ledger_of
from trtforensics.model.profile import TimeSource
from trtforensics.render.headline import headline_of
from trtforensics.sources.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sized

    from trtforensics.engines.facts import LayerFacts
    from trtforensics.model.engine import EngineInfo, ProfileInfo, TimingCache
    from trtforensics.model.log import Build, BuildLog, CachedResult, Choice, MyelinOperation
    from trtforensics.model.profile import InferenceTimes
    from trtforensics.model.replay import Replay


def of_log(log: BuildLog) -> BuildView | None:
    """Return the last build with an engine dump, else the last with tuning or a profile, else the last with results.

    None where no build has any of them.
    """
    candidates = [b for b in log.builds if b.engine_layers or b.layer_names]
    candidates = candidates or [b for b in log.builds if _tells_of_layers(b)]
    candidates = candidates or [b for b in log.builds if runs.of_build(b).totals]
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
        run=runs.of_build(_timed_build(log, build)),
        unlisted=_unlisted(facts),
        headline=headline_of(log, build).text if log.runs else "",
    )


def _tells_of_layers(build: Build) -> bool:
    return bool(build.choices or build.cached or build.timing_cache_keys or build.fusions or build.profiles)


def _timed_build(log: BuildLog, build: Build) -> Build:
    """Return the build itself where it was run, else the run of its engine that follows it in the log."""
    if runs.of_build(build).totals:
        return build
    for later in log.builds[build.index + 1 :]:
        if later.engine_layers or later.layer_names or _tells_of_layers(later):
            break
        if runs.of_build(later).totals:
            return later
    return build


def _log_layers(facts: EngineFacts) -> tuple[tuple[LayerView, ...] | None, tuple[str, ...]]:
    build = facts.build
    if build.engine_layers:
        return tuple(map(_dumped, facts.layers)), ()
    if build.profile:
        return tuple(map(_dumped, facts.listed)), ("it prints no engine layers: those of its profile count",)
    tuned = _tuned(build)
    undecided = sum(bool(layer.undecided) for layer in tuned)
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
        **_measured(facts),
    )


def _measured(facts: LayerFacts) -> dict[str, Any]:
    if facts.unit is None or facts.unit.time_is is not TimeSource.MEASURED:
        return {}
    return {"measured_ms": facts.time_ms, "median_ms": facts.median_ms, "time_span": facts.unit.span}


def _tuned(build: Build) -> list[LayerView]:
    """Make the layers of a log without an engine dump from the choices and cached results that may be final."""
    by_layer: dict[str, list[Choice | CachedResult]] = {}
    for result in sorted(build.tuned_results, key=lambda result: result.span.line):
        if result.final is not False and build.may_be_in_engine(result.pass_index):
            by_layer.setdefault(result.layer, []).append(result)
    return [_tuned_layer(build, layer, tuned) for layer, tuned in by_layer.items()]


def _tuned_layer(build: Build, name: str, tuned: list[Choice | CachedResult]) -> LayerView:
    """Make a layer of what was tuned for it; combinations that differ leave it undecided."""
    first = tuned[0]
    if len({(result.tactic, result.runner, result.inputs, result.outputs) for result in tuned}) > 1:
        return LayerView(name, first.span, undecided=True)
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
    return BuildView(times.source.path, Kind.TIMES, _last(times.runs), None, run=runs.of_samples(times.runs[-1]))


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
    """Make views of operations, of each key the last.

    Without a ``selected`` line the first candidate counts as taken: TensorRT prints candidates sorted by cost.
    """
    by_key = {key.key or (key.foreign_node, key.op): _operation(key) for key in keys}
    return tuple(by_key.values()) or None


def _operation(key: MyelinOperation) -> LayerView:
    first = key.candidates[0] if key.candidates else None
    tactic = key.selected if key.selected is not None else first.tactic if first else None
    taken = next((candidate for candidate in key.candidates if candidate.tactic == tactic), None)
    others = [
        candidate.time_ms
        for candidate in key.candidates
        if candidate.tactic != tactic and candidate.time_ms is not None
    ]
    return LayerView(
        name=key.op or key.key,
        span=key.span,
        tactic=tactic,
        kernel=taken.kernel if taken and taken.kernel else None,
        time_ms=key.time_ms if key.time_ms is not None else taken.time_ms if taken else None,
        runner_up_ms=min(others, default=None),
        key=key.key,
    )
