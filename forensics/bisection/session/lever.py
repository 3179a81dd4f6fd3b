"""The interface of a lever: what a bisection needs of it.

A lever has items; "active" items are taken from bad, all others from good. It writes the file that a probe's build
reads, says after a build whether that file was honoured, and at the end writes what repairs the build.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from trtforensics.bisection.runner.probe import ProbeOutcome, ProbeSpec
from trtforensics.bisection.search import Item, Verdict

Described = dict[str, object]


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
        """Write what the build reads into a probe's folder, and return the placeholders' values.

        A session calls it again for the same items if only a check runs.

        Raises:
            OSError, OutputError: the folder cannot be written to.
        """

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
    def describe(self, index: int) -> Described:
        """Return an item for ``result.json``: ``item`` its name, ``good`` and ``bad`` what it is on each side."""

    def fix(self, culprits: Sequence[frozenset[int]], folder: Path) -> Sequence[str]:  # noqa: ARG002 - subclasses use them
        """Write what repairs the build into ``fixed/``, and return a line about each file.

        By default nothing: some repairs are known only after the search.
        """
        return ()
