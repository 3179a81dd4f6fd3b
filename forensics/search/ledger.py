"""What has been seen so far: the verdict of every subset, as bit masks in the order in which they were told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from trtforensics.search.model import Ask, Verdict

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

_T = TypeVar("_T")

Wishes = tuple["Wish", ...]
"""Probes that a step can use, the one it needs first in front."""
if TYPE_CHECKING:
    Steps = Generator[Wishes, None, _T]


@dataclass(frozen=True, slots=True)
class Wish:
    """A probe that would help: a subset as a bit mask, which build and check of it, and what for."""

    mask: int
    purpose: str
    build: int = 0
    check: int = 0

    def ask(self) -> Ask:
        """Return the probe in the terms of the caller."""
        return Ask(frozenset(bits(self.mask)), self.build, self.check, self.purpose)


class Ledger:
    """Verdicts by subset, and the probes that are under way.

    ``room`` is how many more probes the caller can start; steps that can use several at once look at it.
    """

    def __init__(self) -> None:
        self.room = 1
        self.builds = 0
        self.log: list[tuple[int, Verdict]] = []
        self.pending: set[int] = set()
        self._verdicts: dict[int, Verdict] = {}

    def seen(self, mask: int) -> Verdict | None:
        """Return what the subset showed, or None while nobody knows."""
        return self._verdicts.get(mask)

    def record(self, mask: int, verdict: Verdict) -> None:
        """Write down what a subset showed; the first word stands."""
        if mask not in self._verdicts:
            self._verdicts[mask] = verdict
            self.log.append((mask, verdict))

    def verdict(self, mask: int, purpose: str, *also: Wish) -> Steps[Verdict]:
        """Wait for the verdict of a subset; ``also`` may be probed meanwhile."""
        while (verdict := self.seen(mask)) is None:
            yield (Wish(mask, purpose), *also)
        return verdict


def bits(mask: int) -> list[int]:
    """Return the positions of the bits that are set, ascending."""
    text = bin(mask)[:1:-1]
    found = []
    place = text.find("1")
    while place >= 0:
        found.append(place)
        place = text.find("1", place + 1)
    return found


def mask_of(indexes: Iterable[int]) -> int:
    """Return the mask with these bits set."""
    mask = 0
    for index in indexes:
        mask |= 1 << index
    return mask
