"""Slots, offers and pinnable builds for tests of plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.model.span import SourceSpan
from trtforensics.pin.pinnable import Pinnable, PinOffer, PinSlot

if TYPE_CHECKING:
    from trtforensics.model.log import BuildLog

KERNEL = "sm80_xmma_gemm_f16f16_{}_tn_n_tilesize64x64x{}_tensor16x8x16"
HALF, SINGLE = "f16f16_f16", "f16f32_f32"


def kernel(types: str, depth: int = 32) -> str:
    """Return a kernel's name by the types of its sum."""
    return KERNEL.format(types, depth)


def offer(tactic: int, name: str = "", ms: float | None = 1.0, runner: str = "CaskGemm") -> PinOffer:
    """Return an offer; its line is its tactic."""
    return PinOffer(runner, tactic, name, ms, SourceSpan("build.log", tactic, 0))


def slot(name: str, *offers: PinOffer) -> PinSlot:
    """Return a slot whose first offer won."""
    return PinSlot(name, offers)


def pinnable(log: BuildLog, *slots: PinSlot, total_ms: float | None = None) -> Pinnable:
    """Return slots as what can be pinned of a log's first build."""
    return Pinnable(log, log.builds[0], slots, (), total_ms, 0.0, 0, {"CaskGemm": 7})
