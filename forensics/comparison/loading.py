"""Loads the builds of one side of a comparison, with profiles and times joined to the engines that they time."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from trtforensics.comparison import views
from trtforensics.comparison.views import BuildView
from trtforensics.console.counting import counted, grouped
from trtforensics.engines.joining import load_joined
from trtforensics.errors import ForensicsError, UsageError
from trtforensics.parsers.files.layer_json import read_layer_json
from trtforensics.parsers.files.profile_json import read_profile_json, read_times_json
from trtforensics.parsers.text.document import read_document
from trtforensics.parsers.text.source import MAX_BYTES
from trtforensics.sources.build_log import load_build_log
from trtforensics.sources.cache import is_binary, load_timing_cache
from trtforensics.sources.kinds import Kind, kind_of


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """The good or the bad builds at a ``path``; ``skipped`` are unused files of a directory, each with why."""

    path: str
    builds: tuple[BuildView, ...]
    skipped: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return f"<{PurePath(self.path).name}: {counted(len(self.builds), 'build')}>"


def load_side(
    path: str,
    name: str,
    *,
    max_bytes: int = MAX_BYTES,
    kind: Kind | None = None,
    on_file: Callable[[str], None] = lambda _: None,
) -> ComparedSide:
    """Read a side of a comparison: a file, a directory of files, or the ``name`` part of an artifacts directory.

    ``name`` is ``good`` or ``bad``. In a directory, regular files (and links to such) are read, subfolders too; links
    to directories are not followed. Profiles and times files are joined to the engines that they time. ``on_file`` is
    called with the name of each file before it is read.

    Raises:
        ForensicsError: a file that was named cannot be used, or no file of a directory can.
    """
    folder = Path(path)
    if path == "-" or not folder.is_dir():
        on_file(path)
        return ComparedSide(path, _views(path, kind, max_bytes))
    if (folder / name).is_dir():
        folder /= name
    builds: list[BuildView] = []
    skipped: list[tuple[str, str]] = []
    for file, why in files_in(folder):
        if why:
            skipped.append((file, why))
            continue
        on_file(file)
        try:
            builds += _views(file, kind, max_bytes)
        except ForensicsError as error:
            skipped.append((file, error.what if error.where == file else f"{error.where}: {error.what}"))
    if not builds:
        files = counted(len(skipped), "file")
        tried = f"Tried {files}, the first: {': '.join(skipped[0])}" if skipped else ""
        raise UsageError(str(folder), "holds no file that tells of a build", tried or "It is empty")
    return ComparedSide(path, joined(builds, max_bytes), tuple(skipped))


def with_files(
    side: ComparedSide, files: Sequence[str], *, max_bytes: int = MAX_BYTES, on_file: Callable[[str], None]
) -> ComparedSide:
    """Return a side of one file with more about its engine; a ForensicsError where it is a directory, or one fails."""
    if not files:
        return side
    if Path(side.path).is_dir():
        raise UsageError(side.path, "is a directory, to which no further files can be given", "Put them into it")
    if side.path == "-":
        raise UsageError("-", "is read once and goes with no further files", "Name a file")
    times = [file for file in files if kind_of(file) is Kind.TIMES]
    others = [file for file in files if file not in times]
    for file in files:
        on_file(file)
    builds = (_together(side.path, others, max_bytes),) if others else side.builds
    timed = [view for file in times for view in _views(file, Kind.TIMES, max_bytes)]
    return replace(side, builds=joined((*builds, *timed), max_bytes))


def _together(path: str, others: Sequence[str], max_bytes: int) -> BuildView:
    """Read a file with more files about its engine; of several engines in it, the one that the files are of."""
    whole = load_joined([path, *others], max_bytes=max_bytes)
    told = tuple(build for build in whole.log.builds if build.profiles and not whole.has_log)
    view = views.of_log(replace(whole.log, builds=told) if told else whole.log)
    if view is None:
        raise UsageError(path, "tells of no layer, no tactic, no fusion and no time", _WHAT_TO_GIVE)
    kind = view.kind if whole.has_log else Kind.LAYER_INFO
    notes = (*view.notes, f"read with {', '.join(others)}", *map(str, whole.unjoined))
    return replace(view, kind=kind, notes=notes)


def files_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Give the files of a directory in order of their names, each with why it cannot be read (empty: it can)."""
    refused: list[tuple[str, str]] = []
    walk = os.walk(folder, onerror=lambda error: refused.append((str(error.filename), error.strerror or str(error))))
    for root, folders, names in walk:
        folders.sort()
        for name in sorted((*names, *(f for f in folders if Path(root, f).is_symlink()))):
            yield str(Path(root, name)), _refusal(Path(root, name))
    yield from refused


def _refusal(path: Path) -> str:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return error.strerror or str(error)
    if stat.S_ISDIR(mode):
        return "is a link to a directory, which is not followed"
    return "" if stat.S_ISREG(mode) else "is no regular file"


def _views(path: str, kind: Kind | None, max_bytes: int) -> tuple[BuildView, ...]:
    kind = kind or kind_of(path)
    if kind is Kind.REPLAY:
        from trtforensics.sources.replay import load_replay  # noqa: PLC0415 - only for this kind

        return (views.of_replay(load_replay(path, max_bytes=max_bytes)),)
    if kind is Kind.LAYER_INFO:
        return views.of_engine_info(read_layer_json(read_document(path, max_bytes=max_bytes)))
    if kind is Kind.PROFILE:
        profile = views.of_profile(read_profile_json(read_document(path, max_bytes=max_bytes)))
        if not profile.layers:
            raise UsageError(path, "is a profile of no layers", "Export it again with `trtexec --exportProfile`")
        return (profile,)
    if kind is Kind.TIMES:
        return (views.of_times(read_times_json(read_document(path, max_bytes=max_bytes))),)
    if kind is Kind.TIMING_CACHE or is_binary(path):
        return (views.of_timing_cache(load_timing_cache(path, max_bytes=max_bytes)),)
    if kind is not Kind.BUILD_LOG:
        raise UsageError(path, f"is of kind {kind}, which tells of no layer and no time", _WHAT_TO_GIVE)
    view = views.of_log(load_build_log([path], max_bytes=max_bytes))
    if view is None:
        raise UsageError(path, "tells of no layer, no tactic, no fusion and no time", "Build with `trtexec --verbose`")
    return (view,)


_WHAT_TO_GIVE = "Give build logs, tactic replays, engine-layer JSON, profiles, times or timing-cache exports"


def joined(files: Sequence[BuildView], max_bytes: int = MAX_BYTES) -> tuple[BuildView, ...]:
    """Return the builds of a side with profiles and times files joined to the engines that they time.

    A profile goes to the engine that has most of its layers, a times file to the engine whose file has its stem, or to
    the only engine. A file that fits no engine stays a separate build.
    """
    every = [file for file in files if file.kind not in {Kind.PROFILE, Kind.TIMES}]
    profiles = grouped(
        (file for file in files if file.kind is Kind.PROFILE), lambda file: _place_of_profile(file, every)
    )
    alone = profiles.pop(None, [])
    for place, of_engine in profiles.items():
        every[place or 0] = _together(every[place or 0].source, [file.source for file in of_engine], max_bytes)
    every += alone
    for file in (each for each in files if each.kind is Kind.TIMES):
        place = _place_of_times(file, every)
        if place is None:
            every.append(file)
        else:
            every[place] = _with_times(every[place], file)
    return tuple(every)


def _place_of_profile(profile: BuildView, engines: Sequence[BuildView]) -> int | None:
    """Return the only engine that has most rows of a profile; of several, the one whose file has its stem."""
    names = [layer.name for layer in profile.layers or ()]
    owned = [
        set() if engine.kind in {Kind.REPLAY, Kind.PROFILE} else {layer.name for layer in engine.layers or ()}
        for engine in engines
    ]
    counts = [sum(name in layers for name in names) for layers in owned]
    best = max(counts, default=0)
    if best * 2 <= len(names):
        return None
    fitting = [place for place, count in enumerate(counts) if count == best]
    alike = [place for place in fitting if _stem(engines[place].source) == _stem(profile.source)]
    chosen = fitting if len(fitting) == 1 else alike
    return chosen[0] if len(chosen) == 1 else None


def _place_of_times(times: BuildView, engines: Sequence[BuildView]) -> int | None:
    alike = [place for place, engine in enumerate(engines) if _stem(engine.source) == _stem(times.source)]
    if len(alike) == 1:
        return alike[0]
    return 0 if len(engines) == 1 else None


def _with_times(engine: BuildView, times: BuildView) -> BuildView:
    """Give an engine the totals of a times file; what only its log tells stays."""
    if engine.run is None or times.run is None:
        run = times.run or engine.run
    else:
        run = replace(engine.run, totals={**engine.run.totals, **times.run.totals})
    return replace(engine, run=run, notes=(*engine.notes, f"its latency is that of {times.source}"))


def _stem(path: str) -> str:
    """Return what the files of one engine have in common: ``a/model`` of ``a/model.profile.json``."""
    pure = PurePath(path)
    name = pure.name
    for suffix in (".gz", ".zst", ".json", ".log", ".txt"):
        name = name.removesuffix(suffix)
    return str(pure.with_name(name.rpartition(".")[0] or name))
