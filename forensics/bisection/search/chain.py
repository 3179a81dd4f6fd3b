"""Items as atoms in the order of suspicion, and growing chains of their subsets with the link at which they turn bad.

The first link holds the atoms that are kept on, each further one an atom more. By monotonicity every verdict says
something about the chain: a good superset of a link shows it good, a bad subset shows it bad.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from operator import or_

from trtforensics.bisection.search.ledger import Ledger, items_of, mask_of
from trtforensics.bisection.search.model import Item, Verdict

_MOST_IN_A_ROW = 7

_UNIFORM_SHARE = 0.3
"""The share of suspicion that is spread evenly, so that a wrong prior costs at most log2(1/0.3) = 1.7 builds."""

_SLACK = 2
"""Halvings that a search by suspicion may take beyond those of equal items: log2(1/0.3), rounded up."""


@dataclass(frozen=True, slots=True)
class Atom:
    """Items that change together, also as a mask, and the share of suspicion that they have together."""

    items: frozenset[int]
    mask: int
    weight: float


class Space:
    """Atoms, the most suspicious first; equals stay in the given order.

    ``edges`` are pairs of items that depend on each other, as indexes: where a mix is refused, they say which items
    may have to change together. ``slack`` is how many halvings more than equal items need a search may take.
    """

    def __init__(self, items: Sequence[Item], edges: Collection[tuple[int, int]] = ()) -> None:
        order = sorted(range(len(items)), key=lambda index: -items[index].weight)
        shares = shares_of([item.weight for item in items])
        self.atoms = [Atom(frozenset({index}), 1 << index, shares[index]) for index in order]
        self.slack = _SLACK if len({item.weight for item in items}) > 1 else 0
        self.all = (1 << len(items)) - 1
        self._edges = [mask_of(edge) for edge in edges]

    def atoms_of(self, mask: int) -> list[Atom]:
        """Return the atoms within a subset, in order; of one that reaches out of it, the part inside."""
        inside = ((atom, atom.mask & mask) for atom in self.atoms if atom.mask & mask)
        return [a if part == a.mask else replace(a, items=items_of(part), mask=part) for a, part in inside]

    def join(self, group: int) -> bool:
        """Merge the atoms that a group touches into the first, and return whether any were: neighbours stay two."""
        places = [place for place, atom in enumerate(self.atoms) if atom.mask & group]
        if places[-1] - places[0] < len(places):
            return False
        touched = [self.atoms[place] for place in places]
        together = Atom(
            frozenset().union(*(atom.items for atom in touched)),
            sum(atom.mask for atom in touched),
            sum(atom.weight for atom in touched),
        )
        kept = [atom for place, atom in enumerate(self.atoms) if place not in places]
        self.atoms = [*kept[: places[0]], together, *kept[places[0] :]]
        return True

    def couples(self, refused: int, log: Iterable[tuple[int, Verdict]]) -> list[int]:
        """Return the edges that a refused subset cuts and no resolved subset cuts: items that may not mix."""
        cut = [edge for edge in self._edges if edge & refused and edge & ~refused]
        for mask, verdict in log:
            if cut and verdict is not Verdict.UNRESOLVED:
                cut = [edge for edge in cut if not (edge & mask and edge & ~mask)]
        return cut


def shares_of(weights: Sequence[float]) -> list[float]:
    """Return the share of suspicion that each weight has; a part of it is spread evenly."""
    total, even = sum(weights), _UNIFORM_SHARE / max(1, len(weights))
    return [(1 - _UNIFORM_SHARE) * weight / total + even for weight in weights]


class NotMonotoneError(Exception):
    """A bad subset lies inside a good one: conclusions from monotonicity do not hold."""


class Chain:
    """The subsets ``links[0] < links[1] < …``; the turn lies above ``low`` (good) and not above ``high`` (bad).

    Cuts one at a time follow the weights as far as ``halvings``, those of equal atoms and ``slack`` more, are enough.
    """

    def __init__(self, ledger: Ledger, kept: int, atoms: Sequence[Atom], slack: int = 0) -> None:
        self.atoms = atoms
        self.halvings = depth(len(atoms)) + slack
        self.links = list(accumulate((atom.mask for atom in atoms), or_, initial=kept))
        self.mass = list(accumulate((atom.weight for atom in atoms), initial=0.0))
        self.low = 0
        self.high = len(atoms)
        self.refused: set[int] = set()
        self._in_a_row = 0
        self._slack = slack
        self._ledger = ledger
        self._read = 0

    def update(self) -> None:
        """Apply the verdicts recorded since the last call; a NotMonotoneError where they contradict each other."""
        begun = self._read > 0
        for mask, verdict in self._ledger.log[self._read :]:
            before = self.low, self.high, len(self.refused)
            self._take(mask, verdict)
            if before[:2] != (self.low, self.high):
                self._in_a_row = 0
                self.halvings = max(self.halvings - begun, depth(self.width))
            self._in_a_row += len(self.refused) - before[2]
        if not begun:
            self.halvings = depth(self.width) + self._slack
        self._read = len(self._ledger.log)
        if self.low >= self.high:
            raise NotMonotoneError

    def _take(self, mask: int, verdict: Verdict) -> None:
        if verdict is Verdict.GOOD:
            if not self.links[0] & ~mask:
                self.low = max(self.low, self.last_inside(mask))
        elif verdict is Verdict.BAD:
            if not mask & ~self.links[-1]:
                self.high = min(self.high, bisect_left(self.links, x=True, key=lambda link: not mask & ~link))
        else:
            self.refuse(mask)

    def refuse(self, mask: int) -> None:
        """Never cut at this subset, if it is a link."""
        if (link := self.place(mask)) is not None:
            self.refused.add(link)

    def last_inside(self, mask: int) -> int:
        """Return the longest link that lies inside a subset; -1 if none does."""
        return bisect_left(self.links, x=True, key=lambda link: bool(link & ~mask)) - 1

    def place(self, mask: int) -> int | None:
        """Return which link a subset is, or None."""
        link = self.last_inside(mask)
        return link if link >= 0 and self.links[link] == mask else None

    @property
    def stuck(self) -> bool:
        """Whether so many cuts were refused in a row that something far away must be the reason."""
        return self._in_a_row >= _MOST_IN_A_ROW and not self.busy()

    @property
    def width(self) -> int:
        """The number of atoms that the turn may be at."""
        return self.high - self.low

    def open_atoms(self) -> Sequence[Atom]:
        """Return the atoms that the turn may be at."""
        return self.atoms[self.low : self.high]

    def built(self) -> list[int]:
        """Return the links that were seen to be good, shortest first."""
        return [link for link in self.links[: self.low + 1] if self._ledger.seen(link) is Verdict.GOOD]

    def suspects(self) -> int:
        """Return the atoms that the turn may be at, as one mask."""
        return self.links[self.high] & ~self.links[self.low]

    def busy(self) -> set[int]:
        """Return the links under way whose verdicts can still narrow the chain."""
        places = {self.place(mask) for mask, _, _ in self._ledger.pending}
        return {place for place in places if place is not None and self.low < place < self.high}

    def cuts(self, room: int) -> list[int]:
        """Return up to ``room`` links that divide what is open, besides those under way, into equal shares."""
        gaps = list(pairwise(sorted({self.low, self.high} | self.busy())))
        free = {gap: self._free(*gap) for gap in gaps}
        if room == len(gaps) == 1:
            free = {gap: self._within_halvings(links) for gap, links in free.items()}
        shares = dict.fromkeys(gaps, 1)
        for _ in range(room):
            open_gaps = [gap for gap in gaps if len(free[gap]) >= shares[gap]]
            if not open_gaps:
                break
            shares[max(open_gaps, key=lambda gap: (self.mass[gap[1]] - self.mass[gap[0]]) / shares[gap])] += 1
        return [cut for gap in gaps for cut in self._divide(gap, shares[gap], free[gap])]

    def _free(self, left: int, right: int) -> list[int]:
        """Return the links at which to cut: after refusals in a row, ever farther from those that were refused."""
        links = [link for link in range(left + 1, right) if link not in self.refused]
        if self._in_a_row > 1:
            away = 1 << (self._in_a_row - 1)
            refused = sorted(self.refused)
            far = [link for link in links if _distance(refused, link) >= away]
            return far or links
        return links

    def _within_halvings(self, links: list[int]) -> list[int]:
        """Return the links that leave no side with more atoms than the halvings after this one can tell apart."""
        most = 1 << max(self.halvings - 1, 0)
        return [link for link in links if self.high - most <= link <= self.low + most] or links

    def _divide(self, gap: tuple[int, int], shares: int, free: list[int]) -> list[int]:
        chosen: list[int] = []
        left, right = self.mass[gap[0]], self.mass[gap[1]]
        rounding = self.mass[-1] * 1e-9
        for share in range(1, shares):
            wanted = left + (right - left) * share / shares
            rest = [link for link in free if link not in chosen]
            chosen.append(min(rest, key=lambda link: (round(abs(self.mass[link] - wanted) / rounding), link)))
        return chosen


def _distance(places: list[int], place: int) -> int:
    """Return how far the nearest of some sorted places is; there is at least one."""
    after = bisect_left(places, place)
    return min(abs(place - near) for near in places[max(0, after - 1) : after + 1])


def depth(count: int) -> int:
    """Return how many halvings single out one of ``count``: the logarithm to base 2, rounded up."""
    return (max(count, 1) - 1).bit_length()
