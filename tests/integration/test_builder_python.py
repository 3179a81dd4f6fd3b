"""``--builder-python``: child processes import TensorRT in another Python, which has neither us nor our packages."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.repository import ROOT
from trtforensics.bisection.levers.recipe import pinned_entries
from trtforensics.errors import UsageError
from trtforensics.trt import installed
from trtforensics.trt.build import BUILD_MODULE, NOT_ASKED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MODEL = ROOT / "testdata" / "models" / "convnet.onnx"
OLDER = ("python3.8", "python3.9", "python3.10")

TENSORRT = """
import os, sys
import enum

__version__ = "10.3.0"
print("built by", "%d.%d" % sys.version_info[:2], "with", ",".join(name for name in OURS if name in sys.modules) or "-")


class Flag(enum.Enum):
    DISABLE_TIMING_CACHE = 0
    FP16 = 1
    EDITABLE_TIMING_CACHE = 2
    DISABLE_COMPILATION_CACHE = 3
    ERROR_ON_TIMING_CACHE_MISS = 4


class Word(str):
    pass


class Box:
    def __init__(self, **fields):
        self.__dict__.update(fields)


class BuilderFlag:
    __members__ = Flag.__members__


for member in Flag:
    setattr(BuilderFlag, member.name, member)


class NetworkDefinitionCreationFlag:
    STRONGLY_TYPED = 1
    EXPLICIT_BATCH = 0


class ProfilingVerbosity:
    DETAILED = 2


class Logger:
    VERBOSE, WARNING, ERROR, INTERNAL_ERROR = 4, 2, 1, 0

    def __init__(self, level):
        pass


class ILogger:
    pass


class IAlgorithmSelector:
    pass


class INetworkDefinition:
    num_layers = 0


class OnnxParser:
    num_errors = 0

    def __init__(self, network, logger):
        pass

    def parse_from_file(self, path):
        return os.path.exists(path)


class TimingCacheKey(str):
    @staticmethod
    def parse(text):
        return TimingCacheKey(text)


class TimingCacheValue:
    def __init__(self, tactic, time_ms):
        self.tacticHash, self.timingMSec = tactic, time_ms


class Cache:
    def __init__(self):
        self.values = {TimingCacheKey("0x01"): TimingCacheValue(5, 0.5)}

    def queryKeys(self):
        return list(self.values)

    def query(self, key):
        return self.values[key]

    def update(self, key, value):
        known = key in self.values
        if known:
            self.values[key] = value
        return known

    def serialize(self):
        return b"cache"


class Config:
    algorithm_selector = cache = None

    def set_flag(self, flag):
        pass

    def create_timing_cache(self, payload):
        return Cache()

    def set_timing_cache(self, cache, ignore):
        self.cache = cache
        return True

    def get_timing_cache(self):
        return self.cache


def algorithm(tactic):
    tensor = Box(dtype=Word("DataType.HALF"), strides=(4, 1), vectorized_dim=-1, components_per_element=1)
    variant = Box(tactic=tactic, implementation=7)
    return Box(algorithm_variant=variant, get_algorithm_io_info=lambda index: tensor)


class Engine(bytes):
    nbytes = 6


class Builder:
    def __init__(self, logger):
        pass

    def create_network(self, flags):
        return INetworkDefinition()

    def create_builder_config(self):
        return Config()

    def build_serialized_network(self, network, config):
        selector = config.algorithm_selector
        if selector is not None:
            context, offers = Box(name="conv", num_inputs=1, num_outputs=1), [algorithm(3), algorithm(4)]
            places = selector.select_algorithms(context, offers)
            if not places:
                return None
            selector.report_algorithms([context], [offers[places[0]]])
        return Engine(b"engine")
"""
"""A ``tensorrt`` of one layer and two tactics, in a Python that is older than ours."""

OURS = 'OURS = ("onnx", "lark", "regex", "zstandard", "textual", "polygraphy")\n'


def available() -> list[str]:
    """Return the Pythons to build in: the older ones on the path, and this one."""
    return [*filter(None, map(shutil.which, OLDER)), sys.executable]


@pytest.fixture(scope="module", params=available(), ids=lambda program: program.rpartition("/")[2])
def other(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the Python of a virtual environment that holds a ``tensorrt``, and nothing else."""
    if subprocess.run([request.param, "-c", "import venv"], capture_output=True, check=False).returncode:
        pytest.skip(f"{request.param} does not run here, or has no venv")
    folder = tmp_path_factory.mktemp("trt")
    subprocess.run([request.param, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "tensorrt.py").write_text(OURS + TENSORRT)
    return str(folder / "bin" / "python")


def tactics(tactic: int) -> dict[str, Any]:
    tensor = {"dtype": "DataType.HALF", "strides": [4, 1], "vectorized_dim": -1, "components_per_element": 1}
    tensor = {**tensor, "polygraphy_class": "TensorInfo"}
    algorithm = {"implementation": 7, "tactic": tactic, "inputs": [tensor], "outputs": [tensor]}
    replay = {"conv": {**algorithm, "polygraphy_class": "Algorithm"}}
    return {"replay": replay, "polygraphy_class": "TacticReplayData"}


def built(other: str, folder: Path, **lever: object) -> tuple[int, str, dict[str, Any]]:
    job = {"module": "tensorrt", "model": str(MODEL), "report": str(folder / "report.json"), "flags": ["FP16"], **lever}
    (folder / "job.json").write_text(json.dumps(job))
    with installed.other_python(other):
        line = installed.child_line(BUILD_MODULE, str(folder / "job.json"))
    done = subprocess.run(line, env={"PATH": ""}, capture_output=True, text=True, check=False)
    assert (folder / "report.json").exists(), done.stderr
    return done.returncode, done.stdout, json.loads((folder / "report.json").read_text())


def test_a_replay_pins_a_tactic_there(other: str, tmp_path: Path) -> None:
    (tmp_path / "replay.json").write_text(json.dumps(tactics(4)))
    entries = pinned_entries(tmp_path / "replay.json")
    status, said, report = built(other, tmp_path, replay=entries, engine=str(tmp_path / "engine"))
    assert status == 0
    assert said.rstrip().endswith("with -")  # none of our packages is there
    assert report["lever"] == {"refused": [], "differs": [], "details": {"missing": []}}
    assert (tmp_path / "engine").read_bytes() == b"engine"


def test_a_tactic_that_is_not_offered_is_named_there(other: str, tmp_path: Path) -> None:
    (tmp_path / "replay.json").write_text(json.dumps(tactics(9)))
    _, _, report = built(other, tmp_path, replay=pinned_entries(tmp_path / "replay.json"))
    assert "does not offer tactic 0x0000000000000009" in report["lever"]["refused"][0]


@pytest.mark.parametrize(("key", "status"), [("0x01", 0), ("0x02", NOT_ASKED)])
def test_cache_keys_are_pinned_there(other: str, tmp_path: Path, key: str, status: int) -> None:
    found, _, report = built(other, tmp_path, keys={key: [5, 0.25]}, store=str(tmp_path / "store"))
    assert found == status
    assert bool(report["lever"]["refused"]) == bool(status)


def test_doctor_speaks_of_that_python(other: str) -> None:
    line = [sys.executable, "-m", "trtforensics", "doctor", "--json", "--builder-python", other]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    assert document["builder_python"] == other
    assert document["tensorrt"]["tensorrt"] == "10.3.0"


@pytest.mark.slow
def test_a_bisection_builds_there(other: str, tmp_path: Path) -> None:
    for name, tactic in (("good", 3), ("bad", 4)):
        (tmp_path / f"{name}.json").write_text(json.dumps(tactics(tactic)))
    check = 'grep -q \'"tactic": 3\' {replay} || grep -q \'"tactic": "0x.*3"\' {replay}'
    words: Sequence[object] = [
        *("bisect", "tactics", "--good", tmp_path / "good.json", "--bad", tmp_path / "bad.json", "--onnx", MODEL),
        *("--builder-python", other, "--check", check, "--artifacts-dir", tmp_path / "out", "--json"),
    ]
    line = [sys.executable, "-m", "trtforensics", *map(str, words)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    assert json.loads(done.stdout)["status"] == "certified"


@pytest.mark.parametrize(
    ("program", "why"), [("/nowhere/python", "is no program"), ("true", "does not run as a Python")]
)
def test_what_is_no_python_is_refused(program: str, why: str) -> None:
    with pytest.raises(UsageError, match=why), installed.other_python(program):
        pytest.fail("it was taken")


def test_a_python_that_is_too_old_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "python"
    old.write_text("#!/bin/sh\necho 3 7\n")
    old.chmod(0o755)
    with pytest.raises(UsageError, match=r"is Python 3\.7"), installed.other_python(str(old)):
        pytest.fail("it was taken")


def test_without_the_option_this_python_builds() -> None:
    assert installed.child_line(BUILD_MODULE, "job.json") == [sys.executable, "-m", BUILD_MODULE, "job.json"]
