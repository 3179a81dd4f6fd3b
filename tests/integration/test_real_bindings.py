"""NVIDIA's real Python bindings over stub libraries: every name, enumerator and call that our levers use is there.

Behind the bindings is nothing: what they ask of TensorRT's libraries is answered by functions that return 0. So
builders do not work, but enumerators, classes, signatures and value types are the real ones.
"""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.emulator.tensorrt.python_path import environment
from tests.support.repository import ROOT
from trtforensics.trt.build import NOT_ASKED

if TYPE_CHECKING:
    from collections.abc import Callable

CONVNET = ROOT / "testdata" / "models" / "convnet.onnx"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the bindings are Linux libraries"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc to make stub libraries with"),
]

SYMBOLS = {
    "nvinfer": (
        "createInferBuilder_INTERNAL",
        "createInferRefitter_INTERNAL",
        "createInferRuntime_INTERNAL",
        "getBuilderPluginRegistry",
        "getPluginRegistry",
    ),
    "nvonnxparser": ("createNvOnnxParser_INTERNAL", "createNvOnnxParserRefitter_INTERNAL", "getNvOnnxParserVersion"),
    "nvinfer_plugin": ("initLibNvInferPlugins",),
}
"""What the bindings need of each library."""

VERSIONS = {
    "10.7": ("tensorrt-cu12-bindings==10.7.0", "10.7.0"),
    "10.13": ("tensorrt-cu12-bindings==10.13.3.9", "10.13.3"),
    "11.4": ("tensorrt-cu13-bindings==11.4.0.106", "11.4.0"),
}

OF_INSTANCES = {"name", "dtype", "num_errors"}
"""Attributes that the emulator's objects get when they are made; the real classes have properties."""

USED = """
import json, sys
import importlib
trt = importlib.import_module(sys.argv[1])

def members(owner, *names):
    return {name: hasattr(owner, name) for name in names}

def values(name, *wanted):
    enum = getattr(trt, name)
    there = enum.__members__
    return {word: [int(there[word]), str(getattr(enum, word))] for word in wanted if word in there}

used = {
    "module": members(
        trt, "IAlgorithmSelector", "TimingCacheKey", "TimingCacheValue", "OnnxParser", "Builder", "float32"
    ),
    "INetworkDefinition": members(trt.INetworkDefinition, "mark_output", "mark_debug", "get_layer", "get_output"),
    "ILayer": members(trt.ILayer, "num_outputs", "get_output", "name", "precision", "set_output_type"),
    "ITensor": members(trt.ITensor, "name", "dtype", "is_network_output"),
    "ITimingCache": members(trt.ITimingCache, "queryKeys", "query", "update", "combine", "serialize"),
    "IBuilderConfig": members(
        trt.IBuilderConfig, "set_flag", "create_timing_cache", "set_timing_cache", "get_timing_cache",
        "add_optimization_profile",
    ),
    "Builder": members(trt.Builder, "create_network", "create_builder_config", "build_serialized_network"),
    "OnnxParser": members(trt.OnnxParser, "parse_from_file", "get_error", "num_errors"),
    "BuilderFlag": values(
        "BuilderFlag", "FP16", "TF32", "DISABLE_TIMING_CACHE", "REJECT_EMPTY_ALGORITHMS", "EDITABLE_TIMING_CACHE",
        "DISABLE_COMPILATION_CACHE", "ERROR_ON_TIMING_CACHE_MISS", "OBEY_PRECISION_CONSTRAINTS",
    ),
    "NetworkDefinitionCreationFlag": values("NetworkDefinitionCreationFlag", "EXPLICIT_BATCH", "STRONGLY_TYPED"),
    "DataType": values("DataType", "FLOAT", "HALF", "INT8", "INT32", "BF16"),
    "ProfilingVerbosity": values("ProfilingVerbosity", "DETAILED"),
}
print(json.dumps(used))
"""

VALUES = """
import json, sys
import tensorrt_bindings as trt
found = {"version": trt.__version__}
if hasattr(trt, "TimingCacheKey"):
    key = trt.TimingCacheKey.parse("0x" + "0123456789abcdef" * 2)
    value = trt.TimingCacheValue(0x665DED9ABBF88, 0.0112)
    found["key"] = [str(key), value.tacticHash, round(value.timingMSec, 6)]
    found["docs"] = [getattr(trt.ITimingCache, name).__doc__ for name in ("query", "update", "queryKeys")]
    found["key type"] = type(key).__name__
    found["bad key"] = []
    for text in ("0123", "0x0123"):
        try:
            trt.TimingCacheKey.parse(text)
        except Exception as error:
            found["bad key"].append(type(error).__name__)
if hasattr(trt, "IAlgorithmSelector"):
    sys.modules["tensorrt"] = trt
    from trtforensics.trt.tactics import TacticPinning, _selector
    selector = _selector(trt, TacticPinning([]))
    class Context:
        name = "layer"
    found["selector"] = [isinstance(selector, trt.IAlgorithmSelector), selector.select_algorithms(Context(), [1, 2])]
    signatures = [trt.IAlgorithmSelector.select_algorithms.__doc__, trt.IAlgorithmSelector.report_algorithms.__doc__]
    found["signatures"] = [text.strip().splitlines()[0] for text in signatures]
    found["algorithm"] = [
        hasattr(trt.IAlgorithm, "algorithm_variant"), hasattr(trt.IAlgorithm, "get_algorithm_io_info"),
        hasattr(trt.IAlgorithmVariant, "implementation"), hasattr(trt.IAlgorithmVariant, "tactic"),
        hasattr(trt.IAlgorithmIOInfo, "dtype"), hasattr(trt.IAlgorithmIOInfo, "strides"),
        hasattr(trt.IAlgorithmIOInfo, "vectorized_dim"), hasattr(trt.IAlgorithmIOInfo, "components_per_element"),
        hasattr(trt.IAlgorithmContext, "num_inputs"), hasattr(trt.IAlgorithmContext, "num_outputs"),
    ]
found["routes"] = [hasattr(trt.IBuilderConfig, name) for name in ("build_route", "all_build_routes")]
print(json.dumps(found))
"""


@functools.cache
def fetched(version: str, folder: Path) -> Path:
    """Return a folder with the bindings and stub libraries; skip where the wheel cannot be had."""
    wheel, full = VERSIONS[version]
    wheels, place = folder / "wheels", folder / version
    pip = [sys.executable, "-m", "pip", "--retries", "0", "--timeout", "10"]
    line = [*pip, "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", wheels, wheel]
    done = subprocess.run([*map(str, line)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"the wheel {wheel} cannot be downloaded: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    name = wheel.partition("==")[0].replace("-", "_")
    with zipfile.ZipFile(next(wheels.glob(f"{name}-{wheel.partition('==')[2]}-*.whl"))) as archive:
        archive.extractall(place)
    major = full.partition(".")[0]
    for library, symbols in SYMBOLS.items():
        source = place / f"{library}.c"
        source.write_text("".join(f"void *{symbol}(void) {{ return 0; }}\n" for symbol in symbols))
        soname = f"lib{library}.so.{major}"
        options = ["-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", str(place / soname), str(source)]
        subprocess.run(["gcc", *options], check=True)  # noqa: S607 - whichever gcc there is
    return place


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bindings")


def ask(script: str, env: dict[str, str], *arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def real(version: str, folder: Path) -> dict[str, str]:
    place = str(fetched(version, folder))
    return {**environment(), "PYTHONPATH": f"{place}:{ROOT}", "LD_LIBRARY_PATH": place}


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_the_emulator_has_the_names_and_values_of_the_bindings(version: str, folder: Path) -> None:
    there = ask(USED, real(version, folder), "tensorrt_bindings")
    ours = ask(USED, environment(version=VERSIONS[version][1]), "tensorrt")
    for group, wanted in there.items():
        for name in OF_INSTANCES & wanted.keys():
            assert wanted.pop(name)
            del ours[group][name]
        assert ours[group] == wanted, group


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_what_the_levers_use_is_there(version: str, folder: Path) -> None:
    found = ask(VALUES, real(version, folder))
    assert found["version"].startswith(VERSIONS[version][1])
    assert ("key" in found) == (version != "10.7")
    if "key" in found:
        assert found["key"] == ["0x" + "0123456789abcdef" * 2, 0x665DED9ABBF88, 0.0112]
        query, update, keys = found["docs"]
        assert "TimingCacheKey" in query.splitlines()[0]
        assert all(name in update.splitlines()[0] for name in ("TimingCacheKey", "TimingCacheValue"))
        assert "TimingCacheKey" in keys.splitlines()[0]
        assert found["key type"] == "TimingCacheKey"
    assert ("selector" in found) == (version != "11.4")
    if "selector" in found:
        assert found["selector"] == [True, [0, 1]]
        assert "context:" in found["signatures"][0]
        assert "choices:" in found["signatures"][0]
        assert "contexts:" in found["signatures"][1]
        assert all(found["algorithm"])
    assert found["routes"] == [version == "11.4"] * 2


# ---- builds --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def over_rtx(folder: Path) -> dict[str, str]:
    """An environment in which ``import tensorrt`` is the bindings of 11.4 over TensorRT-RTX's libraries."""
    libraries = find_spec("tensorrt_rtx_libs")
    if libraries is None or libraries.origin is None:
        pytest.skip("tensorrt_rtx is not installed")
    env, stubs = real("11.4", folder), folder / "11.4"
    place = folder / "11.4-over-rtx"
    (place / "tensorrt").mkdir(parents=True)
    lines = "from tensorrt_bindings import *\nfrom tensorrt_bindings import __version__\n"
    (place / "tensorrt" / "__init__.py").write_text(lines)
    for library in Path(libraries.origin).parent.glob("lib*.so.*"):
        (place / library.name).symlink_to(library)
    (place / "libnvinfer.so.11").symlink_to(place / "libtensorrt_rtx.so.1")
    (place / "libnvonnxparser.so.11").symlink_to(place / "libtensorrt_onnxparser_rtx.so.1")
    (place / "libnvinfer_plugin.so.11").symlink_to(stubs / "libnvinfer_plugin.so.11")
    return {**env, "PYTHONPATH": f"{place}:{stubs}:{ROOT}", "LD_LIBRARY_PATH": str(place)}


def built(folder: Path, env: dict[str, str], **lever: object) -> tuple[int, dict[str, Any]]:
    job = {"module": "tensorrt", "model": str(CONVNET), "report": str(folder / "report.json"), **lever}
    (folder / "job.json").write_text(json.dumps(job))
    line = [sys.executable, "-m", "trtforensics.trt.build", str(folder / "job.json")]
    done = subprocess.run(line, env=env, capture_output=True, text=True, check=False)
    assert (folder / "report.json").exists(), done.stderr[-2000:]
    return done.returncode, json.loads((folder / "report.json").read_text())


@pytest.mark.slow
@pytest.mark.rtx
def test_the_bindings_of_11_build_through_our_code(tmp_path: Path, over_rtx: dict[str, str]) -> None:
    marked = "/blocks.0/Add_output_0"
    status, report = built(tmp_path, over_rtx, outputs=[marked], engine=str(tmp_path / "engine"))
    assert status == 0
    assert report["version"].startswith("11.4.0")
    assert marked in report["lever"]["details"]["outputs"]
    assert (tmp_path / "engine").stat().st_size == report["engine_bytes"] > 0


@pytest.mark.rtx
def test_the_bindings_of_11_refuse_a_key_that_is_not_there(tmp_path: Path, over_rtx: dict[str, str]) -> None:
    key = f"0x{5:032x}"
    status, report = built(tmp_path, over_rtx, keys={key: [7, 0.1]}, store=str(tmp_path / "store"))
    assert status == NOT_ASKED
    assert report["lever"]["refused"] == [f"key {key} is not in the network's timing cache"]


@pytest.mark.rtx
def test_where_the_library_has_no_knobs_there_are_no_build_routes(
    refuse: Callable[..., str], tmp_path: Path, over_rtx: dict[str, str]
) -> None:
    line = ("bisect", "route", CONVNET, "--builder", "tensorrt", "--artifacts-dir", tmp_path / "out")
    assert "has no build routes" in refuse(*line, env=over_rtx)
    assert not (tmp_path / "out").exists()
