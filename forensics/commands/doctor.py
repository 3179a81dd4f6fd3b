"""``trtforensics doctor``: what is installed here, and what of this tool works with it."""

import platform
import shutil
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

from trtforensics.console import streams
from trtforensics.errors import UsageError
from trtforensics.knowledge.table import rows
from trtforensics.model.version import __version__
from trtforensics.render.json_text import dumps
from trtforensics.trt.api import MODULES
from trtforensics.trt.installed import Installed, described, installed_modules, look

Health = dict[str, Any]


_PACKAGES = ("lark", "networkx", "numpy", "onnx", "polygraphy", "textual", "zstandard")
_EXTRAS = ("onnxruntime", "distributed", "cairosvg", "pyarrow", "duckdb")
"""Packages that one part needs."""
_PROGRAMS = ("trtexec", "polygraphy", "dot", "nvidia-smi")
_MISSING = "missing"
_WIDTH = 14


def run(args: Namespace) -> int:
    """Print what is installed and what works."""
    health = examine()
    streams.print_result(dumps(health, indent=1) + "\n" if args.json else _text(health))
    return 0


def examine() -> Health:
    """Look at this Python, its packages, the programs on the path, and every TensorRT that it can import.

    Versions and paths are "missing" where there is none, and TensorRT's why it cannot be imported. ``builder_python``
    is the Python that imports it.
    """
    installed, versions = _tensorrt()
    extras = {name: _version(name) for name in _EXTRAS}
    programs = {name: shutil.which(name) or _MISSING for name in _PROGRAMS}
    return {
        "schema": 2,
        "kind": "doctor",
        "trtforensics": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.machine()}",
        "packages": {name: _version(name) for name in _PACKAGES},
        "extras": extras,
        "programs": programs,
        "builder_python": described(),
        "tensorrt": versions,
        "gpu": next((f"{module.gpu}, driver {module.driver}" for module in installed if module.gpu), _MISSING),
        "abilities": _abilities(installed, extras, programs),
    }


def _tensorrt() -> tuple[list[Installed], dict[str, str]]:
    installed, versions, there = [], {}, installed_modules()
    for name in MODULES:
        versions[name] = _MISSING
        if name in there:
            try:
                installed.append(look(name))
                versions[name] = installed[-1].version
            except UsageError as error:
                versions[name] = error.what
    return installed, versions


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return _MISSING


def _abilities(installed: Sequence[Installed], extras: Mapping[str, str], programs: Mapping[str, str]) -> list[Health]:
    """Give each part of this tool, whether it works here, and its requirement; ``abilities.tsv`` lists them."""
    there = {name for name, version in (*extras.items(), *programs.items()) if version != _MISSING}
    there |= {sys.platform, *(module.module for module in installed), *(["any"] if installed else [])}
    full = [module for module in installed if module.module == "tensorrt"]
    there |= {name for name in ("selector", "editable_cache", "routes") if any(getattr(each, name) for each in full)}
    return [
        {"what": row["what"], "works": there.issuperset(row["requires"].split()), "needs": row["needs"]}
        for row in rows("abilities", "trtforensics.commands")
    ]


def _text(health: Health) -> str:
    facts = [
        ("trtforensics", f"{health['trtforensics']}, Python {health['python']}, {health['system']}"),
        ("packages", _list(health["packages"])),
        ("extras", _list(health["extras"])),
        ("TensorRT", f"{_list(health['tensorrt'])}, in {health['builder_python']}"),
        ("GPU", health["gpu"]),
        *health["programs"].items(),
    ]
    lines = [f"{name:<{_WIDTH}}{what}" for name, what in facts]
    lines += ["", "what works here:"]
    for ability in health["abilities"]:
        mark, needs = ("yes", "") if ability["works"] else ("no ", f"; it needs {ability['needs']}")
        lines.append(f"  {mark}  {ability['what']}{needs}")
    return "".join(f"{line}\n" for line in lines)


def _list(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
