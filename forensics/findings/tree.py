"""Arranges findings: consequences below the root that they follow from, the same finding of several builds once."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain
from operator import itemgetter

from trtforensics.console.counting import grouped
from trtforensics.findings.finding import Evidence, Finding, Severity, Step, builds_in_words
from trtforensics.findings.rule import SPECIFIC, WRAPPED
from trtforensics.model.span import SourceSpan

MAX_EVIDENCE = 20
"""Lines that a finding quotes; further lines are only counted."""

_ABOUT_THE_LOG = "TF7"
"""How codes of rules about the log itself begin: they rank below findings that name a cause."""


RECORD = 40
"""Lines of a record that an error opens: the ONNX parser prints the whole node before it says what is wrong."""
_YIELDS = {SPECIFIC: 1, WRAPPED: 2}
"""What findings follow that yield to any error: those of the larger number to those of a smaller."""

NOT_SHOWN = "TF705"
NO_NEWS = frozenset({NOT_SHOWN, "TF707"})
"""The finding about what the log lacks, which ranks below all that the log says, and those that an excerpt replaces."""


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
    groups = grouped(judged, keys.__getitem__)
    root_keys = {keys[entry]: keys[roots[entry]] for entry in judged}
    classed = {keys[entry] for entry in judged if not _YIELDS.keys().isdisjoint(entry.follows)}
    worst: dict[Hashable, int] = {}
    for entry in judged:
        key = root_keys[keys[entry]]
        worst[key] = max(worst.get(key, 0), entry.finding.severity)
    merged = {key: _merged([entry.finding for entry in group]) for key, group in groups.items()}
    order = {key: _order(merged[key], worst[key], classed=key in classed) for key in merged if root_keys[key] == key}
    tops = sorted(order, key=order.__getitem__)
    tops = _dearest_first(tops, [(order[key][:_OF_SOURCE], merged[key].cost_ms) for key in tops])
    index = {key: at for at, key in enumerate(tops)}
    below = [key for key in merged if key not in index]
    below.sort(key=lambda key: (index[root_keys[key]], merged[key].line, merged[key].code))
    consequences = (replace(merged[key], consequence_of=index[root_keys[key]]) for key in below)
    return tuple(_each_command_once([*(merged[key] for key in tops), *consequences]))


def ranked(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings of several sources, each source's arranged, in the order in which all would be arranged."""
    worst: dict[int, int] = {}
    for at, finding in enumerate(findings):
        root = at if finding.consequence_of is None else finding.consequence_of
        worst[root] = max(worst.get(root, 0), finding.severity)
    tops = sorted(worst, key=lambda at: _order(findings[at], worst[at])[:_OF_SOURCE])
    index = {at: place for place, at in enumerate(tops)}
    below = [(index[each.consequence_of], each) for each in findings if each.consequence_of is not None]
    below.sort(key=itemgetter(0))
    return (*(findings[at] for at in tops), *(replace(each, consequence_of=root) for root, each in below))


def _each_command_once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Give the findings; a step whose command stands above for its builds names the finding that has it instead."""
    above: dict[tuple[int, str, int], str] = {}
    for finding in findings:
        steps = []
        for step in finding.next_steps:
            places = [(finding.source, step.command, build) for build in step.builds if step.command]
            codes = sorted({above.get(place, "") for place in places})
            there = f"{step.what}: as under {' and '.join(codes)}"
            steps.append(replace(step, what=there, command="") if codes and all(codes) else step)
            above |= dict.fromkeys([place for place in places if place not in above], finding.code)
        yield replace(finding, next_steps=tuple(steps))


_OF_SOURCE = 4
"""Members of the order of roots by which those of several sources, and those of a source by their time, are sorted."""


def _order(root: Finding, worst: int, *, classed: bool = False) -> tuple[object, ...]:
    """Return what roots are sorted by; ``worst`` is the highest severity among the root and what follows from it.

    Those that only say which class an error is of (``classed``) stand behind those that name a cause.
    """
    about_the_log = root.code.startswith(_ABOUT_THE_LOG)
    worst = Severity.NOTE if root.code == NOT_SHOWN else worst
    return -worst, root.pass_discarded, about_the_log, root.source, classed, root.line, root.code


def _dearest_first(roots: list[Hashable], ranked: Sequence[tuple[tuple[object, ...], float]]) -> list[Hashable]:
    """Let those of one rank whose time is known stand in its order, the longest first, at the places that they share.

    Errors stay in the order of their lines, and so does what has no time, such as what costs accuracy.
    """
    places: dict[tuple[object, ...], list[int]] = {}
    for place, (rank, cost) in enumerate(ranked):
        if cost and rank[0] != -Severity.ERROR:
            places.setdefault(rank, []).append(place)
    arranged_roots = list(roots)
    for shared in places.values():
        for place, source in zip(shared, sorted(shared, key=lambda place: -ranked[place][1]), strict=True):
            arranged_roots[place] = roots[source]
    return arranged_roots


def _roots(judged: Sequence[FindingWithCauses]) -> dict[FindingWithCauses, FindingWithCauses]:
    """Return the root of each finding: itself where it follows from no other of its build."""
    builds = grouped(judged, lambda entry: (entry.finding.source, entry.finding.build))
    parents: dict[FindingWithCauses, FindingWithCauses] = {}
    for group in builds.values():
        for entry in group:
            parent = _parent(entry, group)
            if parent is not None and _top(parent, parents) is not entry:  # two may each cite the other's lines
                parents[entry] = parent
    return {entry: _top(entry, parents) for entry in judged}


def _top(entry: FindingWithCauses, parents: Mapping[FindingWithCauses, FindingWithCauses]) -> FindingWithCauses:
    while entry in parents:
        entry = parents[entry]
    return entry


def _parent(entry: FindingWithCauses, group: Sequence[FindingWithCauses]) -> FindingWithCauses | None:
    others = [other for other in group if other is not entry and other.finding.code != entry.finding.code]
    stated = [other for other in others if other.cited & entry.because]
    if stated:
        return min(stated, key=lambda other: other.rank)
    for pattern in entry.follows:
        below = RECORD if pattern == WRAPPED else 0
        earlier = [
            other
            for other in others
            if _precedes(other, entry, below)
            and (_is_nearer(other, entry) if pattern in _YIELDS else fnmatchcase(other.finding.code, pattern))
        ]
        if earlier:
            return min(earlier, key=lambda other: other.rank)
    return None


def _is_nearer(other: FindingWithCauses, entry: FindingWithCauses) -> bool:
    """Whether an error comes nearer to the cause than another: it yields to fewer."""
    yields = [max((_YIELDS.get(pattern, 0) for pattern in each.follows), default=0) for each in (other, entry)]
    return other.finding.severity is Severity.ERROR and yields[0] < yields[1]


def _precedes(other: FindingWithCauses, entry: FindingWithCauses, below: int) -> bool:
    """Whether a finding may cause another: no mere note an error, and none that begins over ``below`` lines later."""
    worse = entry.finding.severity > Severity.NOTE and other.finding.severity == Severity.NOTE
    return other.first_line <= entry.last_line + below and not worse


def _keys(
    judged: Iterable[FindingWithCauses], roots: Mapping[FindingWithCauses, FindingWithCauses]
) -> dict[FindingWithCauses, Hashable]:
    """Return what is equal for findings of several builds that become one.

    A build may hold several findings of one signature: the first of each build become one, the second, and so on. Those
    with the same title are one too.
    """
    titles: dict[tuple[int, int, str], dict[str, int]] = {}
    keys: dict[FindingWithCauses, Hashable] = {}
    for entry in judged:
        finding = entry.finding
        place = finding.source, finding.build, finding.signature
        of_place = titles.setdefault(place, {})
        number = of_place.setdefault(finding.title, len(of_place))
        keys[entry] = finding.source, finding.signature, finding.severity, finding.pass_discarded, number
    return {entry: (keys[entry], keys[root] if (root := roots[entry]) is not entry else None) for entry in keys}


def _merged(alike: Sequence[Finding]) -> Finding:
    """Return one finding for those of several builds; title and cause are those of the first build.

    A title or step that is not the same in every build says which builds it is of.
    """
    first = alike[0]
    if len(alike) == 1:
        return first
    number = first.build + 1
    differs = any(finding.title != first.title for finding in alike)
    return replace(
        first,
        title=f"{first.title} in build {number}, alike in others" if differs else first.title,
        next_steps=_steps_of_builds(alike),
        builds=tuple(sorted({build for finding in alike for build in finding.builds})),
        evidence=_shares([finding.evidence for finding in alike]),
        evidence_total=sum(finding.evidence_total for finding in alike),
        layers=tuple(dict.fromkeys(chain.from_iterable(finding.layers for finding in alike))),
        onnx_nodes=tuple(dict.fromkeys(chain.from_iterable(finding.onnx_nodes for finding in alike))),
    )


def _steps_of_builds(alike: Sequence[Finding]) -> tuple[Step, ...]:
    """Return the steps of builds that have the same finding, each once with the builds that it is of."""
    builds: dict[Step, list[int]] = {}
    for finding in alike:
        for step in finding.next_steps:
            builds.setdefault(replace(step, builds=()), []).extend(step.builds)
    every = {build for finding in alike for build in finding.builds}
    return tuple(
        replace(step, builds=tuple(its), what=step.what if {*its} == every else f"{step.what} ({builds_in_words(its)})")
        for step, its in builds.items()
    )


def _shares(lists: Sequence[tuple[Evidence, ...]]) -> tuple[Evidence, ...]:
    """Return at most :data:`MAX_EVIDENCE` lines, as many of each build as of any other, in the order of builds."""
    each = max(1, MAX_EVIDENCE // len(lists))
    return tuple(chain.from_iterable(lines[:each] for lines in lists))[:MAX_EVIDENCE]
