"""The most builds that a search may take, and whether a gamble that may cost one more stays within them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.bisect.search.basis.chain import depth

if TYPE_CHECKING:
    from trtforensics.bisect.search.basis.chain import Chain


@dataclass(slots=True)
class Budget:
    """The promise: 2 + s + M (L + 1) builds for s sets of M members in all, and M - s to see that each is needed.

    L is ``halvings``, the most that it takes to single out one of all items. ``sets`` and ``members`` count those known
    so far; the builds that see whether members are needed are counted on neither side.
    """

    halvings: int
    slack: int = 0
    sets: int = 0
    members: int = 0

    def promised(self, members: int) -> int:
        """Return the builds allowed if the set being searched turns out to have this many members and is the last."""
        return 3 + self.sets + (self.members + members) * (self.halvings + 1)

    def allows_gamble(self, builds: int, kept: int, chain: Chain) -> bool:
        """Return whether to try the last few suspects alone, which pays if the set needs no more than one of them.

        ``builds`` are spent, ``kept`` members of the set known. If the gamble is lost, the next member is sought among
        the atoms before the turn.
        """
        tried = builds + chain.width
        lost = tried + chain.halvings + depth(chain.high - 1) + self.slack + 1
        return tried + 1 <= self.promised(kept + 1) and lost + 1 <= self.promised(kept + 2)
