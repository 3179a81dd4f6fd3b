"""Tactic and build-log forensics for NVIDIA TensorRT.

The names in ``__all__`` are the public API: their signatures stay, everything else may change. Nothing is imported
before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from trtforensics.model.version import __version__

if TYPE_CHECKING:
    from trtforensics.api import LayerTiming as LayerTiming
    from trtforensics.api import LoadedBuild as LoadedBuild
    from trtforensics.api import LoadedLayer as LoadedLayer
    from trtforensics.api import LoadedLog as LoadedLog
    from trtforensics.api import TableView as TableView
    from trtforensics.api import check as check
    from trtforensics.api import diff as diff
    from trtforensics.api import graph as graph
    from trtforensics.api import load as load
    from trtforensics.api import plot as plot
    from trtforensics.api import report as report
    from trtforensics.bisection.functions import BisectionAnswer as BisectionAnswer
    from trtforensics.bisection.functions import bisect as bisect
    from trtforensics.bisection.functions import bisect_precision as bisect_precision
    from trtforensics.bisection.precision.answer.precision_answer import PrecisionAnswer as PrecisionAnswer
    from trtforensics.comparison.differences import Comparison as Comparison
    from trtforensics.comparison.differences import Difference as Difference
    from trtforensics.errors import ForensicsError as ForensicsError
    from trtforensics.findings.finding import Finding as Finding
    from trtforensics.findings.finding import Report as Report
    from trtforensics.notebook_views import FigureView as FigureView
    from trtforensics.notebook_views import InteractiveFigure as InteractiveFigure
    from trtforensics.trt.engine_files import write_layers as write_layers
    from trtforensics.trt.engine_files import write_profile as write_profile


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
