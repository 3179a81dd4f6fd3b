"""The types of a search's interface. An item is known by its index, 0 to N-1."""

from dataclasses import dataclass, field

from trtforensics.model.older_python import StrEnum

AGAIN = "remove the cause and retry with --retry-unresolved"
"""The next step if everything from good, or everything from bad, could not be judged."""


class Purpose(StrEnum):
    """What a probe is for that proves an answer."""

    GOOD_END = "everything from good"
    BAD_END = "everything from bad"
    TOGETHER = "the suspects together"
    ALONE = "the culprits alone"
    REST = "everything but the culprits"
    BUT_ONE = "the culprits but one"
    BUILT_AGAIN = "built again"


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

    ``build`` counts the builds of this subset and ``check`` the checks of that build, both from 0: where outcomes are
    exact, only a second look has a ``build`` above 0. ``purpose`` is for readers.
    """

    active: frozenset[int]
    build: int = 0
    check: int = 0
    purpose: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Outlook:
    """The knowledge of a search, and the builds that are left.

    ``expected`` and ``worst`` are builds to the certificate if the present set is the last, with no further members,
    and probes run one at a time; ``second`` of these are second looks. One member hides among ``suspects``.
    """

    expected: float
    worst: int
    suspects: frozenset[int]
    culprits: tuple[frozenset[int], ...]
    atoms: tuple[frozenset[int], ...]
    second: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """The answer, or as much of it as there is.

    ``culprits`` are disjoint sets, in the order in which they were found; ``minimal`` says of each whether it was seen
    to be good without any one of its items. ``suspects`` is filled where a set could not be narrowed to its members: a
    whole set is among these. ``unsearched`` are items besides that were not seen to be good together: further sets may
    be among them. ``confidence`` is 1.0 where outcomes are exact. ``lower_bound`` is the number of builds that
    information theory asks for, without endpoints and certificate. ``evidence`` lists the probes that prove the answer,
    by what each shows.
    """

    status: Status
    why: str
    culprits: tuple[frozenset[int], ...]
    suspects: frozenset[int]
    confidence: float
    lower_bound: int
    evidence: tuple[Ask, ...]
    minimal: tuple[bool, ...] = ()
    unsearched: frozenset[int] = frozenset()
