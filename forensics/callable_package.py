"""Packages that are public functions too: ``trtforensics.graph`` holds modules, and can be called with a build.

An import of a module inside such a package binds the package's name in ``trtforensics``, whatever stood there; so the
package itself has to be what users call.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class CallablePackage(ModuleType):
    """A package that passes a call on to the function of its name in ``trtforensics.api``."""

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401, D102 - as that function has it
        return getattr(import_module("trtforensics.api"), self.__name__.rpartition(".")[2])(*args, **options)


def make_callable(name: str) -> None:
    """Make a package callable, by its ``__name__``."""
    sys.modules[name].__class__ = CallablePackage
