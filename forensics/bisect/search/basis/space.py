"""The items as atoms in the order of suspicion: what is searched, in what order, with what weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.bisect.search.basis.ledger import mask_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from trtforensics.bisect.search.basis.model import Item, Verdict

UNIFORM_SHARE = 0.3
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
        total = sum(item.weight for item in items)
        even = UNIFORM_SHARE / max(1, len(items))
        order = sorted(range(len(items)), key=lambda index: -items[index].weight)
        shares = [(1 - UNIFORM_SHARE) * item.weight / total + even for item in items]
        self.atoms = [Atom(frozenset({index}), 1 << index, shares[index]) for index in order]
        self.slack = _SLACK if len({item.weight for item in items}) > 1 else 0
        self.all = (1 << len(items)) - 1
        self._edges = [mask_of(edge) for edge in edges]

    def atoms_of(self, mask: int) -> list[Atom]:
        """Return the atoms within a subset, in order."""
        return [atom for atom in self.atoms if atom.mask & mask]

    def join(self, group: int) -> bool:
        """Merge the atoms that a group of items touches into one, in the place of the first, if they lie apart.

        Neighbours stay two atoms: the refused cut between them says it all. Return whether atoms were merged.
        """
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
            if cut and verdict != "unresolved":
                cut = [edge for edge in cut if not (edge & mask and edge & ~mask)]
        return cut
