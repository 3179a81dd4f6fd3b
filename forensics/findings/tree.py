"""Arranges findings: consequences below the root that they follow from, the same finding of several builds once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import TYPE_CHECKING

from trtforensics.findings.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from trtforensics.findings.finding import Evidence, Finding
    from trtforensics.model.span import SourceSpan

MAX_EVIDENCE = 20
"""Lines that a finding quotes; further lines are only counted."""

_ABOUT_THE_LOG = "TF7"
"""How codes of rules about the log itself begin: they rank below findings that name a cause."""


_NOT_SHOWN = "TF705"
"""The finding about what the log lacks: it ranks below everything that the log does say."""


@dataclass(frozen=True, slots=True, eq=False)
class FindingWithCauses:
    """A finding about one build, with the fields by which the finding it follows from is looked up.

    ``cited`` are all of its lines; ``because`` the lines that state its cause; ``follows`` the codes it may follow
    from.
    """

    finding: Finding
    cited: frozenset[SourceSpan]
    because: frozenset[SourceSpan] = frozenset()
    follows: tuple[str, ...] = ()

    @property
    def rank(self) -> tuple[int, bool, int]:
        """Its place among possible causes: the worst first, then those that name a cause, then the earliest."""
        return -self.finding.severity, self.finding.code.startswith(_ABOUT_THE_LOG), self.first_line

    @property
    def first_line(self) -> int:
        """The first of its lines."""
        return min(span.line for span in self.cited)

    @property
    def last_line(self) -> int:
        """The last of its lines."""
        return max(span.line for span in self.cited)


def arranged(judged: Sequence[FindingWithCauses]) -> tuple[Finding, ...]:
    """Return the findings, those of builds alike as one: roots, worst first, then what follows from each."""
    roots = _roots(judged)
    keys = _keys(judged, roots)
    groups: dict[Hashable, list[FindingWithCauses]] = {}
    for one in judged:
        groups.setdefault(keys[one], []).append(one)
    root_keys = {keys[one]: keys[roots[one]] for one in judged}
    worst: dict[Hashable, int] = {}
    for one in judged:
        key = root_keys[keys[one]]
        worst[key] = max(worst.get(key, 0), one.finding.severity)
    merged = {key: _merged([one.finding for one in group]) for key, group in groups.items()}
    tops = sorted((key for key in merged if root_keys[key] == key), key=lambda key: _order(merged[key], worst[key]))
    index = {key: at for at, key in enumerate(tops)}
    below = [key for key in merged if key not in index]
    below.sort(key=lambda key: (index[root_keys[key]], merged[key].line, merged[key].code))
    consequences = (replace(merged[key], consequence_of=index[root_keys[key]]) for key in below)
    return (*(merged[key] for key in tops), *consequences)


def _order(root: Finding, worst: int) -> tuple[object, ...]:
    """Return what roots are sorted by; ``worst`` is the highest severity among the root and what follows from it."""
    about_the_log = root.code.startswith(_ABOUT_THE_LOG)
    worst = Severity.NOTE if root.code == _NOT_SHOWN else worst
    return -worst, root.pass_discarded, about_the_log, root.source, root.line, root.code


def _roots(judged: Sequence[FindingWithCauses]) -> dict[FindingWithCauses, FindingWithCauses]:
    """Return the root of each finding: itself where it follows from no other of its build."""
    builds: dict[tuple[int, int], list[FindingWithCauses]] = {}
    for one in judged:
        builds.setdefault((one.finding.source, one.finding.build), []).append(one)
    parents: dict[FindingWithCauses, FindingWithCauses] = {}
    for group in builds.values():
        for one in group:
            parent = _parent(one, group)
            if parent is not None and _top(parent, parents) is not one:  # two may each cite the other's lines
                parents[one] = parent
    return {one: _top(one, parents) for one in judged}


def _top(one: FindingWithCauses, parents: Mapping[FindingWithCauses, FindingWithCauses]) -> FindingWithCauses:
    while one in parents:
        one = parents[one]
    return one


def _parent(one: FindingWithCauses, group: Sequence[FindingWithCauses]) -> FindingWithCauses | None:
    others = [other for other in group if other is not one and other.finding.code != one.finding.code]
    stated = [other for other in others if other.cited & one.because]
    if stated:
        return min(stated, key=lambda other: other.rank)
    for pattern in one.follows:
        earlier = [other for other in others if _precedes(other, one) and fnmatchcase(other.finding.code, pattern)]
        if earlier:
            return min(earlier, key=lambda other: other.rank)
    return None


def _precedes(other: FindingWithCauses, one: FindingWithCauses) -> bool:
    """Whether a finding may be the cause of another: it begins no later, and an error follows from no mere note."""
    worse = one.finding.severity > Severity.NOTE and other.finding.severity == Severity.NOTE
    return other.first_line <= one.last_line and not worse


def _keys(
    judged: Iterable[FindingWithCauses], roots: Mapping[FindingWithCauses, FindingWithCauses]
) -> dict[FindingWithCauses, Hashable]:
    """Return what is equal for findings of several builds that become one.

    A build may hold several findings of one signature: the first of each build become one, the second, and so on.
    """
    met: Counter[tuple[int, int, str]] = Counter()
    own: dict[FindingWithCauses, Hashable] = {}
    for one in judged:
        found = one.finding
        place = found.source, found.build, found.signature
        own[one] = found.source, found.signature, found.severity, found.pass_discarded, met[place]
        met[place] += 1
    return {one: (own[one], own[root] if (root := roots[one]) is not one else None) for one in own}


def _merged(alike: Sequence[Finding]) -> Finding:
    """Return one finding for those of several builds; title, cause and next steps are those of the first build."""
    first = alike[0]
    if len(alike) == 1:
        return first
    return replace(
        first,
        builds=tuple(sorted({build for one in alike for build in one.builds})),
        evidence=_shares([one.evidence for one in alike]),
        evidence_total=sum(one.evidence_total for one in alike),
        layers=tuple(dict.fromkeys(chain.from_iterable(one.layers for one in alike))),
        onnx_nodes=tuple(dict.fromkeys(chain.from_iterable(one.onnx_nodes for one in alike))),
    )


def _shares(lists: Sequence[tuple[Evidence, ...]]) -> tuple[Evidence, ...]:
    """Return at most :data:`MAX_EVIDENCE` lines, as many of each build as of any other, in the order of builds."""
    each = max(1, MAX_EVIDENCE // len(lists))
    return tuple(chain.from_iterable(lines[:each] for lines in lists))[:MAX_EVIDENCE]
