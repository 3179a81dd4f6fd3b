"""Runs a module of this package in a Python that the package is not installed in.

``PYTHON elsewhere.py PACKAGE PARSERS MODULE ARGUMENT…``, where ``PACKAGE`` and ``PARSERS`` are the folders of
``trtforensics`` and ``trtforensics.parsers``. The modules that it runs do with Python 3.8, its standard library and
numpy. Nothing else of our environment is on the other one's path, since its packages are of another version.
"""

from __future__ import annotations

import dataclasses
import runpy
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

_PACKAGE = "trtforensics"
_SLOTTED = (3, 10)


def _mount(name: str, folder: str) -> None:
    """Make a folder's modules importable below a name, without what the folder's own ``__init__`` imports."""
    package = ModuleType(name)
    package.__path__ = [folder]
    sys.modules[name] = package


def _unslotted(dataclass: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``dataclass`` as older versions have it, deaf to ``slots``: classes without slots mean the same."""

    def declared(cls: Any = None, **options: Any) -> Any:  # noqa: ANN401 - as `dataclass` has it
        return dataclass(cls, **{name: value for name, value in options.items() if name != "slots"})

    return declared


def _positional(field: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``field`` as older versions have it: a field by keyword only may be given by position too."""
    return lambda **options: field(**{name: value for name, value in options.items() if name != "kw_only"})


def main() -> None:
    """Mount the package, and run the module as the main one."""
    package, parsers, module = sys.argv[1:4]
    del sys.path[0]  # this script's folder
    sys.argv[:4] = [module]
    if sys.version_info < _SLOTTED:
        dataclasses.dataclass = _unslotted(dataclasses.dataclass)
        dataclasses.field = _positional(dataclasses.field)
    _mount(_PACKAGE, package)
    _mount(f"{_PACKAGE}.parsers", parsers)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
