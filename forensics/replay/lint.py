"""Checks whether TensorRT will accept a replay: against a build's log, a model, and the edges between layers.

Polygraphy accepts an entry if a choice that TensorRT offers equals it in every field. A layer without an entry gets a
default tactic and a warning; an entry without a layer has no effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.console.counting import listed
from trtforensics.errors import ForensicsError
from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.log import CachedResult
from trtforensics.model.replay import Problem, ProblemSeverity, ReplayForm
from trtforensics.parsers.notation.names import is_reformat, members
from trtforensics.replay.edges import edges_between, meetings
from trtforensics.replay.from_log import without_selector
from trtforensics.replay.offers import Offers
from trtforensics.replay.renaming import Renaming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from trtforensics.model.log import Build
    from trtforensics.model.replay import FieldPath, Replay, ReplayEntry
    from trtforensics.model.span import SourceSpan
    from trtforensics.replay.edges import DataflowNode
    from trtforensics.replay.offers import FormatCombination, Mismatch

    Place = Callable[[FieldPath], SourceSpan]

_ALIKE = 0.5
"""Share of common members from which on another layer's name is suggested."""
_LIST_PLACES = {"tensor_format": 0, "dtype": 1, "strides": 2}
_SEVERITIES = {
    "no-selector": ProblemSeverity.ERROR,
    "missing-layer": ProblemSeverity.ERROR,
    "renamed-layer": ProblemSeverity.ERROR,
    "wrong-profile": ProblemSeverity.ERROR,
    "foreign-node-dtype": ProblemSeverity.ERROR,
    "format-not-offered": ProblemSeverity.ERROR,
    "tactic-not-offered": ProblemSeverity.ERROR,
    "wrong-runner": ProblemSeverity.ERROR,
    "tactic-unknown": ProblemSeverity.WARNING,
    "unpinned-layer": ProblemSeverity.WARNING,
    "not-in-model": ProblemSeverity.WARNING,
    "not-tuned": ProblemSeverity.NOTE,
    "formats-differ": ProblemSeverity.NOTE,
    "foreign-nodes": ProblemSeverity.NOTE,
}
"""The problems that this module reports; the file's own come from the parser. Errors are refused or without effect."""

_RECORD = "Record the replay again from a build of this network with this TensorRT, or remove the entry"


@dataclass(frozen=True, slots=True)
class LintReport:
    """The problems of a replay, by their place in the file.

    ``accepted`` counts the entries that the log offers as they are pinned; None without a log.
    """

    problems: tuple[Problem, ...]
    accepted: int | None

    def count(self, severity: ProblemSeverity) -> int:
        """Count the problems of a severity."""
        return sum(problem.severity is severity for problem in self.problems)


class Lint:
    """Gathers the problems of one replay. ``place`` returns where a field stands in its file."""

    def __init__(self, replay: Replay, place: Place) -> None:
        self._replay = replay
        self._place = place
        self._problems: list[Problem] = list(replay.problems)
        self._accepted: int | None = None
        self._foreign_nodes()

    def report(self) -> LintReport:
        """Return the problems gathered so far."""
        order = {severity: rank for rank, severity in enumerate(ProblemSeverity)}
        path = self._replay.source.path
        ranked = sorted(
            self._problems,
            key=lambda p: (p.span.file != path, p.span.line, getattr(p.span, "column", 0), order[p.severity]),
        )
        return LintReport(tuple(ranked), self._accepted)

    def against_build(self, build: Build, path: str) -> None:
        """Compare with the choices that a build offered; ``path`` names its log.

        Raises:
            ForensicsError: the log has no autotuning, so it says nothing about tactics.
        """
        offers = Offers(build)
        self._selector(build)
        if not offers.layers:
            what = "has no autotuning of a layer, so it does not say what was offered"
            raise ForensicsError(path, what, "Give the log of a build with `--verbose`")
        foreign = {node.name: node.onnx_nodes for node in build.foreign_nodes}
        renaming = Renaming(offers.layers, foreign)
        in_engine = {layer.name: layer.span for layer in build.engine_layers}
        self._accepted = 0
        for entry in self._replay.entries:
            combinations = offers.of(entry.layer)
            if not combinations:
                self._not_tuned(entry, renaming, in_engine)
            elif self._offered(entry, combinations, offers):
                self._accepted += 1
        self._unpinned(offers)

    def against_model(self, operators: Sequence[DataflowNode]) -> None:
        """Compare with the nodes of an ONNX model."""
        names = {operator.layer for operator in operators}
        for entry in self._replay.entries:
            nodes = [member for member in members(entry.layer) if not _made_by_tensorrt(member)]
            if nodes and names.isdisjoint(nodes):
                what = "the model has no node of this layer"
                self._add("not-in-model", entry, (), what, "Check that this is the model it was recorded of")

    def against_edges(self, nodes: Sequence[DataflowNode]) -> None:
        """Note edges whose formats differ; TensorRT puts a reformat there, so this is no error."""
        entries = {entry.layer: entry for entry in self._replay.entries}
        for meeting in meetings(edges_between(nodes), nodes, entries):
            if meeting.differs:
                edge = meeting.edge
                what = (
                    f"tensor {edge.tensor!r} leaves {edge.producer!r} as {meeting.leaves} and enters this layer as "
                    f"{meeting.enters}: TensorRT puts a reformat between"
                )
                path = ("inputs", edge.input)
                self._add("formats-differ", entries[edge.consumer], path, what, "Nothing, if that is meant")

    def _add(self, code: str, entry: ReplayEntry, path: FieldPath, what: str, next_step: str) -> None:
        path = ("replay", entry.layer, *path)
        span = self._place(path) if path[2:] else entry.span
        self._problems.append(Problem(code, _SEVERITIES[code], entry.layer, path, span, what, next_step))

    def _foreign_nodes(self) -> None:
        foreign = [entry for entry in self._replay.entries if is_foreign_node(entry.layer)]
        if foreign:
            what = (
                f"ForeignNodes among the entries: {len(foreign)} of {len(self._replay.entries)}; which kernels run "
                "inside them is not pinned by a replay"
            )
            advice = "To pin those, use the editable timing cache (TensorRT 10.8 and later)"
            self._add("foreign-nodes", foreign[0], (), what, advice)

    def _selector(self, build: Build) -> None:
        refusal, advice = without_selector(build)
        if not refusal:
            return
        what = f"the log is of {build.tensorrt_version or 'RTX'}: {refusal}, so replays are refused"
        span = self._place(())
        self._problems.append(Problem("no-selector", _SEVERITIES["no-selector"], "", (), span, what, advice))

    def _not_tuned(self, entry: ReplayEntry, renaming: Renaming, in_engine: dict[str, SourceSpan]) -> None:
        if entry.layer in in_engine:
            line = in_engine[entry.layer].line
            what = f"the engine has this layer (log line {line}), but the log has no autotuning of it to compare with"
            advice = "Give the log of a build without timing cache"
            self._add("not-tuned", entry, (), what, advice)
            return
        profiles = renaming.other_profiles(entry.layer)
        if profiles:
            what = f"its suffix of a profile is wrong: the build has {_listed(profiles)}"
            self._add("wrong-profile", entry, (), what, f"Rename the entry to {profiles[0]!r}")
            return
        if is_reformat(entry.layer):
            what = "the build puts in no such reformat, so the entry has no effect"
            self._add("missing-layer", entry, (), what, "Remove the entry: TensorRT decides on reformats by itself")
            return
        near = renaming.nearest(entry.layer)
        if not near:
            what = "the build has no such layer, nor one with a member of it, so the entry has no effect"
            self._add("missing-layer", entry, (), what, "Check that the log is of the same network")
            return
        first = near[0]
        others = f"; others: {_listed([layer.layer for layer in near[1:]])}" if near[1:] else ""
        what = (
            f"the build has no such layer, so the entry has no effect; nearest is {first.layer!r}, which has "
            f"{_listed(first.common)} of it{others}"
        )
        alike = first.share >= _ALIKE
        advice = f"Rename the entry to {first.layer!r} and lint again, or record the replay again" if alike else _RECORD
        self._add("renamed-layer", entry, (), what, advice)

    def _offered(self, entry: ReplayEntry, combinations: list[FormatCombination], offers: Offers) -> bool:
        """Judge the entry of a tuned layer; True if one of the combinations was offered as the entry pins it."""
        if entry.tactic is None or entry.runner_id is None:
            return False  # the parser reported it already
        compared = [(combination.mismatches(entry), combination) for combination in combinations]
        fitting = [combination for mismatches, combination in compared if not mismatches]
        if not fitting:
            self._no_combination(entry, compared)
            return False
        if any(offers.has(combination, entry) for combination in fitting):
            return True
        runners = [runner for combination in fitting for runner in offers.runners(combination, entry.tactic)]
        if runners:
            what = f"the log offers this tactic of {_listed(runners)} only, which is not runner 0x{entry.runner_id:08x}"
            ids = [offers.build.runner_ids[name] for name in runners if name in offers.build.runner_ids]
            advice = f"Write {ids[0]}" if ids else _RECORD
            self._add("wrong-runner", entry, ("implementation",), what, advice)
            return False
        self._no_tactic(entry, fitting, compared, offers)
        return False

    def _no_combination(self, entry: ReplayEntry, compared: list[tuple[list[Mismatch], FormatCombination]]) -> None:
        # Among equally near combinations the engine's own: an edited replay was most likely recorded from it.
        mismatches, nearest = min(compared, key=lambda pair: (len(pair[0]), not pair[1].tuned.final))
        first = mismatches[0]
        field = f"{first.side}[{first.index}].{first.field}" if first.index is not None else first.side
        more = f", and {len(mismatches) - 1} more fields" if mismatches[1:] else ""
        path = self._path(first)
        if first.field == "dtype" and is_foreign_node(entry.layer):
            rest = "nearest to it" if more else "with all else as pinned"
            what = (
                f"{field} is {first.pinned}; {rest}, the log offers this ForeignNode with {first.offered} there{more}: "
                f"{nearest.text} (log line {nearest.span.line}). A replay cannot change the types of a ForeignNode"
            )
            advice = (
                f"Restore {first.offered}; for {first.pinned}, change the network (a Cast, a layer's precision) and "
                "record a new replay"
            )
            self._add("foreign-node-dtype", entry, path, what, advice)
            return
        what = (
            f"the log never tried this layer with these formats; nearest of {len(compared)} is {nearest.text} (log "
            f"line {nearest.span.line}): {field} is {first.pinned}, there {first.offered}{more}"
        )
        self._add("format-not-offered", entry, path, what, _RECORD)

    def _no_tactic(
        self,
        entry: ReplayEntry,
        fitting: list[FormatCombination],
        compared: list[tuple[list[Mismatch], FormatCombination]],
        offers: Offers,
    ) -> None:
        tactic = f"0x{entry.tactic or 0:016x}"
        last = fitting[-1]
        where = f"{last.text} (log line {last.span.line})"
        if all(isinstance(combination.tuned, CachedResult) for combination in fitting):
            what = (
                f"the log has a cached result only for {where}, of another tactic than {tactic}; it does not tell "
                "whether this one would be offered"
            )
            advice = "Give the log of a build without timing cache"
            self._add("tactic-unknown", entry, ("tactic",), what, advice)
            return
        elsewhere = [c for d, c in compared if d and offers.runners(c, entry.tactic or 0)]
        also = f"; it is offered for {elsewhere[0].text} (line {elsewhere[0].span.line})" if elsewhere else ""
        chosen = f"0x{last.tuned.tactic:016x}" if last.tuned.tactic is not None else "none"
        what = f"the log never offered tactic {tactic} for {where}, where {chosen} was chosen{also}"
        self._add("tactic-not-offered", entry, ("tactic",), what, _RECORD)

    def _path(self, mismatch: Mismatch) -> FieldPath:
        if mismatch.index is None:
            return (mismatch.side,)
        as_list = self._replay.form in {ReplayForm.F1, ReplayForm.F2, ReplayForm.F3}
        field = _LIST_PLACES[mismatch.field] if as_list else mismatch.field
        return (mismatch.side, mismatch.index, field)

    def _unpinned(self, offers: Offers) -> None:
        pinned = {entry.layer for entry in self._replay.entries}
        for layer in offers.layers:
            combinations = offers.of(layer)
            final = next((c for c in combinations if c.tuned.final is not False), None)
            if layer not in pinned and final is not None:
                what = "the build tunes this layer, and the replay has no entry for it: TensorRT chooses its tactic"
                code = "unpinned-layer"
                advice = "Add an entry, if it should be pinned"
                problem = Problem(code, _SEVERITIES[code], layer, ("replay",), final.span, what, advice)
                self._problems.append(problem)


_TENSORRT_MADE = ("(Unnamed Layer*", "ONNXTRT_", "Reformat", "__my")
_TENSORRT_WRAPS = (
    "reshape_before_",
    "reshape_after_",
    "squeeze_after_",
    "copied_squeeze_after_",
    "unsqueeze_node_after_",
)


def _made_by_tensorrt(member: str) -> bool:
    return member.startswith((*_TENSORRT_MADE, *_TENSORRT_WRAPS))


def _listed(names: Iterable[str]) -> str:
    return listed([repr(name) for name in dict.fromkeys(names)])
