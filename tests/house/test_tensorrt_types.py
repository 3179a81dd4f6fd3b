"""Our code and the emulator are held to NVIDIA's types by mypy, which is shown to see what is wrong with either.

Everything is one run of mypy: the levers as they are, the emulator's functions written as calls of NVIDIA's, and
copies of both with one mistake each.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests import tensorrt_stubs
from tests.emulator.tensorrt.python_path import FOLDER, environment
from tests.support.repository import ROOT
from trtforensics.bisection.precision.repair.fixes import network_script

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not tensorrt_stubs.is_installed(),
        reason=f"{tensorrt_stubs.PACKAGE} is not installed: {tensorrt_stubs.HOW}",
    ),
]

TRT = ROOT / "forensics" / "trt"
EMULATOR = FOLDER / "tensorrt"
NOT_IN_STUBS = {
    "IBuilderConfig.build_route": "RouteConfig",
    "IBuilderConfig.all_build_routes": "RouteConfig",
    "IAlgorithmIOInfo.tensor_format": "",
    "Dims.__init__": "",
}
"""What 11.1 added, and the Protocol of ours that has it. Nothing has what only 9 and older do, or overloads."""

INTERNAL = {"Adapter", "Scenario"}
"""Classes of the emulator's module that are no part of TensorRT's API."""


class Mistake(NamedTuple):
    """A text of a file that is replaced by another, and what mypy must say of that."""

    file: Path
    right: str
    wrong: str
    said: str


IN_LEVERS = (
    Mistake(TRT / "cache_file.py", "cache.queryKeys()", "cache.query_keys()", 'has no attribute "query_keys"'),
    Mistake(
        TRT / "cache_file.py",
        "set_timing_cache(cache, True)",
        "set_timing_cache(cache, ignore_mismatches=True)",
        'Unexpected keyword argument "ignore_mismatches"',
    ),
    Mistake(TRT / "cache_file.py", "ERROR_ON_TIMING_CACHE_MISS", "ERROR_ON_MISS", 'has no attribute "ERROR_ON_MISS"'),
    Mistake(TRT / "cache_file.py", "if cache is None:", "if not payload:", 'got "ITimingCache | None"'),
    Mistake(TRT / "cache_file.py", "log(self, ", "log(self, level, ", "incompatible with supertype"),
    Mistake(TRT / "tactics.py", "algorithm.algorithm_variant", "algorithm.variant", 'has no attribute "variant"'),
    Mistake(TRT / "tactics.py", "-> list[int]:\n            ret", "-> str:\n            ret", "incompatible"),
    Mistake(TRT / "build_levers.py", "mark_debug(", "mark_as_debug(", 'has no attribute "mark_as_debug"'),
    Mistake(TRT / "build.py", "OnnxParser(network, logger)", "OnnxParser(logger, network)", "incompatible type"),
    Mistake(TRT / "build.py", "layer.set_output_type(index, ", "layer.set_output_type(", "Missing positional arg"),
    Mistake(TRT / "build_levers.py", "knobs.build_route = ", "knobs.route = ", 'has no attribute "route"'),
    Mistake(TRT / "installed.py", "trt.Logger.ERROR", "trt.Logger.GRAVE", 'has no attribute "GRAVE"'),
    Mistake(TRT / "api.py", "[tensorrt.OnnxParser]", "[tensorrt.Parser]", '"tensorrt.Parser" is not defined'),
    Mistake(TRT / "api.py", "float32: tensorrt.DataType", "fp32: tensorrt.DataType", "fp32"),
)
IN_EMULATOR = (
    Mistake(EMULATOR / "_config.py", "def queryKeys(", "def query_keys(", 'has no attribute "query_keys"'),
    Mistake(
        EMULATOR / "_config.py",
        "self, key: TimingCacheKey, value",
        "self, place: TimingCacheKey, value",
        'Unexpected keyword argument "place"',
    ),
    Mistake(EMULATOR / "_config.py", "self.timingMSec: float", "self.time_ms: float", 'has no attribute "time_ms"'),
    Mistake(EMULATOR / "_network.py", "def num_layers(self) -> int", "def num_layers(self) -> str", 'got "int"'),
    Mistake(EMULATOR / "_selector.py", "-> IAlgorithmVariant:", "-> IAlgorithm:", 'got "IAlgorithmVariant"'),
    Mistake(EMULATOR / "_builder.py", "logger: ILogger)", "logger: str)", 'incompatible type "str"'),
)


# ---- the emulator as calls of the real thing -----------------------------------------------------------------------


def calls(path: Path, source: str, constructed: set[str]) -> str:
    """Return a module that uses NVIDIA's classes as a module of the emulator says that they can be used."""
    found = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and is_api(node)]
    lines = [f'"""Of {path.name}."""', "from __future__ import annotations"]
    lines += ["from collections.abc import Sequence", "from typing import Any", "import tensorrt"]
    lines += ["from trtforensics.trt.api import RouteConfig"]
    lines += [f"from tensorrt import {name}" for name in sorted(tensorrt_names(found))]
    uses = [use for node in found for use in uses_of(node, constructed)]
    for number, use in enumerate(uses):
        lines.append(f"def use_{number}{use}")
    return "\n".join(lines) + "\n"


def is_api(node: ast.ClassDef) -> bool:
    return not node.name.startswith("_") and node.name not in INTERNAL


def tensorrt_names(classes: list[ast.ClassDef]) -> set[str]:
    """Return the classes that annotations name; the emulator's have NVIDIA's names."""
    words = {node.id for owner in classes for node in ast.walk(owner) if isinstance(node, ast.Name)}
    return {node.name for node in classes} | {word for word in words if word in emulated()}


def emulated() -> set[str]:
    """Return the names of the emulator's classes."""
    trees = [ast.parse(path.read_text("utf-8")) for path in EMULATOR.glob("_[a-z]*.py")]
    return {node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef) and is_api(node)}


def uses_of(owner: ast.ClassDef, constructed: set[str]) -> Iterator[str]:
    """Yield the rest of a function for each public name of a class: its parameters and its body."""
    for node in owner.body:
        if isinstance(node, ast.FunctionDef) and node.name in {"__init__", "reset"}:
            yield from (use_of_attribute(owner.name, name) for name in assigned(node))
        real = NOT_IN_STUBS.get(f"{owner.name}.{getattr(node, 'name', '')}", owner.name)
        if isinstance(node, ast.FunctionDef) and node.name == "__init__" and real in constructed:
            yield f"({parameters(node)}) -> {owner.name}: return {owner.name}({keywords(node)})"
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield use_of_function(owner.name, node)
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            yield from (use_of_attribute(owner.name, name) for name in names if not name.startswith("_"))


def use_of_attribute(owner: str, name: str) -> str:
    real = NOT_IN_STUBS.get(f"{owner}.{name}", owner)
    return f"(it: {real}) -> Any: return it.{name}"


def use_of_function(owner: str, node: ast.FunctionDef) -> str:
    """Return the use of a method, static method, property or of what sets a property."""
    real = NOT_IN_STUBS.get(f"{owner}.{node.name}", owner)
    returns = ast.unparse(node.returns) if node.returns is not None else "None"
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    if not real:
        return "() -> None: ..."
    if "property" in decorators:
        return f"(it: {real}) -> {returns}: return it.{node.name}"
    if f"{node.name}.setter" in decorators:
        value = node.args.args[1].arg
        return f"(it: {real}, {parameters(node)}) -> None: it.{node.name} = {value}"
    given = f", {parameters(node)}" if keywords(node) else ""
    return f"(it: {real}{given}) -> {returns}: {'return ' * (returns != 'None')}it.{node.name}({keywords(node)})"


def own(node: ast.FunctionDef) -> list[ast.arg]:
    return [arg for arg in node.args.args if arg.arg != "self"]


def parameters(node: ast.FunctionDef) -> str:
    return ", ".join(f"{arg.arg}: {ast.unparse(arg.annotation) if arg.annotation else 'Any'}" for arg in own(node))


def keywords(node: ast.FunctionDef) -> str:
    return ", ".join(f"{arg.arg}={arg.arg}" for arg in own(node))


def assigned(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the public attributes that a function gives to self."""
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and not node.attr.startswith("_"):
            yield node.attr


def constructed_in(stubs: str) -> set[str]:
    """Return the classes that NVIDIA's module lets one construct."""
    classes = [node for node in ast.parse(stubs).body if isinstance(node, ast.ClassDef)]
    return {
        owner.name
        for owner in classes
        if any(isinstance(node, ast.FunctionDef) and node.name == "__init__" for node in owner.body)
    }


# ---- mypy ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Run mypy on everything; return what it says, by the file it says it of."""
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    folder = tmp_path_factory.mktemp("types")
    tensorrt_stubs.write(folder / "stubs")
    constructed = constructed_in((folder / "stubs" / "tensorrt" / "__init__.pyi").read_text("utf-8"))
    package = folder / "types" / "trtforensics"
    package.mkdir(parents=True)
    for path in (*(ROOT / "forensics").iterdir(), ROOT / "parsers", ROOT / "tui"):
        (package / path.name).symlink_to(path)
    checked = folder / "checked"
    checked.mkdir()
    for path in levers():
        (checked / f"lever_{path.name}").write_bytes(path.read_bytes())
    script = network_script(["layer"], "fp16", "model.onnx")
    script = script.replace("(network):", "(network: trt.INetworkDefinition) -> None:")
    (checked / "lever_script.py").write_text(script, encoding="utf-8")
    for path in emulator():
        text = path.read_text("utf-8")
        (checked / f"emulator{path.name}").write_text(calls(path, text, constructed), encoding="utf-8")
    for number, mistake in enumerate(IN_LEVERS):
        text = mistaken(mistake)
        (checked / f"wrong_lever_{number}.py").write_text(text, encoding="utf-8")
    for number, mistake in enumerate(IN_EMULATOR):
        text = calls(mistake.file, mistaken(mistake), constructed)
        (checked / f"wrong_emulator_{number}.py").write_text(text, encoding="utf-8")
    return run_mypy(checked, f"{folder / 'types'}{os.pathsep}{folder / 'stubs'}")


def mistaken(mistake: Mistake) -> str:
    text = mistake.file.read_text("utf-8")
    assert mistake.right in text, mistake
    return text.replace(mistake.right, mistake.wrong)


def levers() -> list[Path]:
    """Return our modules that use TensorRT."""
    marks = ("    import tensorrt\n", "import RouteConfig", "import TensorRT")
    paths = sorted((ROOT / "forensics").rglob("*.py"))
    return [path for path in paths if any(mark in path.read_text("utf-8") for mark in marks)]


def emulator() -> list[Path]:
    return sorted(EMULATOR.glob("_[a-z]*.py"))


def run_mypy(checked: Path, paths: str) -> Mapping[str, str]:
    options = ["--strict", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(checked / ".cache")]
    files = sorted(path.name for path in checked.glob("*.py"))
    line = [sys.executable, "-m", "mypy", *options, *files]
    env = {**os.environ, "MYPYPATH": paths}
    done = subprocess.run(line, cwd=checked, env=env, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    told: dict[str, str] = dict.fromkeys(files, "")
    for row in done.stdout.splitlines():
        name, separator, rest = row.partition(":")
        if separator:
            told[name] = f"{told.get(name, '')}{rest}\n"
    assert told.keys() == set(files), done.stdout
    return told


def test_the_levers_use_nothing_that_nvidias_types_do_not_have(said: Mapping[str, str]) -> None:
    told = {name: text for name, text in said.items() if name.startswith("lever_")}
    assert len(told) > 7
    assert {name: text for name, text in told.items() if text} == {}


def test_the_emulator_offers_nothing_that_nvidias_types_do_not_have(said: Mapping[str, str]) -> None:
    told = {name: text for name, text in said.items() if name.startswith("emulator")}
    assert len(told) > 5
    assert {name: text for name, text in told.items() if text} == {}


@pytest.mark.parametrize("number", range(len(IN_LEVERS)))
def test_a_mistake_in_a_lever_is_seen(said: Mapping[str, str], number: int) -> None:
    assert IN_LEVERS[number].said in said[f"wrong_lever_{number}.py"]


@pytest.mark.parametrize("number", range(len(IN_EMULATOR)))
def test_a_mistake_in_the_emulator_is_seen(said: Mapping[str, str], number: int) -> None:
    assert IN_EMULATOR[number].said in said[f"wrong_emulator_{number}.py"]


def test_enumerations_have_the_real_values() -> None:
    text, checked = tensorrt_stubs.source(), 0
    script = "import tensorrt as trt, json, enum\nprint(json.dumps({n: {k: int(v) for k, v in e.__members__.items()} "
    script += "for n, e in vars(trt).items() if isinstance(e, type) and issubclass(e, enum.Enum)}))"
    line = [sys.executable, "-c", script]
    done = subprocess.run(line, env=environment(version="10.13.3"), capture_output=True, text=True, check=True)
    for name, members in json.loads(done.stdout).items():
        assert re.search(rf"^class {name}\b", text, re.MULTILINE)
        for member, value in members.items():
            assert re.search(rf"    {member}: .*<{name}\.\w+: {value}>", text), f"{name}.{member}"
            checked += 1
    assert checked > 150
