"""Tactic and build-log forensics for NVIDIA TensorRT.

The names in ``__all__`` are the public API: their signatures stay, everything else may change. Nothing is imported
before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from trtforensics.model.version import __version__

if TYPE_CHECKING:
    from trtforensics.api import BisectionAnswer as BisectionAnswer
    from trtforensics.api import LayerTiming as LayerTiming
    from trtforensics.api import LoadedBuild as LoadedBuild
    from trtforensics.api import LoadedLayer as LoadedLayer
    from trtforensics.api import LoadedLog as LoadedLog
    from trtforensics.api import TableView as TableView
    from trtforensics.api import bisect as bisect
    from trtforensics.api import diff as diff
    from trtforensics.api import graph as graph
    from trtforensics.api import load as load
    from trtforensics.api import report as report
    from trtforensics.errors import ForensicsError as ForensicsError


_PACKAGES = ("bisect", "diff", "graph")
"""Functions that are packages too; see :mod:`trtforensics.callable_package`."""
_MODULES = {
    "BisectionAnswer": "trtforensics.api",
    "ForensicsError": "trtforensics.errors",
    "LayerTiming": "trtforensics.api",
    "LoadedBuild": "trtforensics.api",
    "LoadedLayer": "trtforensics.api",
    "LoadedLog": "trtforensics.api",
    "TableView": "trtforensics.api",
    "load": "trtforensics.api",
    "report": "trtforensics.api",
}

__all__ = [
    "BisectionAnswer",
    "ForensicsError",
    "LayerTiming",
    "LoadedBuild",
    "LoadedLayer",
    "LoadedLog",
    "TableView",
    "__version__",
    "bisect",
    "diff",
    "graph",
    "load",
    "report",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    if name in _PACKAGES:
        return import_module(f"trtforensics.{name}")
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    message = f"module 'trtforensics' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
