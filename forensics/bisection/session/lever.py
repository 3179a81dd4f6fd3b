"""The interface of a lever: what a bisection needs of it.

A lever has items; "active" items are taken from bad, all others from good. It writes the file that a probe's build
reads, says after a build whether that file was honoured, and at the end writes what repairs the build.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trtforensics.bisection.runner.probe import ProbeOutcome, ProbeSpec
from trtforensics.bisection.search import Item, Verdict

SIDES = ("good", "bad")
Fact = str | float | Sequence[str] | None
Side = Mapping[str, Fact]
"""What an item is on one side; None stands for a fact that is not known."""


@dataclass(frozen=True, slots=True)
class DescribedItem:
    """An item of a directory: its name, its operator or key, and its sides; None where a side has no such item."""

    item: str
    facts: Mapping[str, str] = field(default_factory=dict)
    sides: Mapping[str, Side | None] = field(default_factory=dict)

    @property
    def cost_ms(self) -> float | None:
        """How much slower good's tactic is than bad's, where both times are known."""
        good, bad = (side.get("time_ms") if (side := self.sides.get(name)) else None for name in SIDES)
        return float(f"{good - bad:.6g}") if isinstance(good, float) and isinstance(bad, float) else None

    def document(self) -> dict[str, object]:
        """Return the item as a JSON object."""
        cost = {} if self.cost_ms is None else {"cost_ms": self.cost_ms}
        return {"item": self.item, **self.facts, **self.sides, **cost}


def item_of(document: Mapping[str, object]) -> DescribedItem:
    """Read back an item of a directory."""
    facts = {name: str(document[name]) for name in ("key", "op") if name in document}
    sides = {name: side if isinstance(side := document[name], dict) else None for name in SIDES if name in document}
    return DescribedItem(str(document.get("item")), facts, sides)


def side_text(side: Side | None) -> str:
    """Return what an item is on one side."""
    return "not there" if side is None else ", ".join(f"{name} {_fact_text(fact)}" for name, fact in side.items())


def _fact_text(fact: Fact) -> str:
    if isinstance(fact, bool):
        return str(fact).lower()
    return " ".join(fact) if isinstance(fact, (list, tuple)) else str(fact)


class ProbeLever(ABC):
    """What a session uses of a lever while probes run; a collection's lever has nothing else."""

    file: str
    """The name of what the build reads or writes; it is linked in ``good/``, ``bad/`` or ``unresolved/``."""

    settings: str = ""
    """What decides a verdict besides the check, such as a tolerance; if it changes, stored probes are judged again."""

    basis: str = ""
    """What scores and failures in probes' folders are judged by, apart from the settings; the session says it."""

    @abstractmethod
    def prepare(self, active: frozenset[int], folder: Path) -> Mapping[str, Path]:
        """Write what the build reads into a probe's folder, also for a check alone; return the placeholders' values."""

    def verify(self, active: frozenset[int], folder: Path) -> str:  # noqa: ARG002 - for levers that can look
        """Say how a finished build differs from what was asked, or ""; a difference makes the probe unresolved."""
        return ""

    def rejudge(self, folder: Path) -> tuple[Verdict, str] | None:  # noqa: ARG002 - for levers that store scores
        """Judge a stored probe by the present ``settings`` from what is in its folder; None: it must run again."""
        return None

    def remembers(self, active: frozenset[int]) -> bool:  # noqa: ARG002 - for levers that keep records
        """Whether what others are judged by is there, where a bad probe with these items leaves it."""
        return True

    def run(self, spec: ProbeSpec, commands: Callable[[ProbeSpec], ProbeOutcome]) -> ProbeOutcome:
        """Run a probe, in a thread of its own, and judge it; ``commands`` runs the commands of a spec."""
        return commands(spec)


class Lever(ProbeLever):
    """A lever over ``items``, which are known by their indexes."""

    mode: str
    """The name after ``bisect``."""

    placeholder: str
    """The placeholder of what a probe's build reads: one of ``runner.placeholders.INPUTS``."""

    build: str | None = None
    """The build command if the user gives none; None: the user must give ``--build`` or ``--check``."""

    more_placeholders: Collection[str] = ()
    """Further placeholders that :meth:`prepare` gives values."""

    judges: bool = False
    """Whether the lever can judge a probe without any command."""

    items: Sequence[Item] = ()

    edges: Collection[tuple[int, int]] = ()
    """Pairs of items that share a tensor: if a mix is refused, the search suspects these first."""

    wants_fewest: bool = False
    """Whether the answer is the fewest items to take from good, instead of the smallest sets from bad that do harm."""

    @abstractmethod
    def content(self) -> object:
        """Return what the items stand for, as JSON data; other content makes another job."""

    @abstractmethod
    def describe(self, index: int) -> DescribedItem:
        """Return an item as readers of the directory see it."""

    def fix(self, culprits: Sequence[frozenset[int]], folder: Path) -> Sequence[str]:  # noqa: ARG002 - subclasses use them
        """Write what repairs the build, if it is known, into ``fixed/``, and return a line about each file."""
        return ()
