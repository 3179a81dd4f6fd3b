"""Which engines stay: those that ``--keep-engines`` keeps, and during a run those that may be checked again.

These are the ones for which the plan says so, and the smallest bad and the largest good subsets: an answer's evidence
is among them. At the end of the run they go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisect.runner.options import KeepEngines
from trtforensics.bisect.runner.placeholders import mentions
from trtforensics.bisect.runner.probe import ENGINE
from trtforensics.bisect.search import Verdict

if TYPE_CHECKING:
    from trtforensics.bisect.runner.options import RunOptions
    from trtforensics.bisect.session.artifacts import Artifacts
    from trtforensics.bisect.session.history import Probe


class EngineShelf:
    """The engines of the probes that have ended."""

    def __init__(self, artifacts: Artifacts, options: RunOptions) -> None:
        self._artifacts = artifacts
        self._keep = options.keep_engines
        self._noisy = options.confidence is not None
        self._checks_again = reads_build(options.check)
        self._ended: dict[int, tuple[Probe, Verdict]] = {}
        self._wanted: set[int] = set()

    def can_check(self, probe: Probe) -> bool:
        """Whether another check can use a probe's build: the build ended well, and its engine is there and whole."""
        made = probe.made
        if made is None or made.decides or not self._checks_again:
            return False
        return self._artifacts.engine_bytes(probe) == made.engine_bytes

    def settle(self, probe: Probe, verdict: Verdict, *, again: bool) -> None:
        """Flush a probe's engine to the disk if it stays; else remove it, before the journal says that it is there.

        ``again``: this build will be checked again. Where outcomes are noisy, any may be.

        Raises:
            OSError: the directory cannot be written to.
        """
        if again:
            self._wanted.add(probe.number)
        else:
            self._wanted.discard(probe.number)
        if self._stays(probe, verdict):
            self._artifacts.flush_engine(probe)
        else:
            self._artifacts.drop_engine(probe)

    def note(self, probe: Probe, verdict: Verdict) -> None:
        """Take note of a probe's verdict; remove the engines that it makes superfluous.

        Raises:
            OSError: the directory cannot be written to.
        """
        self._ended[probe.number] = (probe, verdict)
        for other, its_verdict in self._ended.values():
            if its_verdict is verdict and _is_better(probe, other, verdict) and not self._stays(other, verdict):
                self._artifacts.drop_engine(other)

    def clear(self) -> None:
        """Remove all engines that ``--keep-engines`` does not keep.

        Raises:
            OSError: the directory cannot be written to.
        """
        for probe, verdict in self._ended.values():
            if not self._is_kept(verdict):
                self._artifacts.drop_engine(probe)

    def _stays(self, probe: Probe, verdict: Verdict) -> bool:
        if self._noisy or self._is_kept(verdict) or probe.number in self._wanted:
            return True
        if verdict is Verdict.UNRESOLVED or not self._checks_again:
            return False
        return not any(its is verdict and _is_better(other, probe, verdict) for other, its in self._ended.values())

    def _is_kept(self, verdict: Verdict) -> bool:
        return self._keep is KeepEngines.ALL or (self._keep is KeepEngines.BAD and verdict is Verdict.BAD)


def reads_build(check: str | None) -> bool:
    """Whether a check reads what the build left in the probe's folder."""
    return check is not None and (mentions(check, ENGINE) or mentions(check, "dir"))


def _is_better(probe: Probe, other: Probe, verdict: Verdict) -> bool:
    """Whether a probe with the same verdict is the better evidence: fewer bad items, or more that are good."""
    return probe.active < other.active if verdict is Verdict.BAD else probe.active > other.active
