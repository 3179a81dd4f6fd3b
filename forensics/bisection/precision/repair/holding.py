"""Whether an answer holds where the search did not look: on samples that were held out, and with sums in other orders.

What the search found on some samples by one rounding may be luck. What holds beside it is no proof, what does not is
no answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.bisection.precision.emulation.judging import scores_text
from trtforensics.bisection.precision.emulation.losses import losses
from trtforensics.bisection.precision.emulation.oracle import Oracle, RunError
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from trtforensics.bisection.precision.emulation.judging import Judgement, OutputJudge
    from trtforensics.bisection.precision.repair.smallest import Nodes
    from trtforensics.onnx_models.samples import Sample

_PART = 4
"""Every fourth sample is held out."""


def parted(samples: Sequence[Sample], most: int | None) -> tuple[tuple[Sample, ...], tuple[Sample, ...]]:
    """Return the samples of the search, and those that are held out: every fourth, or the last ``most``.

    Raises:
        UsageError: no sample is left for the search.
    """
    if most is not None:
        if not 0 <= most < len(samples):
            what = f"{most} of {len(samples)} samples cannot be held out: one is left for the search at least"
            raise UsageError("--held-out", what, "Give more samples, or hold out fewer")
        return tuple(samples[: len(samples) - most]), tuple(samples[len(samples) - most :])
    held = tuple(samples[_PART - 1 :: _PART])
    return tuple(each for number, each in enumerate(samples, 1) if number % _PART), held


@dataclass(frozen=True, slots=True)
class HeldBeside:
    """How the repairs do elsewhere: whether all pass, the scores of the last one, and why one fails."""

    passes: bool
    scores: Mapping[str, float | None]
    why: str

    def __str__(self) -> str:
        return f"passes ({scores_text(self.scores)})" if self.passes else f"fails: {self.why}"


@dataclass(frozen=True, slots=True)
class Holding:
    """What was seen beside the search.

    ``held_out`` counts samples. ``on_held_out`` is None where there are none, ``other_order`` where the sums cannot be
    turned around. ``lost`` names tensors that the repair in ``fixed/`` loses on held-out samples before any other.
    ``needless`` names nodes of the first repair without which the model passes, with sums in the other order.
    """

    held_out: int
    on_held_out: HeldBeside | None
    other_order: HeldBeside | None
    lost: tuple[str, ...] = ()
    needless: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """Why the answer is not certified, or ""."""
        reasons = []
        if self.on_held_out is not None and not self.on_held_out.passes:
            reasons.append(f"it fails on samples that were held out ({self.on_held_out.why})")
        if self.other_order is not None and not self.other_order.passes:
            reasons.append(f"it fails with sums in another order ({self.other_order.why})")
        if self.lost:
            reasons.append(f"fixed/ loses values inside on samples that were held out (in {', '.join(self.lost)})")
        if self.needless:
            names = ", ".join(self.needless)
            reasons.append(f"with sums in another order it passes without {names} too, so that rounding decided")
        return "; ".join(reasons)


@dataclass(frozen=True, slots=True)
class Beside:
    """Judges repairs on the held-out samples of ``held``, and on the searched ones with sums in the other order."""

    oracle: Oracle
    held: Oracle | None
    judge: OutputJudge
    masked: Collection[str]

    def holding(self, repairs: Sequence[Nodes], atoms: Mapping[str, Nodes]) -> Holding:
        """Judge the repairs; the first is minimal, node by node of ``atoms``, the last is the one in ``fixed/``."""
        try:
            turned = self.oracle.in_other_order()
        except (RunError, UsageError):  # what ONNX Runtime does not run so is judged in one order
            turned = None
        needless: tuple[str, ...] = ()
        if turned is not None:
            needless = tuple(node for node in sorted(atoms) if self._is_luck(turned, repairs[0] - atoms[node]))
        if self.held is None:
            return Holding(0, None, self._beside(turned, repairs), (), needless)
        report = losses(self.held, self.held.caster.kept(repairs[-1]), self.masked)
        lost = tuple(loss.tensor for loss in report.tensors if loss.tensor in report.first)
        on_held = self._beside(self.held, repairs)
        return Holding(len(self.held.samples), on_held, self._beside(turned, repairs), lost, needless)

    def _is_luck(self, turned: Oracle, keep: Nodes) -> bool:
        """Whether a set that failed near the tolerance passes in the other order."""
        return self._judged(self.oracle, keep).near and self._judged(turned, keep).passed

    def _beside(self, oracle: Oracle | None, repairs: Sequence[Nodes]) -> HeldBeside | None:
        if oracle is None:
            return None
        judgements = [self._judged(oracle, nodes) for nodes in repairs]
        why = next((each.why for each in judgements if not each.passed), "")
        return HeldBeside(all(each.passed for each in judgements), judgements[-1].worst, why)

    def _judged(self, oracle: Oracle, keep: Nodes) -> Judgement:
        return self.judge.judge(oracle.score_mixture(oracle.caster.kept(keep)))
