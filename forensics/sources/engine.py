"""Loads engine-layer and profile JSON of one engine from paths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trtforensics.errors import UsageError
from trtforensics.model.profile import TimeSource
from trtforensics.parsers.builds.results import with_times
from trtforensics.parsers.files.layer_json import read_layer_json
from trtforensics.parsers.files.profile_json import read_profile_json
from trtforensics.parsers.notation.names import members
from trtforensics.parsers.text.document import read_document
from trtforensics.sources.kinds import Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from trtforensics.model.engine import Engine, EngineInfo, ProfileInfo
    from trtforensics.model.log import Build, BuildLog
    from trtforensics.model.profile import LayerTime


@dataclass(frozen=True, slots=True)
class EngineFiles:
    """Engine-layer files and profiles of one engine, in the order in which the user named them."""

    layers: tuple[EngineInfo, ...]
    profiles: tuple[ProfileInfo, ...]

    def times(self, engine: Engine) -> tuple[LayerTime | None, ...]:
        """Return the time of each layer in the last run that fits this engine; None for layers without a time."""
        names = [layer.name for layer in engine.layers]
        runs = [engine.profile] if engine.profile is not None else []
        runs += [run for profile in self.profiles for run in profile.runs]
        fitting = [run for run in (run.joined(names) for run in runs) if run.fits]
        times = {row.engine_layer: row for row in fitting[-1].layers} if fitting else {}
        return tuple(times.get(place) for place in range(len(engine.layers)))


def load_engine_files(paths: Sequence[str], *, kind: str | None, max_bytes: int) -> EngineFiles:
    """Read engine-layer and profile files; ``kind``, for a single source, replaces the kind that its content shows.

    Raises:
        SourceError: a source cannot be read.
        NotEngineInfoError: a source is damaged.
        UsageError: a source is of another kind.
    """
    layers: list[EngineInfo] = []
    profiles: list[ProfileInfo] = []
    for path in paths:
        of = Kind(kind) if kind and len(paths) == 1 else kind_of(path)
        if of is Kind.LAYER_INFO:
            layers.append(read_layer_json(read_document(path, max_bytes=max_bytes)))
        elif of is Kind.PROFILE:
            profiles.append(read_profile_json(read_document(path, max_bytes=max_bytes)))
        else:
            what = f"is of kind {of} and goes with no engine-layer JSON or profile"
            raise UsageError(path, what, "Name files of `--exportLayerInfo` and `--exportProfile` of one engine")
    return EngineFiles(tuple(layers), tuple(profiles))


def layers_told(build: Build) -> set[str]:
    """Return the layers that a build names: its engine's, else its profile's, else tuned ones, or names alone."""
    dumped = {layer.name for layer in build.engine_layers} or {row.name for row in build.profile}
    tuned = {result.layer for result in build.tuned_results if result.final is not False}
    return dumped or tuned or set(build.layer_names)


def in_common(build: Build, names: Collection[str]) -> set[str]:
    """Return which of the layers that a build names are among other names, or are fused into one of them."""
    layers = layers_told(build)
    return layers.intersection(names) or layers & {part for name in names for part in members(name)}


def add_profile(log: BuildLog, info: ProfileInfo) -> Build:
    """Add the last run of a profile to the build whose engine it timed, and return that build.

    That is the last build whose engine layers the profile fits; where no build tells its layers, the last one.

    Raises:
        UsageError: no build of the log has the layers of the profile.
    """
    run = info.runs[-1]
    names = {row.name for row in run.layers}
    telling = [build for build in log.builds if layers_told(build)]
    shared = {build.index: len(in_common(build, names)) for build in telling}
    least = {b.index: len(names) if b.engine_layers else min(len(names), len(layers_told(b))) for b in telling}
    fitting = [build for build in telling if shared[build.index] * 2 > least[build.index]]
    build = next(reversed(fitting if telling else list(log.builds)), None)
    if build is None:
        most = max(shared.values(), default=0)
        what = f"is of another engine: {log.source.path} names {most} of the {len(names)} layers that it times"
        raise UsageError(info.source.path, what, "Give the profile that was exported from this build's engine")
    build.profiles = with_times(build.engine_layers, (*build.profiles, run), build.choices, build.cached)
    build.coverage = replace(build.coverage, times=TimeSource.MEASURED)
    return build
