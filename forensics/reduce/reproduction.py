"""The script and the report that go with a reduced model."""

from __future__ import annotations

import platform
import shlex
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from trtforensics import __version__
from trtforensics.bisect.session.job import tool_versions
from trtforensics.console.secrets import masked
from trtforensics.console.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.bisect.levers.recipe import Recipe
    from trtforensics.reduce.failure import Failure

_PYTHON_PACKAGES = ("onnx", "onnxruntime", "numpy")
_SCRIPT = """#!/bin/sh
# Reproduces the failure of reduced.onnx: `./repro.sh trtexec` or `./repro.sh polygraphy`.
cd "$(dirname "$0")" || exit 2
case "${{1:-{default}}}" in
trtexec)
    exec {trtexec}
    ;;
polygraphy)
    exec {polygraphy}
    ;;
*)
    echo "usage: $0 trtexec|polygraphy" >&2
    exit 2
    ;;
esac
"""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What a script and a report say of a reduced model.

    ``shapes`` are the sizes of its inputs if some are dynamic. ``precision`` is the 16-bit type that the twin judged.
    ``commands`` are the user's build and check. ``nodes`` are the numbers before and after, ``document`` is
    ``result.json``, ``model`` the model as text where it is small.
    """

    failure: Failure | None
    recipe: Recipe | None
    shapes: Mapping[str, Sequence[int]]
    precision: str
    commands: Sequence[str | None]
    has_golden: bool
    nodes: tuple[int, int]
    document: Mapping[str, Any]
    model: str

    @property
    def flags(self) -> list[str]:
        """The builder flags, by TensorRT's names."""
        return [*(self.recipe.flags if self.recipe is not None else ()), *([self.precision] if self.precision else [])]

    @property
    def is_rtx(self) -> bool:
        """Whether TensorRT-RTX builds it."""
        return self.recipe is not None and self.recipe.installed.module == "tensorrt_rtx"


def script_text(reproduction: Reproduction) -> str:
    """Return ``repro.sh``."""
    default = "polygraphy" if reproduction.is_rtx else "trtexec"
    return _SCRIPT.format(default=default, trtexec=_trtexec(reproduction), polygraphy=_polygraphy(reproduction))


def _trtexec(reproduction: Reproduction) -> str:
    recipe = reproduction.recipe
    words = [
        "tensorrt_rtx" if reproduction.is_rtx else "trtexec",
        "--onnx=reduced.onnx",
        "--verbose",
        "--skipInference",
    ]
    words += [f"--{flag.lower()}" for flag in reproduction.flags]
    words += ["--stronglyTyped"] if recipe is not None and recipe.typed and not reproduction.is_rtx else []
    if recipe is not None and recipe.level is not None:
        words.append(f"--builderOptimizationLevel={recipe.level}")
    shapes = ",".join(f"{name}:{'x'.join(map(str, shape))}" for name, shape in reproduction.shapes.items())
    words += [f"--{kind}Shapes={shapes}" for kind in ("min", "opt", "max")] if shapes else []
    return shlex.join(words)


def _polygraphy(reproduction: Reproduction) -> str:
    recipe = reproduction.recipe
    flags = [f"--{flag.lower()}" for flag in reproduction.flags]
    flags += ["--strongly-typed"] if recipe is not None and recipe.typed else []
    if reproduction.shapes:
        named = [f"{name}:[{','.join(map(str, shape))}]" for name, shape in reproduction.shapes.items()]
        flags += [word for kind in ("min", "opt", "max") for word in (f"--trt-{kind}-shapes", *named)]
    failure = reproduction.failure
    if failure is not None and failure.stage == "build":
        line = shlex.join(
            ["polygraphy", "convert", "reduced.onnx", "--convert-to", "trt", "-o", "/dev/null", "-v", *flags]
        )
    else:
        words = ["polygraphy", "run", "reduced.onnx", "--trt", "--load-inputs", "inputs.json", "--validate", *flags]
        words += ["--load-outputs", "outputs.json"] if reproduction.has_golden else ["--onnxrt"]
        line = shlex.join(words)
    return f"env POLYGRAPHY_USE_TENSORRT_RTX=1 {line}" if reproduction.is_rtx else line


def notes_text(reproduction: Reproduction) -> str:
    """Return ``repro.md``: what fails, with what, how to see it, and what is known of the model."""
    failure = reproduction.failure
    lines = ["# A minimal model that fails", ""]
    if failure is not None:
        lines += [f"The {failure.stage} {failure.ended}: {failure.sentence}", "", "```"]
        lines += [*failure.lines, "```", ""]
    before, after = reproduction.nodes
    lines += [
        "## Model",
        "",
        f"`reduced.onnx`: {after} of the original's {before} nodes. {_certificate(reproduction)}",
        "",
    ]
    lines += ["```", reproduction.model.rstrip(), "```", ""] if reproduction.model else []
    lines += ["## To reproduce", "", "```", _trtexec(reproduction), _polygraphy(reproduction), "```", ""]
    lines += _judged_by(reproduction)
    lines += ["## Versions", "", *(f"- {name} {version}" for name, version in _versions(reproduction).items()), ""]
    return "".join(f"{visible(masked(line))}\n" for text in lines for line in text.split("\n"))


def _certificate(reproduction: Reproduction) -> str:
    if reproduction.document["status"] == "certified":
        return "Without any one of them it does not fail so; each was left out once."
    return f"That it is the smallest was not shown: {reproduction.document['why']}."


def _judged_by(reproduction: Reproduction) -> list[str]:
    commands = [command for command in reproduction.commands if command]
    if reproduction.precision:
        said = f"The numbers were computed by emulating {reproduction.precision} on the CPU, not on a GPU."
        return ["## How it was judged", "", said, ""]
    if reproduction.recipe is not None or not commands:
        return []
    return ["## How it was judged", "", "```", *commands, "```", ""]


def _versions(reproduction: Reproduction) -> dict[str, str]:
    versions = dict(tool_versions())
    if reproduction.recipe is not None:
        installed = reproduction.recipe.installed
        versions[installed.module] = installed.version
        versions["GPU"] = installed.gpu or "none: the engine was built on a CPU"
        versions |= {"driver": installed.driver} if installed.driver else {}
        target = reproduction.recipe.compute_capability
        versions |= {"compute capability": target} if target else {}
    for package in _PYTHON_PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {**versions, "Python": platform.python_version(), "system": platform.platform(), "trtforensics": __version__}
