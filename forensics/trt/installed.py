"""The Python that imports TensorRT, this one or that of ``--builder-python``, and what the TensorRT there can do.

``python -m trtforensics.trt.installed MODULE`` prints that as JSON. A child process looks, since
importing TensorRT may crash, and costs time and memory that a search does not need.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from trtforensics.console.processes import completed
from trtforensics.errors import UsageError
from trtforensics.trt.api import MODULES, NAMES, RouteConfig, RtxModule, TensorRT, is_installed, load

OPTION = "--builder-python"

_PYTHON_PATIENCE_S = 60
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

_PATIENCE_S = 120


@contextmanager
def other_python(path: str) -> Iterator[None]:
    """Have another Python run the children that import TensorRT; a UsageError where it is none, or before 3.8."""
    program = shutil.which(path)
    if program is None:
        raise UsageError(OPTION, f"{path} is no program", _NEXT)
    program = os.path.abspath(program)  # noqa: PTH100 - a venv's `python` is a link, which must not be resolved
    _modules_of(program)
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
    """Return which of :data:`trtforensics.trt.api.MODULES` are installed there, in that order."""
    return _modules_of(_other[-1]) if _other else tuple(name for name in MODULES if is_installed(name))


def described() -> str:
    """Return the program, for people."""
    return _other[-1] if _other else sys.executable


def _modules_of(program: str) -> tuple[str, ...]:
    line = [program, "-c", _LOOK, *MODULES]
    try:
        done = completed(line, timeout=_PYTHON_PATIENCE_S)
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


@dataclass(frozen=True, slots=True)
class Installed:
    """A module and its abilities; ``gpu`` and ``driver`` are from ``nvidia-smi``, empty without it.

    ``capabilities`` are the compute capabilities that TensorRT-RTX builds for. ``routes`` is TensorRT's own JSON of its
    build-route knobs, empty where there are none.
    """

    module: str
    version: str
    selector: bool
    editable_cache: bool
    debug_tensors: bool
    routes: str
    flags: tuple[str, ...]
    capabilities: tuple[str, ...] = ()
    gpu: str = ""
    driver: str = ""

    @property
    def name(self) -> str:
        """The name and version for people."""
        return f"{NAMES[self.module]} {self.version}"


_WITHOUT_OPTION = {"debug", "constraints"}
"""Abilities that are only an option of a lever, which works without them."""

_FORWARD = {"tensorrt_rtx": "TensorRT-RTX decides without timing: use `bisect outputs` or `bisect precision`"}


def require(lever: str, installed: Installed) -> None:
    """Refuse, by a UsageError that says what to use instead, a lever that the installed version does not have."""
    from trtforensics.knowledge.table import rows  # noqa: PLC0415 - of this process alone: a child's Python may be older

    row = next(row for row in rows("levers", "trtforensics.trt") if row["lever"] == lever)
    if not (getattr(installed, row["ability"], False) or row["ability"] in installed.flags):
        instead = row["instead"]
        next_step = instead if lever in _WITHOUT_OPTION else _FORWARD.get(installed.module, instead)
        raise UsageError(installed.name, f"has no {row['what']}", next_step)


def look(module: str | None) -> Installed:
    """Look at a module, or the first installed one, in a child process; a UsageError where it cannot be imported."""
    there = installed_modules()
    if module is None and not there:
        next_step = "Give a `--build` command, or `pip install tensorrt`"
        raise UsageError("tensorrt", "is not installed, and there is no `--build`", next_step)
    if module is not None and module not in there:
        raise UsageError("--builder", f"{module} is not installed", f"Run `{described()} -m pip install {module}`")
    chosen = module or there[0]
    line = child_line("trtforensics.trt.installed", chosen)
    try:
        done = completed(line, timeout=_PATIENCE_S)
    except subprocess.TimeoutExpired as error:
        raise UsageError(
            chosen, f"does not finish importing within {_PATIENCE_S} s", f"Try `{described()} -c 'import {chosen}'`"
        ) from error
    if done.returncode:
        errors = done.stderr.decode(errors="replace").strip().splitlines()
        last_line = (errors or [f"exit status {done.returncode}"])[-1]
        raise UsageError(
            chosen, f"cannot be imported ({last_line})", "Repair the installation, or give a `--build` command"
        )
    document = json.loads(done.stdout.splitlines()[-1])
    flags, capabilities = tuple(document["flags"]), tuple(document["capabilities"])
    return Installed(**{**document, "flags": flags, "capabilities": capabilities})


def _inspect(module: str) -> Installed:
    trt = load(module)
    has_targets = hasattr(trt, "ComputeCapability")
    gpu, driver = _gpu()
    return Installed(
        module=module,
        version=str(trt.__version__),
        selector=hasattr(trt, "IAlgorithmSelector"),
        editable_cache=module == "tensorrt" and hasattr(trt, "TimingCacheKey"),
        debug_tensors=hasattr(trt.INetworkDefinition, "mark_debug"),
        routes=_routes(trt),
        flags=tuple(trt.BuilderFlag.__members__),
        capabilities=tuple(cast("RtxModule", trt).ComputeCapability.__members__) if has_targets else (),
        gpu=gpu,
        driver=driver,
    )


def _routes(trt: TensorRT) -> str:
    """Return the JSON of the knobs from a builder; a version without knobs needs no builder."""
    if int(str(trt.__version__).partition(".")[0]) < 11 or trt.__name__ == "tensorrt_rtx":  # noqa: PLR2004 - 11.1 has them
        return ""
    config = cast("RouteConfig", trt.Builder(trt.Logger(trt.Logger.ERROR)).create_builder_config())
    try:
        return str(getattr(config, "all_build_routes", "") or "")
    except RuntimeError:  # the bindings of 11.4 raise it if the library returns a null pointer
        return ""


def _gpu() -> tuple[str, str]:
    """Return the first GPU's name and the driver's version."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return "", ""
    line = [program, "--query-gpu=name,driver_version", "--format=csv,noheader"]
    done = completed(line)
    name, _, driver = done.stdout.decode(errors="replace").partition("\n")[0].rpartition(", ")
    return (name, driver) if done.returncode == 0 else ("", "")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(_inspect(sys.argv[1]))) + "\n")
