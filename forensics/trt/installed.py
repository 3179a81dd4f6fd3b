"""What the installed TensorRT can do: ``python -m trtforensics.trt.installed MODULE`` prints it as JSON.

A child process looks, since importing TensorRT may crash, and costs time and memory that a search does not need.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

from trtforensics.console.processes import completed
from trtforensics.errors import UsageError
from trtforensics.trt.api import NAMES, load
from trtforensics.trt.interpreter import child_line, described, installed_modules

if TYPE_CHECKING:
    from trtforensics.trt.api import RouteConfig, RtxModule, TensorRT

_PATIENCE_S = 120


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


_LACKS = {
    "tactics": ("algorithm selector", "Use `bisect cache`"),
    "cache": ("editable timing cache", "Use `bisect tactics`"),
    "route": ("build routes", "Use `bisect cache` or `bisect outputs`"),
    "debug": ("debug tensors", "Leave out `--debug-tensors`: outputs do the same"),
    "constraints": (
        "layer precisions, only strongly typed networks",
        "Leave out `--by constraints`: Casts do the same",
    ),
}
_WITHOUT_OPTION = {"debug", "constraints"}
"""Abilities that are only an option of a lever, which works without them."""

_FORWARD = {"tensorrt_rtx": "TensorRT-RTX decides without timing: use `bisect outputs` or `bisect precision`"}


def require(lever: str, installed: Installed) -> None:
    """Refuse a lever that the installed version does not have.

    Raises:
        UsageError: it does not; the error says what to use instead.
    """
    has = {
        "tactics": installed.selector,
        "cache": installed.editable_cache,
        "route": bool(installed.routes),
        "debug": installed.debug_tensors,
        "constraints": "OBEY_PRECISION_CONSTRAINTS" in installed.flags,
    }
    if not has[lever]:
        what, instead = _LACKS[lever]
        next_step = instead if lever in _WITHOUT_OPTION else _FORWARD.get(installed.module, instead)
        raise UsageError(installed.name, f"has no {what}", next_step)


def look(module: str | None) -> Installed:
    """Look at a module, or at the first installed one, in a child process.

    Raises:
        UsageError: it is not installed, or cannot be imported.
    """
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
