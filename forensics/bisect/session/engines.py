"""Which engines stay during a run: those that ``--keep-engines`` keeps, and those that may still be checked again.

The evidence of an answer is the smallest bad subsets and the largest good ones. While a probe may be one of these, its
engine stays, so that another check of it needs no build; at the end of the run it goes.
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
    """The engines of the probes that have ended. Every method raises OSError if the directory cannot be written to."""

    def __init__(self, artifacts: Artifacts, options: RunOptions) -> None:
        self._artifacts = artifacts
        self._keep = options.keep_engines
        self._noisy = options.confidence is not None
        self._checks_again = reads_build(options.check)
        self._held: dict[int, tuple[Probe, Verdict]] = {}
        self._awaited: set[int] = set()

    def can_check(self, probe: Probe) -> bool:
        """Whether another check can use a probe's build: the build ended well, and its engine is there and whole."""
        made = probe.made
        if made is None or made.decides or not self._checks_again:
            return False
        return self._artifacts.engine_bytes(probe) == made.engine_bytes

    def settle(self, probe: Probe, verdict: Verdict, *, again: bool = False) -> None:
        """Flush a probe's engine to the disk if it stays; else remove it, before the journal says that it is there.

        ``again``: the search will have it checked again, so that it stays until then.
        """
        (self._awaited.add if again else self._awaited.discard)(probe.number)
        if self._stays(probe, verdict):
            self._artifacts.flush_engine(probe)
        else:
            self._artifacts.drop_engine(probe)

    def note(self, probe: Probe, verdict: Verdict) -> None:
        """Take note of a verdict; remove the engines of probes that can no longer be evidence."""
        self._held[probe.number] = (probe, verdict)
        if self._noisy:
            return
        for other, its_verdict in list(self._held.values()):
            spared = other.number in self._awaited
            if its_verdict is verdict and not spared and _replaces(probe, other, verdict):
                self._release(other, verdict)
        if not self._may_decide(probe, verdict):
            self._release(probe, verdict)

    def clear(self) -> None:
        """Remove all engines that ``--keep-engines`` does not keep."""
        for probe, verdict in list(self._held.values()):
            self._release(probe, verdict)

    def _release(self, probe: Probe, verdict: Verdict) -> None:
        del self._held[probe.number]
        if not self._is_kept(verdict):
            self._artifacts.drop_engine(probe)

    def _stays(self, probe: Probe, verdict: Verdict) -> bool:
        return self._is_kept(verdict) or self._noisy or self._may_decide(probe, verdict)

    def _is_kept(self, verdict: Verdict) -> bool:
        return self._keep is KeepEngines.ALL or (self._keep is KeepEngines.BAD and verdict is Verdict.BAD)

    def _may_decide(self, probe: Probe, verdict: Verdict) -> bool:
        if verdict is Verdict.UNRESOLVED or not self._checks_again:
            return False
        return probe.number in self._awaited or not any(
            _replaces(other, probe, verdict) for other, its in self._held.values() if its is verdict
        )


def reads_build(check: str | None) -> bool:
    """Whether a check reads what the build left in the probe's folder."""
    return check is not None and (mentions(check, ENGINE) or mentions(check, "dir"))


def _replaces(probe: Probe, other: Probe, verdict: Verdict) -> bool:
    """Whether a probe with the same verdict is the better evidence: fewer bad items, or more good ones."""
    return probe.active < other.active if verdict is Verdict.BAD else probe.active > other.active
