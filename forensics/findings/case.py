"""The input of a rule: one build, the other files that the user gave about it, and a build to compare it with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from trtforensics.console.counting import grouped
from trtforensics.engines.facts import EngineFacts
from trtforensics.errors import ForensicsError
from trtforensics.findings.arithmetic import TunedSum, sums_of
from trtforensics.findings.versions import Version
from trtforensics.model.log import Build, BuildLog, EngineLayer, Fact, Tool
from trtforensics.model.older_python import StrEnum
from trtforensics.model.run import PhaseName
from trtforensics.parsers.builds.results import with_times

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from trtforensics.comparison.differences import Difference
    from trtforensics.findings.finding import Severity
    from trtforensics.model.engine import EngineInfo
    from trtforensics.model.notes import Note
    from trtforensics.model.replay import Problem
    from trtforensics.model.span import SourceSpan
    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.sources.replay import ReplayFile


T = TypeVar("T")


class Need(StrEnum):
    """An input beside the log that a rule may need."""

    ONNX = "onnx"
    REPLAY = "replay"
    LAYER_INFO = "layer-info"
    OTHER_LOG = "other-log"


class LoggedBuild(NamedTuple):
    """A build, and the log that it is in."""

    log: BuildLog
    build: Build

    @property
    def program(self) -> str:
        """The program that ran; empty where the log does not show it."""
        run = self.log.run_of(self.build)
        return run.program.value if run is not None and run.program else ""

    @property
    def loads_engine(self) -> bool:
        """Whether the run loads an engine that another run built: by trtexec's command, else by the run's phases."""
        if self.build.loads_engine or self.build.tool is Tool.TRTEXEC:
            return self.build.loads_engine
        run = self.log.run_of(self.build)
        phases = {phase.name for phase in run.phases} if run is not None else set()
        return PhaseName.LOAD in phases and phases.isdisjoint({PhaseName.IMPORT, PhaseName.BUILD})


@dataclass(frozen=True)
class Case:
    """One build of one log; inputs that the user did not give are None.

    ``baseline`` is the first build of an earlier log of the same model. ``explained`` are the lines that findings of
    other rules cite, and ``worst`` is the severity of the worst of these; only for rules that run last. ``excerpt`` is
    the text of a short log; the rule for logs without an error reads it.
    """

    build: Build
    log: BuildLog
    model: CheckedModel | None = None
    replay: ReplayFile | None = None
    engine_info: EngineInfo | None = None
    baseline: LoggedBuild | None = None
    explained: frozenset[int] = frozenset()
    worst: Severity | None = None
    excerpt: str = ""

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
    def checked(self) -> CheckedModel:
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

    @property
    def release(self) -> tuple[int, ...] | None:
        """The numbers of that version, 11 of TensorRT-RTX."""
        return None if self.version is None else self.version.numbers

    def ran(self, since: str = "", before: str = "") -> bool:
        """Whether the log states a TensorRT version within these bounds."""
        return self.version is not None and self.version.has(since, before)

    @property
    def loads_engine(self) -> bool:
        """Whether the run loads an engine that another run built."""
        return LoggedBuild(self.log, self.build).loads_engine

    def printed(self, block: str, name: str) -> list[Fact]:
        """Return the lines on which the log prints an option or a property of a block (``device``), by its name."""
        return [fact for fact in self.build.options.get(block, ()) if fact.name == name]

    @cached_property
    def differences(self) -> Sequence[Difference]:
        """The differences from the baseline that follow from no other difference; none where a log shows no layers."""
        from trtforensics.comparison.compare import compare  # noqa: PLC0415 - only where two logs are given
        from trtforensics.comparison.loading import ComparedSide  # noqa: PLC0415 - as above
        from trtforensics.comparison.views import of_log  # noqa: PLC0415 - as above

        both = self.the_baseline, LoggedBuild(self.log, self.build)
        views = [(log.source.path, of_log(replace(log, builds=(build,)))) for log, build in both]
        sides = [ComparedSide(path, (view,)) for path, view in views if view is not None]
        if len(sides) < len(both):
            return ()
        return [difference for difference in compare(*sides).differences if difference.cause is None]

    @cached_property
    def replay_problems(self) -> Sequence[Problem]:
        """The problems of the replay in this build; none where the log does not show which tactics were offered."""
        from trtforensics.replay.lint import Lint  # noqa: PLC0415 - only where a replay is given

        lint = Lint(self.the_replay.replay, self.the_replay.place)
        try:
            lint.against_build(self.build, self.log.source.path)
        except ForensicsError:
            return ()  # a log without autotuning
        return lint.problems

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
        return EngineFacts(self.build, self.log.source.path, self.model)

    @cached_property
    def sums(self) -> Sequence[TunedSum]:
        """The matrix products and convolutions of the build."""
        return sums_of(self.build, self.log)

    @cached_property
    def _notes(self) -> dict[str, list[Note]]:
        return grouped(self.build.notes, lambda note: note.kind)

    @cached_property
    def levels(self) -> Mapping[SourceSpan, str]:
        """The levels of the lines that name causes, as E, W, I or V, of those that have one."""
        return {note.span: note.level for note in self.build.notes if note.level}

    @property
    def kinds(self) -> Collection[str]:
        """The kinds of the build's notes."""
        return self._notes.keys()

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
