"""One minimal bad set inside a bad subset: the item at which the growing subset turns bad belongs to it; keep it, go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.search.chain import Chain
from trtforensics.search.ledger import Wish
from trtforensics.search.model import Verdict

if TYPE_CHECKING:
    from trtforensics.search.ledger import Ledger, Steps, Wishes
    from trtforensics.search.space import Space


@dataclass(frozen=True, slots=True)
class Found:
    """A set: ``members`` are certain; ``doubt`` holds atoms of which at least one belongs to it too."""

    members: int
    doubt: int = 0


class MinimalSet:
    """The search for one set; ``suspects`` says among what the next member is sought."""

    def __init__(self, ledger: Ledger, space: Space, within: int) -> None:
        self._ledger = ledger
        self._space = space
        self._within = within
        self.kept = 0
        self.chain: Chain | None = None

    def steps(self) -> Steps[Found]:
        """Search.

        Raises:
            NotMonotoneError: Verdicts contradict each other.
        """
        pool = self._space.atoms_of(self._within)
        while True:
            chain = Chain(self._ledger, self.kept, pool, [self._space.weight(atom) for atom in pool])
            self.chain = chain
            yield from self._narrow(chain)
            if chain.width > 1:
                return Found(self.kept, chain.suspects())
            self.kept |= chain.suspects()
            pool = pool[: chain.low]
            if (yield from self._ledger.verdict(self.kept, "the culprits alone")) is Verdict.BAD:
                return Found(self.kept)

    def _narrow(self, chain: Chain) -> Steps[None]:
        chain.update()
        while chain.width > 1:
            wishes: Wishes = tuple(Wish(chain.links[cut], "narrow") for cut in chain.cuts(self._ledger.room))
            if not wishes and not any(chain.place(mask) is not None for mask in self._ledger.pending):
                return
            yield wishes
            chain.update()
