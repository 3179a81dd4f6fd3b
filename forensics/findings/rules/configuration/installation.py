"""What the installed TensorRT lacks (settings of RTX, libraries), and processes with two loggers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.finding import Observation, Severity
from trtforensics.findings.line_observations import observe
from trtforensics.findings.rule import rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case


@rule(
    "TF409",
    Severity.WARNING,
    "TensorRT-RTX does not know this setting",
    cause="TensorRT-RTX shares the interface of TensorRT, but not all of what is behind it.",
    confirm="The message names the call.",
    fixes=("For RTX: compute capabilities instead of hardware compatibility, no timing cache, no algorithm selector.",),
    sources=("TensorRT-RTX 1.7.1 logs", "pytorch/TensorRT#3817"),
)
def rtx(case: Case) -> Iterator[Observation]:
    """Name the calls."""
    yield from observe(case.notes("rtx_unsupported"), "TensorRT-RTX does not support {names}", names="name")


@rule(
    "TF410",
    Severity.ERROR,
    "A library of TensorRT is missing",
    cause="A component that the build asks for (lean runtime, builder resources of a GPU) is not installed or not "
    "found.",
    confirm="Look for the file in the folders of LD_LIBRARY_PATH.",
    fixes=("Install the package that holds it, or drop the option that needs it (--versionCompatible).",),
    sources=("a TensorRT-RTX 1.7.1 log",),
)
def library(case: Case) -> Iterator[Observation]:
    """Name the libraries."""
    yield from observe(case.notes("library_missing"), "The library {names} cannot be loaded", names="name")


@rule(
    "TF411",
    Severity.NOTE,
    "Two loggers in one process",
    cause="The process registered another logger before: TensorRT keeps the first one, so this log may miss messages.",
    confirm="Search the program for a second trt.Logger, also inside libraries that use TensorRT.",
    fixes=("Create one logger and pass it everywhere.",),
    sources=("a 10.x log",),
)
def second_logger(case: Case) -> Iterator[Observation]:
    """Report the warning."""
    title = "A second logger was passed: what follows may not be in this log"
    yield from observe(
        case.notes("second_logger"), title, settle="Whether all loggers of the process write to this log"
    )
