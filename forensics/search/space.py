"""The items as atoms in the order of suspicion: what is searched, in what order, with what weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.search.ledger import mask_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from trtforensics.search.model import Item, Verdict

UNIFORM_SHARE = 0.3
"""How much of the suspicion is spread evenly: a wrong prior then costs at most log2(1/0.3) = 1.7 builds."""


@dataclass(frozen=True, slots=True)
class Atom:
    """Items that change together, as a mask, and the share of suspicion that they have together."""

    mask: int
    weight: float


class Space:
    """Atoms, the most suspicious first; equals stay in the given order.

    ``edges`` are pairs of items that depend on each other, as indexes: where a mix is refused, they say which items
    may have to change together.
    """

    def __init__(self, items: Sequence[Item], edges: Collection[tuple[int, int]] = ()) -> None:
        total = sum(item.weight for item in items)
        even = UNIFORM_SHARE / max(1, len(items))
        order = sorted(range(len(items)), key=lambda index: -items[index].weight)
        self.atoms = [Atom(1 << index, (1 - UNIFORM_SHARE) * items[index].weight / total + even) for index in order]
        self.all = (1 << len(items)) - 1
        self._edges = [mask_of(edge) for edge in edges]

    def atoms_of(self, mask: int) -> list[Atom]:
        """Return the atoms within a subset, in order."""
        return [atom for atom in self.atoms if atom.mask & mask]

    def join(self, group: int) -> None:
        """Make one atom of all atoms that a group of items touches; it takes the place of the first."""
        touched = self.atoms_of(group)
        together = Atom(union(touched), sum(atom.weight for atom in touched))
        rest = {id(atom) for atom in touched[1:]}
        self.atoms = [together if atom is touched[0] else atom for atom in self.atoms if id(atom) not in rest]

    def couples(self, refused: int, log: Iterable[tuple[int, Verdict]]) -> list[int]:
        """Return the edges that a refused subset cuts and that no resolved subset has cut: what may not mix."""
        cut = [edge for edge in self._edges if edge & refused and edge & ~refused]
        for mask, verdict in log:
            if cut and verdict != "unresolved":
                cut = [edge for edge in cut if not (edge & mask and edge & ~mask)]
        return cut


def union(atoms: Iterable[Atom]) -> int:
    """Return the items of all these atoms."""
    return sum(atom.mask for atom in atoms)
