"""``trtforensics doctor``: what is installed here, and what of this tool works with it."""

from __future__ import annotations

import shutil
import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

from trtforensics.console import streams
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator, Mapping

    from trtforensics.trt.installed import Installed

    Health = dict[str, Any]


_PACKAGES = ("lark", "networkx", "numpy", "onnx", "polygraphy", "textual", "zstandard")
_EXTRAS = {
    "onnxruntime": "precision",
    "distributed": "cluster",
    "cairosvg": "plots",
    "pyarrow": "table",
    "duckdb": "sql",
}
"""Packages that one part needs, and the extra that brings each."""
_PROGRAMS = ("trtexec", "polygraphy", "dot", "nvidia-smi")
_ABILITY = ("what", "works", "needs")
_MISSING = "missing"
_WIDTH = 14


def run(args: Namespace) -> int:
    """Print what is installed and what works."""
    from trtforensics.render.json_text import dumps

    health = examine()
    streams.print_result(dumps(health, indent=1) + "\n" if args.json else _text(health))
    return 0


def examine() -> Health:
    """Look at this Python, its packages, the programs on the path, and every TensorRT that it can import.

    Versions and paths are "missing" where there is none, and TensorRT's why it cannot be imported. ``builder_python``
    is the Python that imports it.
    """
    import platform

    from trtforensics.model.version import __version__
    from trtforensics.trt.installed import described

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
        "abilities": [dict(zip(_ABILITY, each, strict=True)) for each in _abilities(installed, extras, programs)],
    }


def _tensorrt() -> tuple[list[Installed], dict[str, str]]:
    from trtforensics.trt.api import MODULES
    from trtforensics.trt.installed import installed_modules, look

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


def _abilities(
    installed: Iterable[Installed], extras: Mapping[str, str], programs: Mapping[str, str]
) -> Iterator[tuple[str, bool, str]]:
    """Give each part of this tool, whether it works here, and its requirement."""
    modules = list(installed)
    full = [module for module in modules if module.module == "tensorrt"]
    linux = sys.platform.startswith("linux")
    build, where = "a `--build` command", "the Python that builds (`--builder-python`)"
    yield "read logs, replays and engine files: parse, report, diff, graph, tui", True, ""
    yield "bisect and collect with a `--build` and a `--check` of your own", linux, "Linux"
    yield "bisect precision by the emulated twin", extras["onnxruntime"] != _MISSING, _install("onnxruntime")
    selects = any(module.selector for module in full)
    yield f"bisect tactics without {build}", linux and selects, f"TensorRT 8.0 to 10.x in {where}"
    editable = any(module.editable_cache for module in full)
    yield f"bisect cache, and binary caches, without {build}", linux and editable, "TensorRT 10.8 or later"
    yield f"bisect outputs without {build}", linux and bool(modules), f"tensorrt or tensorrt_rtx in {where}"
    yield "bisect route", linux and any(module.routes for module in full), f"TensorRT 11.1 or later in {where}"
    builder = "tensorrt_rtx: `pip install 'trtforensics[rtx]'`"
    yield "builds without a GPU", any(module.module == "tensorrt_rtx" for module in modules), builder
    yield "probes on a Dask cluster", extras["distributed"] != _MISSING, _install("distributed")
    yield "figures as PNG", extras["cairosvg"] != _MISSING, _install("cairosvg")
    yield "tables as Parquet and for Arrow", extras["pyarrow"] != _MISSING, _install("pyarrow")
    yield "queries in SQL", extras["duckdb"] != _MISSING, _install("duckdb")
    yield "graphs as pictures", programs["dot"] != _MISSING, "Graphviz: its program `dot` on the path"


def _install(package: str) -> str:
    return f"{package}: `pip install 'trtforensics[{_EXTRAS[package]}]'`"


def _text(health: Health) -> str:
    rows = [
        ("trtforensics", f"{health['trtforensics']}, Python {health['python']}, {health['system']}"),
        ("packages", _list(health["packages"])),
        ("extras", _list(health["extras"])),
        ("TensorRT", f"{_list(health['tensorrt'])}, in {health['builder_python']}"),
        ("GPU", health["gpu"]),
        *health["programs"].items(),
    ]
    lines = [f"{name:<{_WIDTH}}{what}" for name, what in rows]
    lines += ["", "what works here:"]
    for ability in health["abilities"]:
        mark, needs = ("yes", "") if ability["works"] else ("no ", f"; it needs {ability['needs']}")
        lines.append(f"  {mark}  {ability['what']}{needs}")
    return "".join(f"{line}\n" for line in lines)


def _list(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
