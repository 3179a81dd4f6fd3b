"""``repro.md``: the report that goes with a reduced model, ready to paste."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from trtforensics import __version__
from trtforensics.bisect.session.job import tool_versions
from trtforensics.console.secrets import masked
from trtforensics.console.terminal import visible
from trtforensics.reduce.report import any_one
from trtforensics.reduce.script import COMMANDS, needs, polygraphy_line, trtexec_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.reduce.script import Reproduction

_PYTHON_PACKAGES = ("onnx", "onnxruntime", "numpy")


@dataclass(frozen=True, slots=True)
class Notes:
    """What a report says besides how to reproduce.

    ``nodes`` are the numbers before and after, ``document`` is ``result.json``, ``model`` the model as text where it
    is small.
    """

    nodes: tuple[int, int]
    document: Mapping[str, Any]
    model: str


def notes_text(reproduction: Reproduction, notes: Notes) -> str:
    """Return ``repro.md``: what fails, with what, how to see it, and what is known of the model."""
    failure = reproduction.failure
    lines = ["# A minimal model that fails", ""]
    if failure is not None:
        lines += [f"The {failure.stage} {failure.ended}: {failure.sentence}", ""]
        lines += ["```", *failure.lines, "```", ""] if failure.lines else []
    lines += [
        "## Model",
        "",
        f"`reduced.onnx`: {_kept(*notes.nodes)}. {_certificate(notes)}",
        "",
    ]
    lines += ["```", notes.model.rstrip(), "```", ""] if notes.model else []
    lines += _to_reproduce(reproduction)
    lines += ["## Versions", "", *(f"- {name} {version}" for name, version in _versions(reproduction).items()), ""]
    return "".join(f"{visible(masked(line))}\n" for text in lines for line in text.split("\n"))


def _kept(before: int, after: int) -> str:
    return "the original's only node" if before == 1 else f"{after:,} of the original's {before:,} nodes"


def _certificate(notes: Notes) -> str:
    if notes.document["status"] == "certified" and notes.nodes[1] == 1:
        return "It failed twice."
    if notes.document["status"] == "certified":
        return f"Without {any_one(notes.nodes[1])} of them it does not fail so; each was left out once."
    return f"That it is the smallest was not shown: {notes.document['why']}."


def _to_reproduce(reproduction: Reproduction) -> list[str]:
    """Return the command lines, what they need, and how the failure was judged."""
    ways = reproduction.ways
    words = {"trtexec": trtexec_line(reproduction), "polygraphy": polygraphy_line(reproduction)}
    lines = ["## To reproduce", "", "`./repro.sh`, in the folder of `reduced.onnx`, runs:", "", "```"]
    own = [command for command in reproduction.commands if command] if COMMANDS in ways else []
    lines += [*own, *(words[name] for name in ways if name in words), "```", ""]
    lines += [f"- {sentence}" for sentence in needs(reproduction)]
    if reproduction.precision:
        lines.append(f"- The numbers were computed by emulating {reproduction.precision} on the CPU, not on a GPU.")
    return [*lines, ""]


def _versions(reproduction: Reproduction) -> dict[str, str]:
    versions = dict(tool_versions())
    if reproduction.recipe is not None:
        installed = reproduction.recipe.installed
        versions.pop(installed.module.replace("_", "-"), None)
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
