"""Loads engine-layer and profile JSON of one engine from paths."""

from collections.abc import Sequence
from dataclasses import dataclass

from trtforensics.errors import UsageError
from trtforensics.model.engine import Engine, EngineInfo, ProfileInfo
from trtforensics.model.timings import LayerTime
from trtforensics.parsers.files.layer_json import read_layer_json
from trtforensics.parsers.files.profile_json import read_profile_json
from trtforensics.parsers.text.document import read_document
from trtforensics.sources.kinds import Kind, kind_of


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
    """Read engine-layer and profile files; ``kind``, for a single source, replaces what its content shows.

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
