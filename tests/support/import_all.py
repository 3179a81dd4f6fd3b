"""Imports every module of the installed package: ``python -m tests.support.import_all``."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import trtforensics

_OPTIONAL = {"cairosvg", "distributed", "duckdb", "onnxruntime", "pyarrow", "tensorrt", "tensorrt_rtx"}
"""What extras bring: a module that needs one of these at import is counted where it is absent, and not imported."""


def import_all() -> int:
    """Import every module but those that run when imported, and return how many modules there are."""
    modules = pkgutil.walk_packages(trtforensics.__path__, "trtforensics.", onerror=_raise)
    names = [module.name for module in modules if not module.name.endswith("__main__")]
    for name in names:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name not in _OPTIONAL:
                raise
    return len(names)


def _raise(name: str) -> None:
    raise ImportError(name)


if __name__ == "__main__":
    sys.stdout.write(f"{import_all()} modules\n")
