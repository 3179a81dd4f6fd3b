"""The items as atoms in the order of suspicion: what is searched, in what order, with what weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.search.ledger import bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.search.model import Item

UNIFORM_SHARE = 0.3
"""How much of the suspicion is spread evenly: a wrong prior then costs at most log2(1/0.3) = 1.7 builds."""


class Space:
    """Atoms, each a mask of items that change together, the most suspicious first; equals stay in the given order."""

    def __init__(self, items: Sequence[Item]) -> None:
        total = sum(item.weight for item in items)
        even = UNIFORM_SHARE / len(items) if items else 0.0
        self._weights = [(1 - UNIFORM_SHARE) * item.weight / total + even for item in items]
        order = sorted(range(len(items)), key=lambda index: -items[index].weight)
        self.atoms = [1 << index for index in order]
        self.all = (1 << len(items)) - 1

    def atoms_of(self, mask: int) -> list[int]:
        """Return the atoms within a subset, in order."""
        return [atom for atom in self.atoms if atom & mask]

    def weight(self, atom: int) -> float:
        """Return the share of suspicion that an atom's items have together."""
        return sum(self._weights[index] for index in bits(atom))
