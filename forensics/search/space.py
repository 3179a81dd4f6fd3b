"""The items as atoms in the order of suspicion: what is searched, in what order, with what weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.search.ledger import bits, mask_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from trtforensics.search.model import Item, Verdict

UNIFORM_SHARE = 0.3
"""How much of the suspicion is spread evenly: a wrong prior then costs at most log2(1/0.3) = 1.7 builds."""


class Space:
    """Atoms, each a mask of items that change together, the most suspicious first; equals stay in the given order.

    ``edges`` are pairs of items that depend on each other, as indexes: where a mix is refused, they say which items
    may have to change together.
    """

    def __init__(self, items: Sequence[Item], edges: Collection[tuple[int, int]] = ()) -> None:
        total = sum(item.weight for item in items)
        even = UNIFORM_SHARE / len(items) if items else 0.0
        self._weights = [(1 - UNIFORM_SHARE) * item.weight / total + even for item in items]
        order = sorted(range(len(items)), key=lambda index: -items[index].weight)
        self._edges = [mask_of(edge) for edge in edges]
        self.atoms = [1 << index for index in order]
        self.all = (1 << len(items)) - 1

    def atoms_of(self, mask: int) -> list[int]:
        """Return the atoms within a subset, in order."""
        return [atom for atom in self.atoms if atom & mask]

    def weight(self, atom: int) -> float:
        """Return the share of suspicion that an atom's items have together."""
        return sum(self._weights[index] for index in bits(atom))

    def join(self, group: int) -> None:
        """Make one atom of all atoms that a group of items touches; it takes the place of the first."""
        touched = [atom for atom in self.atoms if atom & group]
        together = 0
        for atom in touched:
            together |= atom
        self.atoms = [together if atom == touched[0] else atom for atom in self.atoms if atom not in touched[1:]]

    def split(self, group: int) -> None:
        """Make single items of the atoms inside a group."""
        parts: list[int] = []
        for atom in self.atoms:
            parts += [1 << index for index in bits(atom)] if atom & group else [atom]
        self.atoms = parts

    def couples(self, refused: int, log: Iterable[tuple[int, Verdict]]) -> list[int]:
        """Return the edges that a refused subset cuts and that no resolved subset has cut: what may not mix."""
        cut = [edge for edge in self._edges if edge & refused and edge & ~refused]
        for mask, verdict in log:
            if cut and verdict != "unresolved":
                cut = [edge for edge in cut if not (edge & mask and edge & ~mask)]
        return cut
