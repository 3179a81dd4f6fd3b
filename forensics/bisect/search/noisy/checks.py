"""The outcomes of builds when single checks may be wrong: a build is checked until one outcome leads by enough.

A check is cheap beside a build. How often checks are wrong is estimated from the contradictions between checks of one
build.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import TYPE_CHECKING

from trtforensics.bisect.search.basis.ledger import Wish
from trtforensics.bisect.search.basis.model import Verdict

if TYPE_CHECKING:
    from trtforensics.bisect.search.basis.ledger import Ledger

_RIGHT_BEFORE, _WRONG_BEFORE = 15.0, 1.0
"""The prior: as if 1 of 16 checks had been wrong."""
_MOST_WRONG = 0.3
_MISJUDGED = 1e-4
"""The allowed probability of a wrong outcome when the checks of a build end."""
_MOST_CHECKS = 60


@dataclass(slots=True)
class _Build:
    good: int = 0
    bad: int = 0
    settled: bool = False


class Checks:
    """The checks of all builds. ``outcomes`` are the builds that are settled, as (subset, verdict), in that order."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._builds: dict[tuple[int, int], _Build] = {}
        self._right = _RIGHT_BEFORE
        self._wrong = _WRONG_BEFORE
        self.outcomes: list[tuple[int, Verdict]] = []

    def tell(self, wish: Wish, verdict: Verdict) -> None:
        """Record one check; an unresolved one settles its build as unresolved."""
        build = self._builds.setdefault((wish.mask, wish.build), _Build())
        if build.settled:
            return
        if verdict is Verdict.UNRESOLVED:
            self._settle(wish.mask, build, verdict)
            return
        build.good += verdict is Verdict.GOOD
        build.bad += verdict is Verdict.BAD
        if abs(build.good - build.bad) >= self._lead() or build.good + build.bad >= _MOST_CHECKS:
            self._settle(wish.mask, build, Verdict.GOOD if build.good > build.bad else Verdict.BAD)

    def _settle(self, mask: int, build: _Build, verdict: Verdict) -> None:
        build.settled = True
        self._right += max(build.good, build.bad)
        self._wrong += min(build.good, build.bad)
        self.outcomes.append((mask, verdict))

    def _lead(self) -> int:
        wrong = min(_MOST_WRONG, self._wrong / (self._wrong + self._right))
        return ceil(log(1 / _MISJUDGED) / log((1 - wrong) / wrong))

    def unfinished(self) -> list[Wish]:
        """Return the next check of every build that is not settled."""
        return [
            Wish(mask, "check again", number, build.good + build.bad)
            for (mask, number), build in self._builds.items()
            if not build.settled
        ]

    def next_build(self, mask: int, purpose: str) -> Wish:
        """Return the first check of one more build of a subset."""
        number = 0
        while (mask, number, 0) in self._ledger.asked:
            number += 1
        return Wish(mask, purpose, number)
