"""Checks whether TensorRT will accept a replay: against a build's log, a model, and the edges between layers.

Polygraphy accepts an entry if a choice that TensorRT offers equals it in every field. A layer without an entry gets a
default tactic and a warning; an entry without a layer has no effect.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from trtforensics.console.counting import listed
from trtforensics.errors import ForensicsError
from trtforensics.knowledge.table import rows
from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.log import Build, CachedResult
from trtforensics.model.replay import FieldPath, Problem, ProblemSeverity, Replay, ReplayEntry, ReplayForm
from trtforensics.model.span import SourceSpan
from trtforensics.parsers.notation.names import (
    is_generated,
    is_helper,
    is_reformat,
    members,
    profile_of,
    without_profile,
)
from trtforensics.replay.edges import DataflowNode, edges_between, meetings
from trtforensics.replay.from_log import FormatCombination, Mismatch, Offers, without_selector

Place = Callable[[FieldPath], SourceSpan]

_ALIKE = 0.5
"""Share of common members from which on another layer's name is suggested."""
_UNNAMED = "(Unnamed Layer*"
"""The beginning of names that TensorRT numbers; in another network the number means another layer."""
_LIST_PLACES = {"tensor_format": 0, "dtype": 1, "strides": 2}

_RECORD = "Record the replay again from a build of this network with this TensorRT, or remove the entry"


class Lint:
    """Gathers the problems of one replay. ``place`` returns where a field stands in its file.

    ``accepted`` counts the entries that the log offers as they are pinned; None without a log.
    """

    def __init__(self, replay: Replay, place: Place) -> None:
        self.accepted: int | None = None
        self.replay = replay
        self._place = place
        self._problems: list[Problem] = list(replay.problems)
        foreign = [entry for entry in replay.entries if is_foreign_node(entry.layer)]
        if foreign:
            self._add("foreign-nodes", foreign[0], foreign=len(foreign), entries=len(replay.entries))

    @property
    def problems(self) -> list[Problem]:
        """The problems gathered so far, by their place in the file."""
        order = {severity: rank for rank, severity in enumerate(ProblemSeverity)}
        path = self.replay.source.path
        return sorted(
            self._problems,
            key=lambda p: (p.span.file != path, p.span.line, getattr(p.span, "column", 0), order[p.severity]),
        )

    def against_build(self, build: Build, path: str) -> None:
        """Compare with what a build offered; a ForensicsError where its log, of that path, has no autotuning."""
        offers = Offers(build)
        refusal, advice = without_selector(build)
        if refusal:
            release = build.tensorrt_version or "RTX"
            self._note("no-selector", "", (), self._place(()), release=release, refusal=refusal, advice=advice)
        if not offers.layers:
            what = "has no autotuning of a layer, so it does not say what was offered"
            raise ForensicsError(path, what, "Give the log of a build with `--verbose`")
        foreign = {node.name: node.onnx_nodes for node in build.foreign_nodes}
        renaming = Renaming(offers.layers, foreign)
        in_engine = {layer.name: layer.span for layer in build.engine_layers}
        self.accepted = 0
        for entry in self.replay.entries:
            combinations = offers.of(entry.layer)
            if not combinations:
                self._not_tuned(entry, renaming, in_engine)
            elif self._offered(entry, combinations, offers):
                self.accepted += 1
        self._unpinned(offers)

    def against_model(self, operators: Sequence[DataflowNode]) -> None:
        """Compare with the nodes of an ONNX model."""
        names = {operator.layer for operator in operators}
        for entry in self.replay.entries:
            named = members(entry.layer)  # those that TensorRT did not name itself may be nodes of the model
            nodes = [name for name in named if not (is_helper(name) or is_reformat(name) or is_generated(name))]
            if nodes and names.isdisjoint(nodes):
                self._add("not-in-model", entry)

    def against_edges(self, nodes: Sequence[DataflowNode]) -> None:
        """Note edges whose formats differ; TensorRT puts a reformat there, so this is no error."""
        entries = {entry.layer: entry for entry in self.replay.entries}
        for meeting in meetings(edges_between(nodes), nodes, entries):
            if meeting.differs:
                edge, formats = meeting.edge, {"leaves": meeting.leaves, "enters": meeting.enters}
                path = ("inputs", edge.input)
                entry = entries[edge.consumer]
                self._add("formats-differ", entry, path, tensor=edge.tensor, producer=edge.producer, **formats)

    def _add(self, problem: str, entry: ReplayEntry, path: FieldPath = (), **values: object) -> None:
        path = ("replay", entry.layer, *path)
        self._note(problem, entry.layer, path, self._place(path) if path[2:] else entry.span, **values)

    def _note(self, problem: str, layer: str, path: FieldPath, span: SourceSpan, **values: object) -> None:
        """Note a problem of the table; ``values`` are those that its texts name."""
        row = _texts()[problem]
        texts = (row[text].format(**values) for text in ("what", "next_step"))
        self._problems.append(Problem(row["code"], ProblemSeverity(row["severity"]), layer, path, span, *texts))

    def _not_tuned(self, entry: ReplayEntry, renaming: Renaming, in_engine: dict[str, SourceSpan]) -> None:
        if entry.layer in in_engine:
            self._add("not-tuned", entry, line=in_engine[entry.layer].line)
            return
        profiles = renaming.other_profiles(entry.layer)
        if profiles:
            self._add("wrong-profile", entry, profiles=_listed(profiles), first=profiles[0])
            return
        near = () if is_reformat(entry.layer) else renaming.nearest(entry.layer)
        if not near:
            self._add("missing-reformat" if is_reformat(entry.layer) else "missing-layer", entry)
            return
        (nearest, share, common), *rest = near
        others = f"; others: {_listed(layer for layer, _, _ in rest)}" if rest else ""
        alike = share >= _ALIKE
        advice = f"Rename the entry to {nearest!r} and lint again, or record the replay again" if alike else _RECORD
        shared = _listed(sorted(common))
        self._add("renamed-layer", entry, nearest=nearest, common=shared, others=others, advice=advice)

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
            ids = [offers.build.runner_ids[name] for name in runners if name in offers.build.runner_ids]
            advice = f"Write {ids[0]}" if ids else _RECORD
            values = {"runners": _listed(runners), "pinned": f"0x{entry.runner_id:08x}", "advice": advice}
            self._add("wrong-runner", entry, ("implementation",), **values)
            return False
        self._no_tactic(entry, fitting, compared, offers)
        return False

    def _no_combination(self, entry: ReplayEntry, compared: list[tuple[list[Mismatch], FormatCombination]]) -> None:
        # Among equally near combinations the engine's own: an edited replay was most likely recorded from it.
        mismatches, nearest = min(compared, key=lambda pair: (len(pair[0]), not pair[1].tuned.final))
        first = mismatches[0]
        field = f"{first.side}[{first.index}].{first.field}" if first.index is not None else first.side
        more = f", and {len(mismatches) - 1} more fields" if mismatches[1:] else ""
        rest = "nearest to it" if more else "with all else as pinned"
        pinned = first.field == "dtype" and is_foreign_node(entry.layer)
        problem = "foreign-node-dtype" if pinned else "format-not-offered"
        values = {"field": field, "pinned": first.pinned, "offered": first.offered, "more": more, "rest": rest}
        values |= {"nearest": nearest.text, "line": str(nearest.span.line), "tried": str(len(compared))}
        self._add(problem, entry, self._path(first), **values)

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
            self._add("tactic-unknown", entry, ("tactic",), where=where, tactic=tactic)
            return
        elsewhere = [c for d, c in compared if d and offers.runners(c, entry.tactic or 0)]
        also = f"; it is offered for {elsewhere[0].text} (line {elsewhere[0].span.line})" if elsewhere else ""
        chosen = f"0x{last.tuned.tactic:016x}" if last.tuned.tactic is not None else "none"
        values = {"tactic": tactic, "where": where, "chosen": chosen, "also": also}
        self._add("tactic-not-offered", entry, ("tactic",), **values)

    def _path(self, mismatch: Mismatch) -> FieldPath:
        if mismatch.index is None:
            return (mismatch.side,)
        as_list = self.replay.form in {ReplayForm.F1, ReplayForm.F2, ReplayForm.F3}
        field = _LIST_PLACES[mismatch.field] if as_list else mismatch.field
        return (mismatch.side, mismatch.index, field)

    def _unpinned(self, offers: Offers) -> None:
        pinned = {entry.layer for entry in self.replay.entries}
        for layer in offers.layers:
            combinations = offers.of(layer)
            final = next((c for c in combinations if c.tuned.final is not False), None)
            if layer not in pinned and final is not None:
                self._note("unpinned-layer", layer, ("replay",), final.span)


@cache
def _texts() -> dict[str, Mapping[str, str]]:
    """Return the rows of the table of problems that this module reports, no parser: errors or without effect."""
    return {row["problem"]: row for row in rows("problems", "trtforensics.replay")}


def _listed(names: Iterable[str]) -> str:
    return listed([repr(name) for name in dict.fromkeys(names)])


class Renaming:
    """Finds layers by fused members. ``more_members`` adds members that names do not show: nodes of ForeignNodes."""

    def __init__(self, layers: Iterable[str], more_members: Mapping[str, Sequence[str]] | None = None) -> None:
        more = more_members or {}
        self._members = {layer: frozenset((*members(layer), *more.get(layer, ()))) for layer in layers}
        self._by_member: dict[str, list[str]] = defaultdict(list)
        for layer, parts in self._members.items():
            for part in parts:
                self._by_member[part].append(layer)

    def nearest(self, name: str) -> list[tuple[str, float, frozenset[str]]]:
        """Return the layers that share members with a name: those of the same profile first, then the most similar.

        Beside a layer stands the share of common members, above 0 and up to 1, and which they are.
        """
        parts = frozenset(part for part in members(name) if not part.startswith(_UNNAMED))
        near = {layer: parts & self._members[layer] for part in parts for layer in self._by_member.get(part, ())}
        shared = [(layer, len(common) / len(parts | self._members[layer]), common) for layer, common in near.items()]
        profile = profile_of(name)
        return sorted(shared, key=lambda likeness: (profile_of(likeness[0]) != profile, -likeness[1], likeness[0]))

    def other_profiles(self, name: str) -> list[str]:
        """Return the layers that have the same name but for the profile."""
        bare = without_profile(name)
        return sorted(layer for layer in self._members if without_profile(layer) == bare and layer != name)
