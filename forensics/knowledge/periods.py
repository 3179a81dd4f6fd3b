"""Periods of releases in which something holds, in words; names that releases have, and packages that do not work."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from trtforensics.knowledge.table import OLDEST, Release, records, release


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


@dataclass(frozen=True, slots=True)
class Lifetime(Period):
    """Releases of TensorRT, or a package on PyPI, that have a name; ``deprecated`` is the first that calls it so."""

    name: str
    of: str
    deprecated: Release | None
    instead: str


@dataclass(frozen=True, slots=True)
class Package(Period):
    """Releases of a package that do not work by themselves. ``fact`` says why, ``way`` what to do."""

    name: str
    fact: str
    way: str


_NAMED = re.compile(r"(?<![\w-])((?:--)?[A-Za-z]\w*(?:-[A-Za-z]\w*)*)\b(?!\.\w)(?:(?:==|[ -]v?)(\d+(?:\.\d+)+))?")
_PLACES = {"PyPI": "on PyPI", "Jetson": "supported by TensorRT on Jetson"}


@cache
def _lifetimes() -> Mapping[str, Sequence[Lifetime]]:
    named: dict[str, list[Lifetime]] = {}
    for row in records("lifetimes", Lifetime):
        named.setdefault(row.name, []).append(row)
    return named


def told_of(text: str, version: Sequence[int] | None) -> Mapping[str, str]:
    """Return what is known of the first name in a text that is ``gone`` from a release, or ``deprecated`` in it.

    The release is the one behind the name (``NAME==10.7``), else the log's. ``gone`` is a sentence, and the way behind
    a bar: ``kFP16 is in TensorRT up to 10.16, and this is TensorRT 11.0. | Use strong typing. Or: Go back …``.
    ``package`` is the same of a package whose release stands behind its name.
    """
    told: dict[str, str] = {}
    for name, stated in _NAMED.findall(text):
        names = dict.fromkeys((name, f"k{name}", name.replace("_", "-")))
        this = release(stated) if stated else version
        for package in records("packages", Package) if stated else ():
            if package.name in names and package.holds(release(stated)):
                told.setdefault("package", f"{package.fact}. | {package.way}")
        rows = [row for each in names for row in _lifetimes().get(each, ())]
        if not this and any(row.last is None and (row.of in {"PyPI", "trtexec"} or not row.words) for row in rows):
            continue  # the name still exists: only a stated release could rule it out
        if rows and not any(this and row.holds(this) for row in rows):
            cause, way = beyond(f"{rows[0].name} is {_PLACES.get(rows[0].of, 'in TensorRT')}", rows, this)
            cause = cause.replace("this is TensorRT", "what is asked for is") if stated else cause
            told.setdefault("gone", f"{cause} | {f'Use {rows[0].instead}. Or: ' * bool(rows[0].instead)}{way}")
        elif rows and this and rows[0].deprecated and rows[0].deprecated <= tuple(this):
            instead = f": use {rows[0].instead}" * bool(rows[0].instead)
            told.setdefault("deprecated", f"{rows[0].name} is deprecated from {dotted(rows[0].deprecated)} on{instead}")
    return told
