"""Periods of releases in which something holds, in words, and the way from a release to the nearest of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from trtforensics.knowledge.table import OLDEST, Release


@dataclass(frozen=True, slots=True)
class Period:
    """The releases that a row of a table is about; ``last`` is None where no end is known."""

    first: Release
    last: Release | None
    source: str

    def holds(self, version: Sequence[int]) -> bool:
        """Whether a release is among them."""
        return self.first <= _padded(version) and (self.last is None or _padded(version)[: len(self.last)] <= self.last)

    @property
    def words(self) -> str:
        """``from 8.4 to 10.7``, ``up to 10.4``, ``in 10.16``, ``from 11.4 on``; empty for all releases."""
        if self.first == self.last:
            return f"in {dotted(self.first)}"
        begin = f"from {dotted(self.first)}" if self.first > OLDEST else "up" * bool(self.last)
        return f"{begin} to {dotted(self.last)}" if self.last else f"{begin} on" * bool(begin)


def _padded(version: Sequence[int]) -> Release:
    return (*version, 0, 0)


def dotted(version: Sequence[int]) -> str:
    """Return numbers as they are written, ``10.13.2``."""
    return ".".join(map(str, version))


def spans(periods: Sequence[Period]) -> str:
    """Return periods in words, oldest first."""
    words = [period.words for period in periods]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def beyond(
    what: str, periods: Sequence[Period], version: Sequence[int] | None, of: str = "TensorRT"
) -> tuple[str, str]:
    """Say in which releases ``what`` holds, and the way to the nearest on both sides of one that is not among them."""
    if version is None:
        return f"{what} {spans(periods)}.", f"Use {of} {spans(periods)}."
    this = _padded(version)
    older = [period for period in periods if period.last and period.last < this][-1:]
    newer = [period for period in periods if period.first > this][:1]
    ways = [f"back to {of} {dotted(p.last or ())}{' or earlier' * (p.first != p.last)}" for p in older]
    ways += [f"on to {of} {dotted(p.first)}{' or later' * (p.first != p.last)}" for p in newer]
    return f"{what} {spans(periods)}, and this is TensorRT {dotted(version)}.", f"Go {', or '.join(ways)}."
