"""The fusion lines in which logs differ: evidence for a fusion difference, or the only sign of it.

A fusion inside a ForeignNode, or of constants, leaves no trace in the engine's layer names.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from trtforensics.comparison.alignment import MatchedBy, join_groups
from trtforensics.comparison.differences import Difference, DifferenceType, SideValue
from trtforensics.comparison.scores import worst
from trtforensics.comparison.views import BuildView
from trtforensics.console.counting import grouped
from trtforensics.model.log import Fusion
from trtforensics.parsers.notation.names import is_helper, members, without_profile

FusedNames = frozenset[str]
_SHOWN = 3
_LINES_ONLY = "only the logs' fusion lines tell it; the layers do not show it"


@dataclass(frozen=True, slots=True)
class FusionGroup:
    """Fusions that share members and that only some builds have; ``fusions`` maps the number of a build to its own."""

    parts: frozenset[str]
    fusions: Mapping[int, Mapping[FusedNames, Fusion]]


def differing(good: Sequence[BuildView], bad: Sequence[BuildView]) -> tuple[list[FusionGroup], tuple[str, ...]]:
    """Return the fusions that not all logs have, in groups, and notes on what is not compared."""
    fusions_of = {
        number: {
            frozenset(map(without_profile, fusion.inputs)): fusion
            for fusion in build.fusions
            # a layer joined with helpers only does not change
            if sum(any(not is_helper(part) for part in _parts((name,))) for name in fusion.inputs) > 1
        }
        for number, build in enumerate((*good, *bad))
        if build.fusions is not None
    }
    sides = {number >= len(good) for number in fusions_of}
    if len(sides) == 1:
        return [], (f"fusion lines are printed by the {'bad' if True in sides else 'good'} side only and not compared",)
    everywhere = frozenset.intersection(*map(frozenset, fusions_of.values())) if fusions_of else frozenset()
    parts = {inputs: _parts(inputs) for each in fusions_of.values() for inputs in each if inputs not in everywhere}
    groups = join_groups([sorted(names) for names in parts.values()])
    owner = {part: number for number, group in enumerate(groups) for part in group}
    by_group: list[dict[int, dict[FusedNames, Fusion]]] = [{build: {} for build in fusions_of} for _ in groups]
    for build, fusions in fusions_of.items():
        for inputs, fusion in fusions.items():
            if inputs in parts:
                by_group[owner[min(parts[inputs])]][build][inputs] = fusion
    return [FusionGroup(frozenset(group), fusions) for group, fusions in zip(groups, by_group, strict=True)], ()


def _parts(inputs: Iterable[str]) -> frozenset[str]:
    return frozenset(part for name in inputs for part in (members(name) or (name,)))


def merged(rows: Iterable[Difference], groups: Iterable[FusionGroup], goods: int) -> list[Difference]:
    """Add each group's lines to the fusion differences they explain, or make a difference of the group."""
    every = list(rows)
    for group in groups:
        explained = [n for n, row in enumerate(every) if row.regroups and row.parts & group.parts]
        for n in explained:
            every[n] = replace(every[n], why=(*every[n].why, *_evidence(group, goods)))
        if not explained:
            shown = any(row.parts & group.parts for row in every)
            every += _row(group, goods, () if shown else (_LINES_ONLY,))
    return every


def _evidence(group: FusionGroup, goods: int) -> list[str]:
    """Quote the first lines of each side that state a fusion of the group."""
    quotations = []
    for side, of_side in (("good", range(goods)), ("bad", range(goods, 1 << 62))):
        lines = [fusion for build, fusions in group.fusions.items() if build in of_side for fusion in fusions.values()]
        quotations += [f"{side}: {_text(fusion)} ({fusion.span})" for fusion in sorted(lines, key=_line)[:_SHOWN]]
    return quotations


def _row(group: FusionGroup, goods: int, why: tuple[str, ...]) -> list[Difference]:
    counts = worst({build: frozenset(fusions) for build, fusions in group.fusions.items()}, goods)
    if counts is None:
        return []
    good, bad = (
        _entries([fusions for build, fusions in group.fusions.items() if (build < goods) is is_good])
        for is_good in (True, False)
    )
    first = min((fusion for fusions in group.fusions.values() for fusion in fusions.values()), key=_line)
    name, last = " + ".join(first.inputs), float("inf")
    about = DifferenceType.FUSION, name, MatchedBy.NAME
    return [Difference(*about, good, bad, counts, why, last, group.parts, regroups=True)]


def _entries(builds: Sequence[Mapping[FusedNames, Fusion]]) -> tuple[SideValue, ...]:
    """Return the distinct sets of fusions of a side, the most frequent first."""
    entries = []
    for group in sorted(grouped(builds, frozenset).values(), key=len, reverse=True):
        lines = sorted(group[0].values(), key=_line)
        text = "; ".join(_text(fusion) for fusion in lines) or "no such fusion"
        entries.append(SideValue(text, len(group), tuple(f.span for fusions in group for f in fusions.values())))
    return tuple(entries)


def _text(fusion: Fusion) -> str:
    return f"{fusion.kind} of {' and '.join(fusion.inputs)}"


_line = attrgetter("span.line")
