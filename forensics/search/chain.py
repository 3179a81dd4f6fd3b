"""A growing chain of subsets, and what is known of the link at which it turns bad.

The first subset is what is kept on; each further one has one more atom. By monotonicity every verdict ever seen
says something about the chain: a good superset of a link clears it, a bad subset condemns it.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING

from trtforensics.search.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.search.ledger import Ledger


class NotMonotoneError(Exception):
    """A bad subset lies inside a good one: what follows from monotonicity is not to be relied on."""


class Chain:
    """The subsets ``links[0] < links[1] < …``; the turn lies above ``low`` (good) and not above ``high`` (bad)."""

    def __init__(self, ledger: Ledger, kept: int, atoms: Sequence[int], weights: Sequence[float]) -> None:
        self.atoms = atoms
        self.links = list(accumulate(atoms, or_, initial=kept))
        self.mass = list(accumulate(weights, initial=0.0))
        self.low = 0
        self.high = len(atoms)
        self.refused: set[int] = set()
        self._ledger = ledger
        self._read = 0

    def update(self) -> None:
        """Take in what was told since the last time.

        Raises:
            NotMonotoneError: What was told contradicts itself.
        """
        for mask, verdict in self._ledger.log[self._read :]:
            self._take(mask, verdict)
        self._read = len(self._ledger.log)
        if self.low >= self.high:
            raise NotMonotoneError

    def _take(self, mask: int, verdict: Verdict) -> None:
        if verdict is Verdict.GOOD:
            if not self.links[0] & ~mask:
                self.low = max(self.low, self._last_inside(mask))
        elif verdict is Verdict.BAD:
            if not mask & ~self.links[-1]:
                self.high = min(self.high, bisect_left(self.links, True, key=lambda link: not mask & ~link))
        elif (link := self.place(mask)) is not None:
            self.refused.add(link)

    def _last_inside(self, mask: int) -> int:
        return bisect_left(self.links, True, key=lambda link: bool(link & ~mask)) - 1

    def place(self, mask: int) -> int | None:
        """Return which link a subset is, or None."""
        link = self._last_inside(mask)
        return link if link >= 0 and self.links[link] == mask else None

    @property
    def width(self) -> int:
        """How many atoms the turn may be at."""
        return self.high - self.low

    def suspects(self) -> int:
        """Return the atoms that the turn may be at, as one mask."""
        return self.links[self.high] & ~self.links[self.low]

    def cuts(self, room: int) -> list[int]:
        """Return up to ``room`` links that divide what is open, besides those under way, into equal shares."""
        busy = {self.place(mask) for mask in self._ledger.pending}
        chosen: list[int] = []
        for _ in range(room):
            marks = sorted({self.low, self.high} | {m for m in busy if m is not None and self.low < m < self.high})
            gaps = [(self._allowed(left, right), left, right) for left, right in zip(marks, marks[1:], strict=False)]
            gaps = [gap for gap in gaps if gap[0]]
            if not gaps:
                break
            allowed, left, right = max(gaps, key=lambda gap: self.mass[gap[2]] - self.mass[gap[1]])
            parts = 2 if chosen or room == 1 else room + 1
            cut = self._nearest(allowed, left, right, parts)
            busy.add(cut)
            chosen.append(cut)
        return chosen

    def _allowed(self, left: int, right: int) -> list[int]:
        return [link for link in range(left + 1, right) if link not in self.refused]

    def _nearest(self, allowed: list[int], left: int, right: int, parts: int) -> int:
        wanted = self.mass[left] + (self.mass[right] - self.mass[left]) / parts
        return min(allowed, key=lambda link: (abs(self.mass[link] - wanted), link))
