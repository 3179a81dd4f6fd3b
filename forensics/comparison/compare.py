"""Compares two sides: aligns their builds, counts values, makes differences, and puts effects under their causes."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse
from operator import attrgetter

from trtforensics.comparison import effects
from trtforensics.comparison.alignment import (
    AlignedBuilds,
    AlignedLayer,
    FusionSite,
    Layers,
    MatchedBy,
    align_builds,
    join_groups,
    plain_name,
)
from trtforensics.comparison.differences import (
    ASPECTS,
    Comparison,
    Counts,
    Difference,
    DifferenceType,
    SideValue,
    Value,
    ValueOccurrence,
    aspect_text,
    aspect_values,
    count,
    suspicious_pairs,
    worst,
)
from trtforensics.comparison.loading import ComparedSide
from trtforensics.comparison.times import compare_times
from trtforensics.comparison.views import BuildView, LayerView
from trtforensics.console.counting import counted, grouped
from trtforensics.model.layer_types import NO_KERNEL, is_foreign_node
from trtforensics.model.log import Fusion
from trtforensics.model.timings import NEAR_TIE_RATIO
from trtforensics.parsers.notation.names import is_helper, members, myelin_graph, without_profile
from trtforensics.sources.kinds import Kind

_ABSENT = "absent"
_RELATED = 0.1
"""The share of the smaller side's layers that builds of one model have in common at least."""
_FEW_LAYERS = 4
"""Engines of fewer layers may be fused otherwise as a whole."""
_SORTS = (("layers", "engine layers"), ("operations", "operations inside ForeignNodes"))


def compare(good: ComparedSide, bad: ComparedSide) -> Comparison:
    """Compare the builds of two sides, each with at least one."""
    values: list[ValueOccurrence] = []
    tables = [_LayerComparison(good.builds, bad.builds, sort, name, values) for sort, name in _SORTS]
    rows = [row for table in tables for row in table.rows()]
    groups, fusion_notes = _differing_fusions(good.builds, bad.builds)
    rows = _with_fusions(rows, groups, len(good.builds))
    rows = effects.ordered(rows, [table.builds for table in tables], len(good.builds))
    pairs, others = suspicious_pairs(values, len(good.builds), len(bad.builds))
    matched = Counter(layer.how for table in tables for layer in table.builds.layers if len(layer.by_build) > 1)
    notes = (*(note for table in tables for note in table.notes), *fusion_notes)
    times = compare_times(good.builds, bad.builds)
    unrelated = _unrelated(tables[0].builds, len(good.builds))
    return Comparison(good, bad, tuple(rows), pairs, others, matched, notes, times, unrelated)


def _unrelated(aligned: AlignedBuilds, goods: int) -> str:
    """Say where the sides have hardly a layer in common: then differences of single layers mean nothing."""
    by_side: tuple[list[int], list[int]] = ([], [])
    for build in aligned.numbers:
        by_side[build >= goods].append(sum(build in layer.by_build for layer in aligned.layers))
    smaller = min(min(counts, default=0) for counts in by_side)
    both = sum(
        any(build < goods for build in layer.by_build) and any(build >= goods for build in layer.by_build)
        for layer in aligned.layers
    )
    if smaller < _FEW_LAYERS or both >= smaller * _RELATED:
        return ""
    return f"{both} of {smaller} layers match: two different models?"


class _LayerComparison:
    """The differences in engine layers or in operations of ForeignNodes over all builds; adds to ``values``."""

    def __init__(
        self, good: Sequence[BuildView], bad: Sequence[BuildView], sort: str, name: str, values: list[ValueOccurrence]
    ) -> None:
        self.goods = len(good)
        self._values = values
        self.notes: list[str] = []
        self._other_helpers = 0
        every = (*good, *bad)
        self._kinds = {number: build.kind for number, build in enumerate(every)}
        layers_of = {n: layers for n, build in enumerate(every) if (layers := getattr(build, sort)) is not None}
        sides = [sum(number < self.goods for number in layers_of), sum(number >= self.goods for number in layers_of)]
        if layers_of and not all(sides):
            self.notes.append(f"{name} are known of the {'bad' if sides[1] else 'good'} side only and not compared")
            layers_of = {}
        layers_of, left_out = _comparable(layers_of, self._kinds)
        self.notes += left_out
        self.builds: AlignedBuilds = align_builds(layers_of)

    def rows(self) -> list[Difference]:
        sites = self.builds.sites
        in_sites = {(build, id(layer)) for site in sites for build, layers in site.layers.items() for layer in layers}
        rows = [row for site in sites for row in self._site(site)]
        silent = 0
        for aligned in self.builds.layers:
            by_aspect = {aspect: aspect_values(aspect, aligned.by_build, self._kinds) for aspect in ASPECTS}
            differing = {aspect: values for aspect, values in by_aspect.items() if len(set(values.values())) > 1}
            of_layer = [row for aspect, values in differing.items() for row in self._row(aspect, aligned, values)]
            explained = any((build, id(layer)) in in_sites for build, layer in aligned.by_build.items())
            rows += of_layer if explained else [*self._renamed(aligned), *of_layer, *self._presence(aligned)]
            silent += len(aligned.by_build) > 1 and not any(by_aspect.values())
            self._remember(aligned, by_aspect, explained=explained)
        if self._other_helpers:
            differ = "differs" if self._other_helpers == 1 else "differ"
            what = f"{counted(self._other_helpers, 'layer')} {differ} in name by helpers of the ONNX parser only"
            self.notes.append(f"{what}: a replay of one side finds no such name on the other")
        if silent and silent == sum(len(aligned.by_build) > 1 for aligned in self.builds.layers):
            self.notes.append("both sides have only the names of layers: their tactics cannot be compared")
        elif silent:
            self.notes.append(f"of {counted(silent, 'layer')} the sources tell nothing in common but the name")
        return rows

    def _site(self, site: FusionSite) -> list[Difference]:
        """Return the difference of members that builds fuse differently."""
        values = {build: site.arrangement(build) for build in site.layers}
        first = {build: layers[0] for build, layers in site.layers.items()}
        name = first[min(values, key=lambda build: (len(values[build]), build))].name
        self._add_occurrences(values, first, name)
        why = (f"{len(site.parts)} member{'' if len(site.parts) == 1 else 's'}: {', '.join(sorted(site.parts))}",)
        subject = AlignedLayer(name, site.position, first, MatchedBy.FUSED_MEMBERS)
        return self._row(DifferenceType.FUSION, subject, values, why, site)

    def _renamed(self, aligned: AlignedLayer) -> list[Difference]:
        """Return the difference of a layer that has another name in some builds: a replay does not find it there."""
        if aligned.how is MatchedBy.NAME:
            return []
        if _helpers_only(aligned):
            self._other_helpers += 1
            return []
        values = {build: plain_name(layer.name) for build, layer in aligned.by_build.items()}
        why = ("the same layer under another name: a replay made of one build does not apply to it in the other",)
        return self._row(DifferenceType.FUSION, aligned, values, why)

    def _presence(self, aligned: AlignedLayer) -> list[Difference]:
        """Return the difference of a layer that some builds lack."""
        if len(aligned.by_build) == len(self.builds.numbers):
            return []
        values = {build: build in aligned.by_build for build in self.builds.numbers}
        present = count(aligned.by_build, values, self.goods)
        rarer_in_bad = present.good * max(present.of_bad, 1) >= present.bad * max(present.of_good, 1)
        type_ = DifferenceType.MISSING if rarer_in_bad else DifferenceType.ADDED
        return self._row(type_, aligned, values)

    def _row(
        self,
        type_: DifferenceType,
        aligned: AlignedLayer,
        values: Mapping[int, Hashable],
        why: tuple[str, ...] = (),
        site: FusionSite | None = None,
    ) -> list[Difference]:
        """Make a difference of a layer, or of the ``site`` of its name; none where sides are alike or one is silent."""
        counts = worst(values, self.goods)
        if counts is None:
            return []
        if site is None:
            parts = frozenset().union(*{layer.parts for layer in aligned.by_build.values()})
            layers: Mapping[int, Layers] = {build: (layer,) for build, layer in aligned.by_build.items()}
        else:
            parts, layers = site.parts, site.layers
        by_value = grouped(values, values.__getitem__).values()
        sides = ([[n for n in builds if (n < self.goods) is side] for builds in by_value] for side in (True, False))
        most_first = (sorted(filter(None, side), key=lambda builds: (-len(builds), builds[0])) for side in sides)
        good, bad = (tuple(_entry(builds, layers, type_) for builds in side) for side in most_first)
        reasons = (*why, *_seen(counts))
        if type_ is DifferenceType.TACTIC:
            reasons += (*_near_ties(good, "good"), *_near_ties(bad, "bad"))
        place = aligned.position, parts, site is not None
        return [Difference(type_, aligned.name, aligned.how, good, bad, counts, reasons, *place)]

    def _remember(
        self, aligned: AlignedLayer, by_aspect: Mapping[DifferenceType, Mapping[int, Value]], *, explained: bool
    ) -> None:
        """Keep what the layer is in each build, for the search of pairs."""
        known = [values for values in by_aspect.values() if values]
        builds = aligned.by_build if explained else dict.fromkeys(self.builds.numbers)
        values = {
            build: tuple(stated.get(build) for stated in known) if build in aligned.by_build else _ABSENT
            for build in builds
        }
        self._add_occurrences(values, aligned.by_build, aligned.name)

    def _add_occurrences(self, values: Mapping[int, Hashable], layers: Mapping[int, LayerView], name: str) -> None:
        by_value = grouped(values, values.__getitem__)
        if len(by_value) <= 1:
            return
        number = len(self._values)
        for builds in by_value.values():
            layer = layers.get(builds[-1])
            text = aspect_text(DifferenceType.TACTIC, layer) or layer.name if layer is not None else _ABSENT
            span = layer.span if layer is not None else None
            self._values.append(ValueOccurrence(number, frozenset(builds), name, text, span))


def _helpers_only(aligned: AlignedLayer) -> bool:
    """Whether the builds' names of a layer hold the same layers of the model, in order, and other helpers."""
    every = [members(plain_name(layer.name)) for layer in aligned.by_build.values()]
    of_model = {tuple(name for name in names if not is_helper(name)) for names in every}
    return len(of_model) == 1 and len(set(every)) > 1 and (() not in of_model or aligned.how is MatchedBy.FUSED_MEMBERS)


def _entry(builds: Sequence[int], layers: Mapping[int, Layers], type_: DifferenceType) -> SideValue:
    of_builds = [layers[build] for build in builds if build in layers]
    if not of_builds:
        return SideValue(_ABSENT, len(builds), ())
    first = of_builds[0]
    # A near tie in any build is worth showing, so a layer that has one represents the value.
    shown = next((group[0] for group in of_builds if group[0].near_tie), first[0])
    text = aspect_text(type_, shown) if type_ in ASPECTS else ", ".join(layer.name for layer in first)
    spans = tuple(layer.span for group in of_builds for layer in group)
    return SideValue(text, len(builds), spans, shown, tuple(layer.name for layer in first))


def _seen(counts: Counts) -> list[str]:
    """Say the counts, where there is more than one build a side."""
    if counts.of_good == counts.of_bad == 1:
        return []
    return [f"in {counts.bad} of {counts.of_bad} bad builds and {counts.good} of {counts.of_good} good ones"]


def _near_ties(entries: Collection[SideValue], side: str) -> list[str]:
    sentences = []
    for entry in entries:
        layer = entry.layer
        if layer is not None and layer.near_tie and layer.time_ms and layer.runner_up_ms is not None:
            slower = layer.runner_up_ms / layer.time_ms - 1
            limit = f"{NEAR_TIE_RATIO - 1:.0%}"
            sentences.append(
                f"near tie in {side} ({layer.span}): tuned at {layer.time_ms:g} ms, the runner-up {slower:.1%} slower; "
                f"up to {limit} build noise may flip it"
            )
    return sentences


def _comparable(builds: Mapping[int, Layers], kinds: Mapping[int, Kind]) -> tuple[dict[int, Layers], tuple[str, ...]]:
    """Return the layers that all builds could show, and notes on what was left out.

    Comparing what a kind of source never shows would report differences that do not exist. A replay has no entries for
    reformats. A dump at detailed verbosity shows the kernels inside a ForeignNode; other dumps and all replays show the
    ForeignNode instead. Some versions print layers that run no kernel, others leave them out.
    """
    kept = dict(builds)
    notes: list[str] = []

    def leave_out(unwanted: Callable[[LayerView], bool], note: str) -> None:
        kept.update({build: tuple(filterfalse(unwanted, layers)) for build, layers in kept.items()})
        notes.append(note)

    replays = {kinds[build] is Kind.REPLAY for build in builds}
    if len(replays) > 1 and any(layer.is_reformat for layers in builds.values() for layer in layers):
        leave_out(attrgetter("is_reformat"), "reformats are not compared: a replay does not tell them")
    silent = [any(_runs_no_kernel(layer) for layer in layers) for layers in kept.values()]
    if any(silent) and not all(silent):
        note = "layers that run no kernel (NoOp, Constant) are not compared: some sources do not print them"
        leave_out(_runs_no_kernel, note)
    names = {build: [layer.name for layer in layers] for build, layers in builds.items()}
    inside = {build: any(myelin_graph(name) is not None for name in of_build) for build, of_build in names.items()}
    outside = {build: any(map(is_foreign_node, of_build)) for build, of_build in names.items()}
    if any(inside.values()) and any(outside[build] and not inside[build] for build in builds):
        note = "ForeignNodes are not compared: some sources show the kernels inside them, others do not"
        leave_out(lambda layer: myelin_graph(layer.name) is not None or is_foreign_node(layer.name), note)
    return kept, tuple(notes)


def _runs_no_kernel(layer: LayerView) -> bool:
    return layer.runner in NO_KERNEL


_FusedNames = frozenset[str]
_QUOTED = 3
_LINES_ONLY = "only the logs' fusion lines tell it; the layers do not show it"


@dataclass(frozen=True, slots=True)
class _FusionGroup:
    """Fusions that share members and that only some builds have; ``fusions`` maps the number of a build to its own."""

    parts: frozenset[str]
    fusions: Mapping[int, Mapping[_FusedNames, Fusion]]


def _differing_fusions(
    good: Sequence[BuildView], bad: Sequence[BuildView]
) -> tuple[list[_FusionGroup], tuple[str, ...]]:
    """Return the fusions that not all logs have, in groups, and notes on what is not compared."""
    fusions_of = {
        number: {
            frozenset(map(without_profile, fusion.inputs)): fusion
            for fusion in build.fusions
            # a layer joined with helpers only does not change
            if sum(any(not is_helper(part) for part in _fused_parts((name,))) for name in fusion.inputs) > 1
        }
        for number, build in enumerate((*good, *bad))
        if build.fusions is not None
    }
    sides = {number >= len(good) for number in fusions_of}
    if len(sides) == 1:
        return [], (f"fusion lines are printed by the {'bad' if True in sides else 'good'} side only and not compared",)
    everywhere = frozenset.intersection(*map(frozenset, fusions_of.values())) if fusions_of else frozenset()
    parts = {
        inputs: _fused_parts(inputs) for each in fusions_of.values() for inputs in each if inputs not in everywhere
    }
    groups = join_groups([sorted(names) for names in parts.values()])
    owner = {part: number for number, group in enumerate(groups) for part in group}
    by_group: list[dict[int, dict[_FusedNames, Fusion]]] = [{build: {} for build in fusions_of} for _ in groups]
    for build, fusions in fusions_of.items():
        for inputs, fusion in fusions.items():
            if inputs in parts:
                by_group[owner[min(parts[inputs])]][build][inputs] = fusion
    return [_FusionGroup(frozenset(group), fusions) for group, fusions in zip(groups, by_group, strict=True)], ()


def _fused_parts(inputs: Iterable[str]) -> frozenset[str]:
    return frozenset(part for name in inputs for part in (members(name) or (name,)))


def _with_fusions(rows: Iterable[Difference], groups: Iterable[_FusionGroup], goods: int) -> list[Difference]:
    """Add each group's lines to the fusion differences they explain, or make a difference of the group."""
    every = list(rows)
    for group in groups:
        explained = [n for n, row in enumerate(every) if row.regroups and row.parts & group.parts]
        for n in explained:
            every[n] = replace(every[n], why=(*every[n].why, *_evidence(group, goods)))
        if not explained:
            shown = any(row.parts & group.parts for row in every)
            every += _fusion_row(group, goods, () if shown else (_LINES_ONLY,))
    return every


def _evidence(group: _FusionGroup, goods: int) -> list[str]:
    """Quote the first lines of each side that state a fusion of the group."""
    quotations = []
    for side, of_side in (("good", range(goods)), ("bad", range(goods, 1 << 62))):
        lines = [fusion for build, fusions in group.fusions.items() if build in of_side for fusion in fusions.values()]
        quotations += [
            f"{side}: {_fusion_text(fusion)} ({fusion.span})" for fusion in sorted(lines, key=_line)[:_QUOTED]
        ]
    return quotations


def _fusion_row(group: _FusionGroup, goods: int, why: tuple[str, ...]) -> list[Difference]:
    counts = worst({build: frozenset(fusions) for build, fusions in group.fusions.items()}, goods)
    if counts is None:
        return []
    good, bad = (
        _fusion_values([fusions for build, fusions in group.fusions.items() if (build < goods) is is_good])
        for is_good in (True, False)
    )
    first = min((fusion for fusions in group.fusions.values() for fusion in fusions.values()), key=_line)
    name, last = " + ".join(first.inputs), float("inf")
    about = DifferenceType.FUSION, name, MatchedBy.NAME
    return [Difference(*about, good, bad, counts, why, last, group.parts, regroups=True)]


def _fusion_values(builds: Sequence[Mapping[_FusedNames, Fusion]]) -> tuple[SideValue, ...]:
    """Return the distinct sets of fusions of a side, the most frequent first."""
    entries = []
    for group in sorted(grouped(builds, frozenset).values(), key=len, reverse=True):
        lines = sorted(group[0].values(), key=_line)
        text = "; ".join(_fusion_text(fusion) for fusion in lines) or "no such fusion"
        entries.append(SideValue(text, len(group), tuple(f.span for fusions in group for f in fusions.values())))
    return tuple(entries)


def _fusion_text(fusion: Fusion) -> str:
    return f"{fusion.kind} of {' and '.join(fusion.inputs)}"


_line = attrgetter("span.line")
