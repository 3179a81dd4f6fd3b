"""One engine from all files about it: a log, engine-layer JSON, profiles, times, the ONNX model, or several of them.

Files join by the names of layers. The result is a :class:`~trtforensics.model.log.BuildLog`, so that code for logs
takes engine files too. The engine layers of a file go to the log's build that has most of their names, and keep their
origins in its tuning; without a log, each engine of a file is a separate build.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.console import streams
from trtforensics.console.counting import counted, listed
from trtforensics.console.terminal import visible
from trtforensics.engines.facts import EngineFacts
from trtforensics.errors import UsageError
from trtforensics.model.layer_types import NO_KERNEL
from trtforensics.model.log import Build, BuildLog, EngineLayer
from trtforensics.model.span import LineCounts, SourceInfo, SourceSpan
from trtforensics.model.timings import InferenceTimes, TimeSource
from trtforensics.parsers.builds.engine import name_kernels
from trtforensics.parsers.builds.origins import Tuning, resolve
from trtforensics.parsers.builds.results import with_times
from trtforensics.parsers.files.layer_json import read_layer_json
from trtforensics.parsers.files.profile_json import read_profile_json, read_times_json
from trtforensics.parsers.notation.names import members
from trtforensics.parsers.notation.precision import compute_precision
from trtforensics.parsers.text.document import read_document
from trtforensics.parsers.text.source import MAX_BYTES
from trtforensics.sources.build_log import load_build_log
from trtforensics.sources.kinds import ONNX, Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from trtforensics.console.progress import Progress
    from trtforensics.model.engine import Engine, EngineInfo, ProfileInfo
    from trtforensics.onnx_models.checked import CheckedModel


_HALF = 2
_WHAT_GOES = "Give a build log, engine-layer JSON, a profile, times and the ONNX model of one engine"
_SORTS = (Kind.BUILD_LOG, Kind.LAYER_INFO, Kind.PROFILE, Kind.TIMES, ONNX)


@dataclass(frozen=True, slots=True)
class Unjoined:
    """What of a file is of no layer of the engine: ``path`` and, in words, what."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


@dataclass(frozen=True)
class JoinedSources:
    """Files about one engine, put together. ``log`` holds its build; ``has_log`` is False where it is made of files.

    ``layer_files``, ``profile_files`` and ``times_files`` are as read; times are of inferences, and join no layer.
    ``unjoined`` says what of a file joined nothing.
    """

    log: BuildLog
    has_log: bool
    layer_files: tuple[EngineInfo, ...] = ()
    profile_files: tuple[ProfileInfo, ...] = ()
    times_files: tuple[InferenceTimes, ...] = ()
    model: CheckedModel | None = None
    unjoined: tuple[Unjoined, ...] = ()

    def __repr__(self) -> str:
        return f"<files of {self.log.source.path}: {len(self.log.builds)} builds>"

    def engine(self, number: int | None = None) -> EngineFacts:
        """Return the engine of a build; a UsageError where there is none of that number; see :func:`select_build`."""
        return self.engine_of(select_build(self.log, number))

    def engine_of(self, build: Build) -> EngineFacts:
        """Return the engine of one of the builds with the facts of its layers."""
        several = f" build {build.index + 1}" if len(self.log.builds) > 1 else ""
        return EngineFacts(build, f"{self.log.source.path}{several}", self.model)


def select_build(log: BuildLog, number: int | None = None) -> Build:
    """Return the build of a number (from 1), else the last with engine layers, else the last. UsageError without."""
    builds = log.builds
    if number is None and builds:
        return next((build for build in reversed(builds) if build.engine_layers), builds[-1])
    if number is not None and 1 <= number <= len(builds):
        return builds[number - 1]
    listed = "; ".join(
        f"{build.index + 1} (lines {build.first_line}-{build.last_line}, {len(build.engine_layers)} engine layers)"
        for build in builds
    )
    what = "it holds no build" if number is None else f"it has no build {number}"
    raise UsageError(log.source.path, what, f"Its builds are {listed}" if builds else _WHAT_GOES)


def load_joined(
    paths: Sequence[str],
    *,
    kind: Kind | None = None,
    model: str | None = None,
    max_bytes: int = MAX_BYTES,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> JoinedSources:
    """Read files about one engine and join them.

    ``kind``, for a single path, replaces the kind that its content shows. ``model`` is a further ONNX model, which is
    known by its ending.

    Raises:
        SourceError: a source cannot be read.
        NotABuildLogError: a source that is of no other kind is no build log.
        NotEngineInfoError: a JSON file is damaged.
        UsageError: a file is named twice, tells of no engine, or is about another one.
    """
    divided = _divide(paths, kind)
    logs = divided.pop(Kind.BUILD_LOG)
    log = load_build_log(logs, max_bytes=max_bytes, on_progress=on_progress) if logs else None
    return _joined(log, divided, [*divided[ONNX], *([model] if model else [])], max_bytes)


def join_files(log: BuildLog, paths: Sequence[str], *, max_bytes: int = MAX_BYTES) -> JoinedSources:
    """Join files to a log that was read: engine-layer JSON, profiles, times and the ONNX model of its engine.

    Raises:
        SourceError: a file cannot be read.
        NotEngineInfoError: a JSON file is damaged.
        UsageError: a file is named twice, tells of no engine, is about another one, or is a second log.
    """
    divided = _divide(paths, None)
    logs = divided.pop(Kind.BUILD_LOG)
    if logs:
        raise UsageError(logs[0], f"is a second log beside {log.source.path}", _WHAT_GOES)
    return _joined(log, divided, divided[ONNX], max_bytes)


def say_unjoined(joined: JoinedSources, *, quiet: bool) -> None:
    """Name rows that match no layer on stderr, a line each, unless ``quiet``."""
    for rest in () if quiet else joined.unjoined:
        streams.tell(f"trtforensics: note: {visible(str(rest))}\n")


def _joined(
    log: BuildLog | None, divided: Mapping[str, Sequence[str]], models: Sequence[str], max_bytes: int
) -> JoinedSources:
    if len(models) > 1:
        raise UsageError(models[1], "is a second ONNX model", "One engine is built from one")
    infos = tuple(read_layer_json(read_document(path, max_bytes=max_bytes)) for path in divided[Kind.LAYER_INFO])
    runs = tuple(read_profile_json(read_document(path, max_bytes=max_bytes)) for path in divided[Kind.PROFILE])
    times = tuple(read_times_json(read_document(path, max_bytes=max_bytes)) for path in divided[Kind.TIMES])
    read = infos or runs or times
    if log is None and not read:
        raise UsageError(" ".join(models), "tells of no engine by itself", _WHAT_GOES)
    joining = _Joining(BuildLog(read[0].source, LineCounts(), 0, (), (), np.zeros(1, np.int64)) if log is None else log)
    for info in infos:
        joining.add_layers(info, has_log=log is not None)
    for run in runs:
        joining.add_profile(run)
    onnx = None
    if models:
        from trtforensics.onnx_models.checked import read_checked  # noqa: PLC0415 - imports onnx, which is slow

        onnx = read_checked(models[0])
        joining.look_at_model(onnx)
    return JoinedSources(joining.log, log is not None, infos, runs, times, onnx, tuple(joining.unjoined))


def goes_together(paths: Sequence[str]) -> bool:
    """Whether files are about one engine: of no kind but profiles are there two. SourceError for an unreadable one."""
    if any(Path(path).is_dir() for path in paths):
        return False
    kinds = [_kind(path) for path in paths]
    several = {kind for kind in kinds if kinds.count(kind) > 1}
    return len(set(kinds)) > 1 and several <= {Kind.PROFILE} and set(kinds) <= set(_SORTS)


def _divide(paths: Sequence[str], kind: Kind | None) -> dict[str, list[str]]:
    """Sort paths by kind; an ONNX model is known by its ending."""
    divided: dict[str, list[str]] = {of: [] for of in _SORTS}
    for path in paths:
        of = kind if kind and len(paths) == 1 else _kind(path)
        if of not in _SORTS:
            raise UsageError(path, f"holds no engine's layers: it is of the kind {of}", _WHAT_GOES)
        if paths.count(path) > 1:
            raise UsageError(path, "is named twice", "Name each file once")
        divided[of].append(path)
    return divided


def _kind(path: str) -> str:
    return ONNX if path.endswith(ONNX) else kind_of(path)


class _Joining:
    """A log to which files about its builds are added."""

    def __init__(self, log: BuildLog) -> None:
        self.log = log
        self.unjoined: list[Unjoined] = []

    def add_layers(self, info: EngineInfo, *, has_log: bool) -> None:
        """Give the log's builds the engine layers of a file, or without a log add its engines as builds."""
        path = info.source.path
        for engine in info.engines if not has_log else info.engines[-1:]:
            if not has_log:
                build = build_of_layers(info.source, engine.layers, len(self.log.builds))
                build.profiles = with_times(engine.layers, (engine.profile,) if engine.profile else (), (), ())
                _recover(build)
                self.log = replace(self.log, builds=(*self.log.builds, build))
                continue
            match = _build_of(engine, self.log.builds)
            if match is None:
                raise _other_engine(path, [layer.name for layer in engine.layers], self.log)
            if engine.detailed or not match.engine_layers:
                self._replace_layers(match, engine, path)

    def _replace_layers(self, build: Build, engine: Engine, path: str) -> None:
        printed = {layer.name: layer for layer in reversed(build.engine_layers)}
        for layer in engine.layers:
            dumped = printed.get(layer.name)
            if dumped is not None:
                layer.choice, layer.cached, layer.origin = dumped.choice, dumped.cached, dumped.origin
                layer.onnx_nodes = layer.onnx_nodes or dumped.onnx_nodes
                layer.tactic_name = layer.tactic_name or dumped.tactic_name
        missing = [name for name in printed if name not in {layer.name for layer in engine.layers}]
        if missing:
            self.unjoined.append(Unjoined(path, f"lacks {_listed(missing, 'layer')} of {self.log.source.path}"))
        if not printed:
            parts = (engine.layers, build.choices, build.cached, build.foreign_nodes, build.reformats, build.passes)
            resolve(Tuning(*map(tuple, parts)))  # type: ignore[arg-type]  # each is of its field's type
        name_kernels(engine.layers, build.choices, build.cached, build.timings)
        for layer in engine.layers:
            layer.compute_precision = compute_precision(layer)
        build.engine_layers = engine.layers
        build.profiles = with_times(engine.layers, build.profiles, build.choices, build.cached)
        _recover(build)

    def add_profile(self, info: ProfileInfo) -> None:
        """Give the layers of the build that a profile is of their times, those of its last run.

        It is the last build whose engine layers the profile fits; where no build tells its layers, the last one.

        Raises:
            UsageError: no build has the layers of the profile.
        """
        run, path = info.runs[-1], info.source.path
        if not self.log.builds:
            layers = tuple(EngineLayer(row.name, "", None, "", (), (), (), (), row.span) for row in run.layers)
            self.log = replace(self.log, builds=(build_of_layers(info.source, layers),))
        names = {row.name for row in run.layers}
        telling = [build for build in self.log.builds if _layers_told(build)]
        shared = {build.index: len(_in_common(build, names)) for build in telling}
        least = {b.index: len(names) if b.engine_layers else min(len(names), len(_layers_told(b))) for b in telling}
        fitting = [build for build in telling if shared[build.index] * _HALF > least[build.index]]
        if telling and not fitting:
            most, where = max(shared.values()), self.log.source.path
            what = f"is of another engine: {where} names {most} of the {len(names)} layers that it times"
            raise UsageError(path, what, "Give the profile that was exported from this build's engine")
        build = (fitting or self.log.builds)[-1]
        build.profiles = with_times(build.engine_layers, (*build.profiles, run), build.choices, build.cached)
        _recover(build)
        unjoined = [row.name for row in build.profile if row.engine_layer is None] if build.engine_layers else []
        if unjoined:
            self.unjoined.append(Unjoined(path, f"names no layer of the engine in {_listed(unjoined, 'row')}"))
        without = [layer.name for layer in build.engine_layers if layer.profile is None and layer.type not in NO_KERNEL]
        if without and run.layers:
            self.unjoined.append(Unjoined(path, f"lacks {_listed(without, 'layer')} of the engine"))

    def look_at_model(self, model: CheckedModel) -> None:
        """Say which ONNX nodes that the engine names the model does not have; names of old layers are nodes' names."""
        for build in self.log.builds:
            named = {node for layer in build.engine_layers for node in layer.onnx_nodes}
            for layer in build.engine_layers:
                if not layer.onnx_nodes:
                    layer.onnx_nodes = tuple(name for name in members(layer.name) if name in model.by_name)
            unknown = [name for name in sorted(named) if name not in model.by_name]
            if unknown:
                self.unjoined.append(Unjoined(model.path, f"lacks {_listed(unknown, 'ONNX node')} of the engine"))


def _recover(build: Build) -> None:
    """Bring a build's coverage up to date with the layers and times that it was given."""
    times = next((layer.time_is for layer in build.engine_layers if layer.time_is is not None), build.coverage.times)
    times = TimeSource.MEASURED if build.profiles else times
    has_layers = any(layer.type for layer in build.engine_layers)
    tactics = build.coverage.tactics or any(layer.tactic is not None for layer in build.engine_layers)
    build.coverage = replace(build.coverage, engine_layers=has_layers, times=times, tactics=tactics)


def _build_of(engine: Engine, builds: Sequence[Build]) -> Build | None:
    """Return the build that knows most of an engine's layers, with the same tactics; if none knows any, the last."""
    names = {layer.name for layer in engine.layers}
    telling = [build for build in builds if _layers_told(build)]
    if not telling:
        return builds[-1] if builds else None
    best = max(telling, key=lambda build: (len(_in_common(build, names)), build.index))
    enough = len(_in_common(best, names)) * _HALF >= min(len(names), len(_layers_told(best)))
    tactics = {layer.name: layer.tactic for layer in best.engine_layers if layer.tactic is not None}
    both = [tactics[layer.name] == layer.tactic for layer in engine.layers if layer.tactic and layer.name in tactics]
    return best if enough and sum(both) * _HALF >= len(both) else None


def _layers_told(build: Build) -> set[str]:
    """Return the layers that a build names: its engine's, else its profile's, else tuned ones, or names alone."""
    dumped = {layer.name for layer in build.engine_layers} or {row.name for row in build.profile}
    tuned = {result.layer for result in build.tuned_results if result.final is not False}
    return dumped or tuned or set(build.layer_names)


def _in_common(build: Build, names: Collection[str]) -> set[str]:
    """Return which of the layers that a build names are among other names, or are fused into one of them."""
    layers = _layers_told(build)
    return layers.intersection(names) or layers & {part for name in names for part in members(name)}


def _other_engine(path: str, names: Sequence[str], log: BuildLog) -> UsageError:
    """Return the error about layers of another engine than the log's: how many layers both have."""
    shared = max((len(_in_common(build, {*names})) for build in log.builds), default=0)
    what = f"is of another engine: {log.source.path} names {shared} of its {len(names)} layers"
    what += ", most with other tactics" if shared * _HALF >= len(names) else ""
    return UsageError(path, what, "Give the layers that were exported from this build's engine")


def _listed(names: Sequence[str], what: str) -> str:
    """Count names and give the first: ``2 layers (a, b)``."""
    return f"{counted(len(names), what)} ({listed(names)})"


def build_of_layers(source: SourceInfo, layers: tuple[EngineLayer, ...], index: int = 0) -> Build:
    """Return a build that has engine layers and nothing else."""
    build = Build(index, 1, max(source.lines, 1), engine_layers=layers)
    _recover(build)
    return build


@dataclass(frozen=True, slots=True)
class NumberedFile:
    """A joined file: path, kind, number of its first line (None for an ONNX model), and rows that match no layer."""

    path: str
    what: str
    first_line: int | None
    lines: int
    unjoined: tuple[str, ...] = ()


def number_on(joined: JoinedSources, lines: int) -> tuple[NumberedFile, ...]:
    """List the files that were joined, and let their facts' lines count on behind ``lines`` lines of a log.

    The spans in the builds of ``joined`` change; :attr:`~trtforensics.model.span.SourceSpan.line_in_file` stays.
    """
    files: list[tuple[str, str, int | None]] = [
        *((info.source.path, "engine layers", info.source.lines) for info in joined.layer_files),
        *((profile.source.path, "profile", profile.source.lines) for profile in joined.profile_files),
    ]
    words = "times of inferences, which join no layer"
    files += ((times.source.path, words, times.source.lines) for times in joined.times_files)
    if joined.model is not None:
        files.append((joined.model.path, f"ONNX model of {len(joined.model.nodes):,} nodes", None))
    numbered: list[NumberedFile] = []
    for path, what, count in files:
        unjoined = tuple(rest.what for rest in joined.unjoined if rest.path == path)
        numbered.append(NumberedFile(path, what, None if count is None else lines + 1, count or 0, unjoined))
        for build in joined.log.builds if lines else ():
            _move(build, path, lines)
        lines += count or 0
    return tuple(numbered)


def _move(build: Build, path: str, lines: int) -> None:
    """Move the lines of a file that a build's layers and profiles cite, unless they were moved before."""
    for layer in build.engine_layers:
        layer.span = _moved(layer.span, path, lines)
    build.profiles = tuple(
        replace(
            run,
            span=_moved(run.span, path, lines),
            layers=tuple(replace(row, span=_moved(row.span, path, lines)) for row in run.layers),
        )
        if run.span.file == path
        else run
        for run in build.profiles
    )


def _moved(span: SourceSpan, path: str, lines: int) -> SourceSpan:
    if span.file != path or span.before:
        return span
    return replace(span, line=span.line + lines, before=lines)
