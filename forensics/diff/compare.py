"""The comparison: builds aligned, values counted, rows made, effects put under their causes."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from trtforensics.diff import aspects, effects, fusion_lines
from trtforensics.diff.aligned_layers import align_builds
from trtforensics.diff.alignment import MatchedBy, plain_name
from trtforensics.diff.differences import Comparison, Difference, DifferenceType, PairHalf, SideValue, SuspiciousPair
from trtforensics.diff.granularity import comparable
from trtforensics.diff.scores import ValueOccurrence, count, suspicious_pairs, worst
from trtforensics.model.timings import NEAR_TIE_RATIO

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence

    from trtforensics.diff.aligned_layers import AlignedBuilds, AlignedLayer, FusionSite
    from trtforensics.diff.loading import ComparedSide
    from trtforensics.diff.scores import Counts
    from trtforensics.diff.views import BuildView, LayerView
    from trtforensics.model.span import SourceSpan

_ABSENT = "absent"
_SORTS = (("layers", "engine layers"), ("operations", "operations inside ForeignNodes"))


def compare(good: ComparedSide, bad: ComparedSide) -> Comparison:
    """Compare the builds of two sides, each with at least one."""
    tables = [_LayerComparison(good.builds, bad.builds, sort, name) for sort, name in _SORTS]
    rows = [row for table in tables for row in table.rows()]
    groups, fusion_notes = fusion_lines.differing(good.builds, bad.builds)
    rows = fusion_lines.merged(rows, groups, len(good.builds))
    rows = effects.ordered(rows, [table.table for table in tables], len(good.builds))
    pairs, others = _pairs(tables, len(good.builds), len(bad.builds))
    matched = Counter(slot.how for table in tables for slot in table.table.slots if len(slot.layers) > 1)
    notes = [note for table in tables for note in table.notes]
    return Comparison(good, bad, tuple(rows), pairs, others, matched, (*notes, *fusion_notes))


class _LayerComparison:
    """One sort of layers of all builds side by side, and the differences in it."""

    def __init__(self, good: Sequence[BuildView], bad: Sequence[BuildView], sort: str, name: str) -> None:
        self.goods = len(good)
        self.notes: list[str] = []
        every = (*good, *bad)
        self._kinds = {number: build.kind for number, build in enumerate(every)}
        told = {number: layers for number, build in enumerate(every) if (layers := getattr(build, sort)) is not None}
        sides = [sum(number < self.goods for number in told), sum(number >= self.goods for number in told)]
        if told and not all(sides):
            self.notes.append(f"{name} are told by the {'bad' if sides[1] else 'good'} side only and not compared")
            told = {}
        told, left_out = comparable(told, self._kinds)
        self.notes += left_out
        self.table: AlignedBuilds = align_builds(told)
        self.items: list[ValueOccurrence] = []
        self.of_items: list[tuple[str, str, SourceSpan | None]] = []

    def rows(self) -> list[Difference]:
        """Return the differences, by position, and remember each slot's values for :meth:`items`."""
        in_sites = self.table.in_sites()
        rows = [row for site in self.table.sites for row in self._site(site)]
        silent = 0
        for slot in self.table.slots:
            found = {aspect: aspects.values(aspect, slot.layers, self._kinds) for aspect in aspects.ASPECTS}
            of_slot = [row for aspect, values in found.items() for row in self._aspect(slot, aspect, values)]
            explained = any((build, id(layer)) in in_sites for build, layer in slot.layers.items())
            rows += of_slot if explained else [*self._renamed(slot), *of_slot, *self._presence(slot)]
            silent += len(slot.layers) > 1 and not any(found.values())
            self._remember(slot, found, explained=explained)
        if silent and silent == sum(len(slot.layers) > 1 for slot in self.table.slots):
            self.notes.append("only the names of layers are told in common: their tactics cannot be compared")
        elif silent:
            self.notes.append(f"of {silent} layers the sources tell nothing in common but the name")
        return rows

    def _site(self, site: FusionSite) -> list[Difference]:
        """Return the row of members that builds fuse differently."""
        values = {build: site.arrangement(build) for build in site.layers}
        entries = self._entries(values, site.layers)
        first = {build: layers[0] for build, layers in site.layers.items()}
        name = first[min(values, key=lambda build: (len(values[build]), build))].name
        self._add_items(values, first, name)
        why = (f"{len(site.parts)} members: {', '.join(sorted(site.parts))}",)
        about = _RowSubject(name, MatchedBy.FUSED_MEMBERS, site.position, site.parts, why, regroups=True)
        return self._row(DifferenceType.FUSION, about, values, entries)

    def _renamed(self, slot: AlignedLayer) -> list[Difference]:
        """Return the row of a layer that has another name in some builds: a replay would not find it there."""
        if slot.how is MatchedBy.NAME:
            return []
        values = {build: plain_name(layer.name) for build, layer in slot.layers.items()}
        entries = self._entries(values, {build: (layer,) for build, layer in slot.layers.items()})
        why = ("the same layer under another name: a replay made of one build does not apply to it in the other",)
        return self._row(DifferenceType.FUSION, _about(slot, why), values, entries)

    def _aspect(
        self, slot: AlignedLayer, aspect: DifferenceType, values: Mapping[int, aspects.Value]
    ) -> list[Difference]:
        if len(set(values.values())) <= 1:
            return []
        entries = self._entries(values, {build: (slot.layers[build],) for build in values}, aspect)
        return self._row(aspect, _about(slot), values, entries)

    def _presence(self, slot: AlignedLayer) -> list[Difference]:
        """Return the row of a layer that some builds lack."""
        if len(slot.layers) == len(self.table.builds):
            return []
        values = {build: build in slot.layers for build in self.table.builds}
        entries = self._entries(values, {build: (layer,) for build, layer in slot.layers.items()})
        good, bad = self._shares(values, of=True)
        return self._row(DifferenceType.MISSING if good >= bad else DifferenceType.ADDED, _about(slot), values, entries)

    def _shares(self, values: Mapping[int, bool], *, of: bool) -> tuple[float, float]:
        counts = count([build for build, value in values.items() if value is of], values, self.goods)
        return counts.good / max(counts.of_good, 1), counts.bad / max(counts.of_bad, 1)

    def _row(
        self,
        type_: DifferenceType,
        about: _RowSubject,
        values: Mapping[int, Hashable],
        entries: tuple[tuple[SideValue, ...], tuple[SideValue, ...]],
    ) -> list[Difference]:
        """Make a row, unless both sides tell the same in the same shares, or one does not tell."""
        counts = worst(values, self.goods)
        if counts is None:
            return []
        good, bad = entries
        why = [*about.why, *_seen(counts)]
        if type_ is DifferenceType.TACTIC:
            why += _near_ties(good, "good") + _near_ties(bad, "bad")
        name, how, position, parts, _, regroups = about
        return [Difference(type_, name, how, good, bad, counts, tuple(why), position, parts, regroups)]

    def _entries(
        self,
        values: Mapping[int, Hashable],
        layers: Mapping[int, Sequence[LayerView]],
        aspect: DifferenceType | None = None,
    ) -> tuple[tuple[SideValue, ...], tuple[SideValue, ...]]:
        """Return the distinct values of either side, the most frequent first."""
        sides: tuple[dict[Hashable, list[int]], dict[Hashable, list[int]]] = (defaultdict(list), defaultdict(list))
        for build, value in values.items():
            sides[build >= self.goods][value].append(build)
        good, bad = (
            tuple(_entry(builds, layers, aspect) for builds in sorted(side.values(), key=_most_first)) for side in sides
        )
        return good, bad

    def _remember(
        self, slot: AlignedLayer, found: Mapping[DifferenceType, Mapping[int, aspects.Value]], *, explained: bool
    ) -> None:
        """Keep what the slot is in each build as items for pairs."""
        told = [values for values in found.values() if values]
        builds = slot.layers if explained else dict.fromkeys(self.table.builds)
        values = {build: tuple(one.get(build) for one in told) if build in slot.layers else _ABSENT for build in builds}
        self._add_items(values, slot.layers, slot.name)

    def _add_items(self, values: Mapping[int, Hashable], layers: Mapping[int, LayerView], name: str) -> None:
        seen: dict[Hashable, list[int]] = defaultdict(list)
        for build, value in values.items():
            seen[value].append(build)
        if len(seen) <= 1:
            return
        slot = len(self.items)
        for builds in seen.values():
            layer = layers.get(builds[-1])
            text = aspects.text(DifferenceType.TACTIC, layer) or layer.name if layer is not None else _ABSENT
            self.items.append(ValueOccurrence(slot, frozenset(builds)))
            self.of_items.append((name, text, layer.span if layer is not None else None))


class _RowSubject(NamedTuple):
    """What a row is about: a slot, or members that are fused differently."""

    name: str
    how: MatchedBy
    position: float
    parts: frozenset[str]
    why: tuple[str, ...] = ()
    regroups: bool = False


def _about(slot: AlignedLayer, why: tuple[str, ...] = ()) -> _RowSubject:
    parts = frozenset().union(*{layer.parts for layer in slot.layers.values()})
    return _RowSubject(slot.name, slot.how, slot.position, parts, why)


def _entry(
    builds: Sequence[int], layers: Mapping[int, Sequence[LayerView]], aspect: DifferenceType | None
) -> SideValue:
    of_builds = [layers[build] for build in builds if build in layers]
    if not of_builds:
        return SideValue(_ABSENT, len(builds), ())
    first = of_builds[0]
    # A near tie in any build is worth showing: the entry's layer is one that has it, where there is one.
    shown = next((group[0] for group in of_builds if group[0].near_tie), first[0])
    text = aspects.text(aspect, shown) if aspect else ", ".join(layer.name for layer in first)
    spans = tuple(layer.span for group in of_builds for layer in group)
    return SideValue(text, len(builds), spans, shown, tuple(layer.name for layer in first))


def _most_first(builds: Sequence[int]) -> tuple[int, int]:
    return -len(builds), builds[0]


def _seen(counts: Counts) -> list[str]:
    """Say the counts, where there is more than one build a side."""
    if counts.of_good == counts.of_bad == 1:
        return []
    return [f"in {counts.bad} of {counts.of_bad} bad builds and {counts.good} of {counts.of_good} good ones"]


def _near_ties(entries: Collection[SideValue], side: str) -> list[str]:
    found = []
    for entry in entries:
        layer = entry.layer
        if layer is not None and layer.near_tie and layer.time_ms and layer.runner_up_ms is not None:
            slower = layer.runner_up_ms / layer.time_ms - 1
            limit = f"{NEAR_TIE_RATIO - 1:.0%}"
            found.append(
                f"near tie in {side} ({layer.span}): {layer.time_ms:g} ms, the runner-up {slower:.1%} slower; "
                f"up to {limit} build noise may flip it"
            )
    return found


def _pairs(tables: Sequence[_LayerComparison], goods: int, bads: int) -> tuple[tuple[SuspiciousPair, ...], int]:
    """Return the pairs among the values of all sorts of layers."""
    items: list[ValueOccurrence] = []
    described: list[tuple[str, str, SourceSpan | None]] = []
    for table in tables:
        shift = len(items)
        items += [ValueOccurrence(item.slot + shift, item.seen) for item in table.items]
        described += table.of_items
    found = suspicious_pairs(items, goods, bads)

    def half(index: int) -> PairHalf:
        name, text, span = described[index]
        return PairHalf(name, text, span, count(items[index].seen, range(goods + bads), goods))

    pairs = tuple(SuspiciousPair((half(one.first), half(one.second)), one.counts) for one in found.found)
    return pairs, found.others
