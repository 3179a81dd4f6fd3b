"""Tactic and build-log forensics for NVIDIA TensorRT.

The names in ``__all__`` are the public API: their signatures stay, everything else may change. Nothing is imported
before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from trtforensics.model.version import __version__

if TYPE_CHECKING:
    from trtforensics.api import (
        LayerTiming,
        LoadedBuild,
        LoadedLayer,
        LoadedLog,
        TableView,
        check,
        diff,
        graph,
        load,
        plot,
        report,
    )
    from trtforensics.bisection.functions import BisectionAnswer, bisect, bisect_precision
    from trtforensics.bisection.precision.answer.precision_answer import PrecisionAnswer
    from trtforensics.comparison.differences import Comparison, Difference
    from trtforensics.errors import ForensicsError
    from trtforensics.findings.finding import Finding, Report
    from trtforensics.notebook_views import FigureView, InteractiveFigure
    from trtforensics.trt.engine_files import write_layers, write_profile


_ELSEWHERE = {
    **dict.fromkeys(("bisect_precision", "bisect", "BisectionAnswer"), "bisection.functions"),
    **dict.fromkeys(("write_layers", "write_profile"), "trt.engine_files"),
    **dict.fromkeys(("Report", "Finding"), "findings.finding"),
    **dict.fromkeys(("Difference", "Comparison"), "comparison.differences"),
    **dict.fromkeys(("FigureView", "InteractiveFigure"), "notebook_views"),
    "ForensicsError": "errors",
    "PrecisionAnswer": "bisection.precision.answer.precision_answer",
}
"""The modules of names that are not of :mod:`trtforensics.api`."""

__all__ = [
    "BisectionAnswer",
    "Comparison",
    "Difference",
    "FigureView",
    "Finding",
    "ForensicsError",
    "InteractiveFigure",
    "LayerTiming",
    "LoadedBuild",
    "LoadedLayer",
    "LoadedLog",
    "PrecisionAnswer",
    "Report",
    "TableView",
    "__version__",
    "bisect",
    "bisect_precision",
    "check",
    "diff",
    "graph",
    "load",
    "plot",
    "report",
    "write_layers",
    "write_profile",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    if name in __all__:
        return getattr(import_module(f"trtforensics.{_ELSEWHERE.get(name, 'api')}"), name)
    message = f"module 'trtforensics' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted(__all__)
