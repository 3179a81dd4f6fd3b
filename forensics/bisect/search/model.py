"""The types of a search's interface. An item is known by its index, 0 to N-1."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

ALONE = "the culprits alone"
REST = "everything but the culprits"

AGAIN = "remove the cause and retry with --retry-unresolved"
"""The next step if everything from good, or everything from bad, could not be judged."""


class Verdict(StrEnum):
    """The verdict of one probe."""

    GOOD = "good"
    BAD = "bad"
    UNRESOLVED = "unresolved"


class Status(StrEnum):
    """How a search ended, in the words of ``result.json``."""

    CERTIFIED = "certified"
    NAMED = "named"
    INCONCLUSIVE = "inconclusive"
    NOT_REPRODUCED = "not-reproduced"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that can be taken from bad or from good; ``weight`` is its suspicion, on any positive scale."""

    name: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Ask:
    """One probe: the items in ``active`` come from bad, all others from good.

    ``build`` counts the builds of this subset and ``check`` the checks of that build, both from 0: without noise both
    stay 0. ``purpose`` is for readers and does not identify the probe.
    """

    active: frozenset[int]
    build: int = 0
    check: int = 0
    purpose: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Outlook:
    """The knowledge of a search, and the builds that are left.

    ``expected`` and ``worst`` are builds to the certificate if the set that is being searched is the last one and has
    no further members; ``suspects`` are the items that one member of it hides among.
    """

    expected: float
    worst: int
    suspects: frozenset[int]
    culprits: tuple[frozenset[int], ...]
    atoms: tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class Result:
    """The answer, or as much of it as there is.

    ``culprits`` are minimal, disjoint sets, in the order in which they were found. ``suspects`` is filled where a set
    could not be narrowed to its members: one of these, or some of them together. ``confidence`` is 1.0 where outcomes
    are taken as deterministic. ``lower_bound`` is the number of builds that information theory asks for, without
    endpoints and certificate. ``evidence`` lists the probes that prove the answer.
    """

    status: Status
    why: str
    culprits: tuple[frozenset[int], ...]
    suspects: frozenset[int]
    confidence: float
    lower_bound: int
    evidence: tuple[Ask, ...]
