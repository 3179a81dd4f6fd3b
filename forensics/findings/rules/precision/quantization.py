"""INT8, FP8 and FP4: types that the hardware emulates, missing ranges, unused calibrators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.finding import Fix, Observation, Severity
from trtforensics.findings.line_observations import observe
from trtforensics.findings.rule import rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case


@rule(
    "TF210",
    Severity.WARNING,
    "The hardware emulates a quantised type",
    cause="The network has Q/DQ layers of a type that this GPU does not accelerate.",
    confirm="Compute Capability in the log: FP8 needs 8.9, FP4 needs 10.0.",
    fixes=("Quantise to INT8 for this GPU, or run on a newer one.",),
    sources=("10.14 to 10.16 logs",),
)
def emulated(case: Case) -> Iterator[Observation]:
    """Name the types."""
    yield from observe(case.notes("type_emulated"), "{names} Q/DQ is not accelerated by this hardware", names="type")


@rule(
    "TF211",
    Severity.WARNING,
    "Tensors have no INT8 range",
    cause="Implicit INT8 needs a range for every tensor; a layer with a tensor that has no range stays in FP32 or "
    "FP16.",
    confirm="Count INT8 layers in the engine's dump.",
    fixes=("Calibrate with data that reaches these tensors, set their ranges, or quantise the model with Q/DQ.",),
    sources=("10.x and 8.x logs", "NVIDIA/TensorRT#2462"),
)
def no_range(case: Case) -> Iterator[Observation]:
    """Name the tensors."""
    title = "No INT8 range is known of {names}"
    yield from observe(case.notes("missing_scale"), title, names="tensor", same_as="range")


@rule(
    "TF212",
    Severity.WARNING,
    "The INT8 calibrator is not used",
    cause="With Q/DQ in the model the calibrator is ignored; without a calibrator every tensor needs a range of its "
    "own.",
    confirm="Look for QuantizeLinear nodes in the model.",
    fixes=("Use either Q/DQ or calibration, not both.", Fix("Calibration is gone; quantise with Q/DQ.", "11")),
    sources=("8.4 and 8.6 logs",),
)
def calibrator(case: Case) -> Iterator[Observation]:
    """Report an ignored calibrator, and INT8 without a calibrator."""
    yield from observe(case.notes("calibrator_explicit"), "The model has Q/DQ, so the calibrator is ignored")
    yield from observe(
        case.notes("calibrator_unused"),
        "INT8 is on without a calibrator: every tensor needs a range",
        severity=Severity.NOTE,
    )
