"""The Python that imports TensorRT: this one, or the one that ``--builder-python`` names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.console.processes import completed
from trtforensics.errors import UsageError
from trtforensics.trt.api import MODULES, is_installed

if TYPE_CHECKING:
    from collections.abc import Iterator

OPTION = "--builder-python"

_PATIENCE_S = 60
_OLDEST = (3, 8)
_SCRIPT = Path(__file__).with_name("elsewhere.py")
_LOOK = """
import sys
from importlib.util import find_spec
specs = [(name, find_spec(name)) for name in sys.argv[1:]]
print(*sys.version_info[:2], *(name for name, spec in specs if spec and spec.origin))
"""
_NEXT = "Give the `python` of the environment that has TensorRT"

_other: list[str] = []
"""The other Python, where there is one."""


@contextmanager
def other_python(path: str) -> Iterator[None]:
    """Have another Python run the child processes that import TensorRT.

    Raises:
        UsageError: there is no such program, it is no Python, or it is older than 3.8.
    """
    program = shutil.which(path)
    if program is None:
        raise UsageError(OPTION, f"{path} is no program", _NEXT)
    program = os.path.abspath(program)  # noqa: PTH100 - a venv's `python` is a link, which must not be resolved
    _look(program)
    _other.append(program)
    try:
        yield
    finally:
        _other.pop()


def child_line(module: str, *arguments: str) -> list[str]:
    """Return the command line that runs a module of this package in the Python that imports TensorRT."""
    if not _other:
        return [sys.executable, "-m", module, *arguments]
    parsers = find_spec("trtforensics.parsers")
    folders = [] if parsers is None else parsers.submodule_search_locations or []
    return [_other[-1], str(_SCRIPT), str(_SCRIPT.parents[1]), folders[0], module, *arguments]


def installed_modules() -> tuple[str, ...]:
    """Return which of :data:`trtforensics.trt.api.MODULES` are installed there, in that order.

    Raises:
        UsageError: the other Python does not answer.
    """
    return _look(_other[-1]) if _other else tuple(name for name in MODULES if is_installed(name))


def described() -> str:
    """Return the program, for people."""
    return _other[-1] if _other else sys.executable


def _look(program: str) -> tuple[str, ...]:
    line = [program, "-c", _LOOK, *MODULES]
    try:
        done = completed(line, timeout=_PATIENCE_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(OPTION, f"{program} does not run as a Python", _NEXT) from error
    words = done.stdout.decode(errors="replace").split()
    if done.returncode or len(words) < len(_OLDEST) or not all(word.isdecimal() for word in words[:2]):
        raise UsageError(OPTION, f"{program} does not run as a Python", _NEXT)
    if (int(words[0]), int(words[1])) < _OLDEST:
        raise UsageError(
            OPTION, f"{program} is Python {'.'.join(words[:2])}", "Python 3.8 is the oldest that builds here"
        )
    return tuple(words[2:])
