"""The most builds that a search may take, and whether a gamble that may cost one more stays within them."""

from __future__ import annotations

from dataclasses import dataclass


def depth(count: int) -> int:
    """Return how many halvings single out one of ``count``: the logarithm to base 2, rounded up."""
    return (max(count, 1) - 1).bit_length()


@dataclass(slots=True)
class Budget:
    """The promise: 2 + s + M (L + 1) builds for s sets of M members in all, L the halvings of all items.

    ``sets`` and ``members`` count those known so far.
    """

    items: int
    sets: int = 0
    members: int = 0

    def promised(self, members: int) -> int:
        """Return the builds allowed if the set being searched turns out to have this many members and is the last."""
        return 3 + self.sets + (self.members + members) * (depth(self.items) + 1)

    def allows_gamble(self, builds: int, kept: int, suspects: int, before: int) -> bool:
        """Return whether to try the last few suspects alone, which pays if the set needs no more than one of them.

        ``builds`` are spent, ``kept`` members of the set known, ``suspects`` in question, ``before`` items among which
        the set's next member would be sought if the gamble is lost.
        """
        tried = builds + suspects
        lost = tried + depth(suspects) + depth(before) + 1
        return tried + 1 <= self.promised(kept + 1) and lost + 1 <= self.promised(kept + 2)
