"""The input of a rule: one build, and the other files that the user gave about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from trtforensics.engines.deriving import facts_of
from trtforensics.errors import ForensicsError
from trtforensics.findings.baseline import LoggedBuild, root_differences
from trtforensics.findings.sums import sums_of
from trtforensics.findings.versions import Version
from trtforensics.model.older_python import StrEnum
from trtforensics.parsers.builds.profiles import with_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.diff.differences import Difference
    from trtforensics.engines.facts import EngineFacts
    from trtforensics.findings.sums import TunedSum
    from trtforensics.model.engine import EngineInfo
    from trtforensics.model.log import Build, BuildLog, EngineLayer
    from trtforensics.model.notes import Note
    from trtforensics.model.replay import Problem
    from trtforensics.sources.onnx_model import OnnxModel
    from trtforensics.sources.replay import ReplayFile


T = TypeVar("T")


class Need(StrEnum):
    """An input beside the log that a rule may need."""

    ONNX = "onnx"
    REPLAY = "replay"
    LAYER_INFO = "layer-info"
    OTHER_LOG = "other-log"


@dataclass(frozen=True)
class Case:
    """One build of one log; inputs that the user did not give are None.

    ``baseline`` is the first build of an earlier log of the same model. ``explained`` are the lines that findings of
    other rules cite; only for rules that run last.
    """

    build: Build
    log: BuildLog
    model: OnnxModel | None = None
    replay: ReplayFile | None = None
    engine_info: EngineInfo | None = None
    baseline: LoggedBuild | None = None
    explained: frozenset[int] = frozenset()

    def has(self, need: Need) -> bool:
        """Whether the user gave an input."""
        inputs = {
            Need.ONNX: self.model,
            Need.REPLAY: self.replay,
            Need.LAYER_INFO: self.engine_info,
            Need.OTHER_LOG: self.baseline,
        }
        return inputs[need] is not None

    @property
    def the_model(self) -> OnnxModel:
        """The ONNX model; only for rules that declare that they need it."""
        return _declared(self.model, Need.ONNX)

    @property
    def the_replay(self) -> ReplayFile:
        """The replay; only for rules that declare that they need it."""
        return _declared(self.replay, Need.REPLAY)

    @property
    def the_baseline(self) -> LoggedBuild:
        """The build to compare with; only for rules that declare that they need it."""
        return _declared(self.baseline, Need.OTHER_LOG)

    @cached_property
    def version(self) -> Version | None:
        """The TensorRT version; None where the log does not state it."""
        return Version.of(self.build)

    @cached_property
    def differences(self) -> Sequence[Difference]:
        """The differences from the baseline that follow from no other difference; none where a log shows no layers."""
        return root_differences(self.the_baseline, LoggedBuild(self.log, self.build))

    @cached_property
    def replay_problems(self) -> Sequence[Problem]:
        """The problems of the replay in this build; none where the log does not show which tactics were offered."""
        from trtforensics.replay.lint import Lint  # noqa: PLC0415 - only where a replay is given

        lint = Lint(self.the_replay.replay, self.the_replay.place)
        try:
            lint.against_build(self.build, self.log.source.path)
        except ForensicsError:
            return ()  # a log without autotuning
        return lint.report().problems

    @cached_property
    def engine(self) -> Sequence[EngineLayer]:
        """The engine's layers: of the engine-layer file where that is detailed, else of the log.

        The build's profile lends those of the file its times.
        """
        detailed = [
            engine.layers for engine in (self.engine_info.engines if self.engine_info else ()) if engine.detailed
        ]
        if not detailed:
            return self.build.engine_layers
        with_times(detailed[-1], self.build.profiles, (), ())
        return detailed[-1]

    @cached_property
    def facts(self) -> EngineFacts:
        """The layers of the build's engine with what is derived of them."""
        return facts_of(self.build, self.log.source.path, self.model)

    @cached_property
    def sums(self) -> Sequence[TunedSum]:
        """The matrix products and convolutions of the build."""
        return sums_of(self.build, self.log)

    @cached_property
    def _notes(self) -> dict[str, list[Note]]:
        by_kind: dict[str, list[Note]] = {}
        for note in self.build.notes:
            by_kind.setdefault(note.kind, []).append(note)
        return by_kind

    def may_concern(self, rule_reads: frozenset[str]) -> bool:
        """Whether the build has a note of one of the kinds that a rule reads, or the rule reads more than notes."""
        return not rule_reads or not rule_reads.isdisjoint(self._notes)

    def notes(self, *kinds: str) -> list[Note]:
        """Return the notes of these kinds (names of grammar rules), in the log's order."""
        if len(kinds) == 1:
            return self._notes.get(kinds[0], [])
        return sorted((n for kind in kinds for n in self._notes.get(kind, ())), key=lambda note: note.span.line)


def _declared(value: T | None, need: Need) -> T:
    """Return an input that is there whenever the rule declares its need.

    Raises:
        LookupError: The rule does not declare its need.
    """
    if value is None:
        raise LookupError(f"a rule uses {need.value} without declaring that it needs it")
    return value
