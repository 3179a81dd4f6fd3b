"""The emulator's `tensorrt` has what its versions have, and builds as they would.

`tests/house/test_tensorrt_types.py` holds its functions to NVIDIA's types.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.emulator.tensorrt.python_path import environment
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODEL = ROOT / "testdata" / "models" / "convnet.onnx"
OPENING = f"""
import json, os, sys
import tensorrt as trt

def scenario(**wanted):
    os.environ["EMULATED_TENSORRT"] = json.dumps(wanted)

def parsed(flags=0, logger=None):
    logger = logger or trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network(flags)
    assert trt.OnnxParser(network, logger).parse_from_file({str(MODEL)!r})
    config = builder.create_builder_config()
    if hasattr(trt.BuilderFlag, "FP16"):
        config.set_flag(trt.BuilderFlag.FP16)
    return builder, network, config

def layers(plan):
    return json.loads(bytes(plan)[32:])["layers"]

def editable(config, content=b""):
    config.set_flag(trt.BuilderFlag.EDITABLE_TIMING_CACHE)
    cache = config.create_timing_cache(content)
    config.set_timing_cache(cache, True)
    return cache

def entries(cache):
    return {{str(key): cache.query(key).tacticHash for key in cache.queryKeys()}}
"""


@pytest.fixture
def python() -> Callable[..., Any]:
    """Run a script that prints JSON, with a scenario's `tensorrt`; stderr is printed for the test's own message."""

    def go(script: str, *, status: int = 0, **scenario: object) -> Any:
        line = [sys.executable, "-c", OPENING + script]
        done = subprocess.run(line, env=environment(**scenario), capture_output=True, text=True, check=False)
        print(done.stderr)
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout.splitlines()[-1]) if done.stdout else None

    return go


# ---- versions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "absent", "present"),
    [
        (
            "8.6.1",
            ["TimingCacheKey", "BuilderFlag.EDITABLE_TIMING_CACHE", "ITimingCache.queryKeys"],
            ["IAlgorithmSelector"],
        ),
        pytest.param(
            "10.7.0",
            ["TimingCacheKey", "IAlgorithmIOInfo.tensor_format"],
            ["IAlgorithmSelector", "ILayer.precision"],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "10.13.3",
            ["IAlgorithmIOInfo.tensor_format"],
            ["IAlgorithmSelector", "TimingCacheKey", "BuilderFlag.FP16"],
            marks=pytest.mark.slow,
        ),
        (
            "11.1.0",
            ["IAlgorithmSelector", "IAlgorithm", "BuilderFlag.FP16", "ILayer.precision", "ILayer.set_output_type"],
            ["TimingCacheKey", "BuilderFlag.EDITABLE_TIMING_CACHE", "ITimingCache.update"],
        ),
    ],
)
def test_a_version_has_what_it_has(
    python: Callable[..., Any], version: str, absent: list[str], present: list[str]
) -> None:
    script = """
def has(path):
    owner = trt
    for name in path.split("."):
        if not hasattr(owner, name):
            return False
        owner = getattr(owner, name)
    return True
"""
    script += f"print(json.dumps([trt.__version__, list(map(has, {absent})), list(map(has, {present}))]))"
    assert python(script, version=version) == [version, [False] * len(absent), [True] * len(present)]


# ---- builds --------------------------------------------------------------------------------------------------------

SELECTOR = """
class Selector(trt.IAlgorithmSelector):
    def __init__(self, wanted):
        trt.IAlgorithmSelector.__init__(self)
        self.wanted, self.reported = wanted, {}
    def select_algorithms(self, context, choices):
        found = [index for index, choice in enumerate(choices) if facts(choice) == self.wanted.get(context.name)]
        if context.name in self.wanted and not found:
            raise ValueError("not offered: " + context.name)
        return found or list(range(len(choices)))
    def report_algorithms(self, contexts, choices):
        self.reported = {context.name: facts(choice) for context, choice in zip(contexts, choices)}

def facts(choice):
    variant, info = choice.algorithm_variant, choice.get_algorithm_io_info(0)
    return [variant.implementation, variant.tactic, str(info.dtype), list(info.strides), info.vectorized_dim]

def build(wanted):
    builder, network, config = parsed()
    config.algorithm_selector = Selector(wanted)
    plan = builder.build_serialized_network(network, config)
    return plan, config.algorithm_selector.reported
"""


@pytest.mark.slow
def test_builds_differ_among_near_ties_and_a_selector_pins_them(python: Callable[..., Any]) -> None:
    script = (
        SELECTOR
        + """
results = []
for luck in "aab":
    scenario(luck=luck)
    results.append(build({})[1])
scenario(luck="c")
print(json.dumps([*results, build(results[0])[1]]))
"""
    )
    first, same, other, pinned = python(script)
    assert first == same == pinned
    assert first != other
    assert first.keys() & other.keys()


@pytest.mark.slow
def test_what_a_selector_raises_ends_the_build(python: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    wanted = {"/stem/MaxPool": [0, 0, "", [], 0]}
    assert python(SELECTOR + f"print(json.dumps(build({wanted!r})[0] is None))") is True
    told = capsys.readouterr().out
    assert "[ERROR] Exception caught in select_algorithms(): ValueError: not offered: /stem/MaxPool" in told
    assert "Could not find any implementation for node /stem/MaxPool." in told


@pytest.mark.slow
def test_polygraphys_own_recorder_and_replayer_work(python: Callable[..., Any], tmp_path: Path) -> None:
    script = """
from polygraphy.backend.trt import TacticRecorder, TacticReplayer
path = {path!r}
def chosen(selector):
    builder, network, config = parsed()
    config.algorithm_selector = selector
    plan = builder.build_serialized_network(network, config)
    return plan and {{layer["name"]: layer["algorithm"] for layer in layers(plan)}}
first = chosen(TacticRecorder(path))
second = chosen(TacticReplayer(path))
text = open(path).read().replace('"tactic": ', '"tactic": 1', 1)
open(path, "w").write(text)
print(json.dumps([first, second, chosen(TacticReplayer(path))]))
"""
    first, second, third = python(
        "import warnings; warnings.simplefilter('ignore')\n" + script.format(path=str(tmp_path / "replay.json"))
    )
    assert len(first) > 10
    assert first == second
    assert third is None


CACHE = """
def build(content=b"", change=(), strict=False):
    builder, network, config = parsed()
    cache = editable(config, content)
    if strict:
        config.set_flag(trt.BuilderFlag.ERROR_ON_TIMING_CACHE_MISS)
    for key, tactic in change:
        key = trt.TimingCacheKey.parse(key)
        assert cache.update(key, trt.TimingCacheValue(tactic, cache.query(key).timingMSec))
    plan = builder.build_serialized_network(network, config)
    return plan, cache
"""


@pytest.mark.parametrize("version", ["10.13.3", "11.1.0"])
@pytest.mark.slow
def test_a_cache_pins_every_key(python: Callable[..., Any], version: str) -> None:
    script = (
        CACHE
        + """
scenario(luck="a", runner_up=True)
first = build()[1]
scenario(luck="b")
print(json.dumps([entries(cache) for cache in (first, build(first.serialize(), strict=True)[1], build()[1])]))
"""
    )
    first, pinned, free = python(script, version=version)
    assert first == pinned
    assert first != free


PAIR = (
    CACHE
    + """
scenario(luck="a", noise=0)
content = build()[1].serialize()
good = entries(build()[1])
scenario(luck="a", noise=0, runner_up=True)
bad = entries(build()[1])
differing = [key for key in good if key in bad and bad[key] != good[key]]
key, other = differing[:2]
change = [(key, bad[key])]
"""
)


@pytest.mark.slow
def test_a_changed_key_is_built_and_a_tactic_of_another_layer_is_refused(python: Callable[..., Any]) -> None:
    script = (
        PAIR
        + """
scenario(luck="b")
plan, cache = build(content, change, strict=True)
stranger = next(tactic for tactic in good.values() if tactic > 1 << 40 and tactic != good[key])
foreign, _ = build(content, [(key, stranger)], strict=True)
scenario(luck="b", refused=[hex(bad[key])])
refused, _ = build(content, change, strict=True)
chosen = json.loads(bytes(plan)[32:])["keys"]
assert entries(cache) == {**good, key: bad[key]}
print(json.dumps([int(chosen[key], 16) == bad[key], foreign is None, refused is None]))
"""
    )
    assert python(script) == [True, True, True]


@pytest.mark.slow
def test_drifted_keys_and_blind_keys_show_in_the_cache(python: Callable[..., Any]) -> None:
    script = (
        PAIR
        + """
scenario(luck="a", noise=0, drift={other: key})
loose, cache = build(content, change)
strict, _ = build(content, change, strict=True)
scenario(luck="a", noise=0, blind=[key])
blind, retimed = build(content, change, strict=True)
drifted = len(entries(cache).keys() - good.keys())
print(json.dumps([loose is not None, drifted, strict is None, blind is not None, entries(retimed) == good]))
"""
    )
    assert python(script) == [True, 1, True, True, True]


@pytest.mark.slow
def test_editing_a_cache_follows_the_documented_rules(python: Callable[..., Any]) -> None:
    script = f"""{CACHE}
plan, cache = build()
key = cache.queryKeys()[0]
absent = trt.TimingCacheKey.parse("0x" + "0" * 32)
value = cache.query(absent)
print(json.dumps([
    value.tacticHash, value.timingMSec < 0, cache.update(absent, trt.TimingCacheValue(1, 0.1)),
    cache.update(key, trt.TimingCacheValue(2**64 - 1, 0.1)), cache.update(key, trt.TimingCacheValue(1, -1.0)),
    cache.update(key, trt.TimingCacheValue(1, float("nan"))), str(key) in entries(cache),
    trt.TimingCacheValue(0x665ded9abbf88, 0.0112).timingMSec,
]))
"""
    *found, ms = python(script)
    assert found == [(1 << 64) - 1, True, False, False, False, True, False]
    assert ms == pytest.approx(0.0112, rel=1e-6)
    assert ms != 0.0112


@pytest.mark.slow
def test_optimization_level_0_ignores_the_cache(python: Callable[..., Any]) -> None:
    script = """
builder, network, config = parsed()
cache = editable(config)
config.builder_optimization_level = 0
plan = builder.build_serialized_network(network, config)
print(json.dumps([plan is not None, len(cache.queryKeys())]))
"""
    assert python(script) == [True, 0]


@pytest.mark.slow
def test_precision_constraints_and_marked_outputs_decide_the_layers(python: Callable[..., Any]) -> None:
    script = """
def names(change):
    builder, network, config = parsed()
    config.set_flag(trt.BuilderFlag.OBEY_PRECISION_CONSTRAINTS)
    for layer in network:
        change(network, layer)
    plan = builder.build_serialized_network(network, config)
    return {layer["name"]: layer["precision"] for layer in layers(plan) if not layer["name"].startswith("Reformat")}
def nothing(network, layer): pass
def full(network, layer):
    if layer.name == "/blocks.0/second/Conv":
        layer.precision = trt.DataType.FLOAT
def mark(network, layer):
    if layer.name == "/stem/Conv":
        network.mark_output(layer.get_output(0))
print(json.dumps([names(nothing), names(full), names(mark)]))
"""
    plain, full, marked = python(script)
    assert plain["/stem/Conv + /stem/BatchNormalization + /stem/Relu"] == "Half"
    assert full["/blocks.0/second/Conv + /blocks.0/second/BatchNormalization"] == "Float"
    assert "/stem/Conv" in marked
    assert "/stem/Conv + /stem/BatchNormalization + /stem/Relu" not in marked


@pytest.mark.slow
def test_a_child_dies_on_demand(python: Callable[..., Any]) -> None:
    script = "builder, network, config = parsed()\nbuilder.build_serialized_network(network, config)\nprint(1)"
    assert python(script, status=-11, faults=["crash:SEGV"]) is None
    assert python(script, status=1, faults=["raise:out of luck"]) is None
    assert python(script, faults=["crash:SEGV"], when=[[{"layer": "nowhere", "algorithm": ""}]]) == 1


@pytest.mark.slow
def test_a_verbose_logger_of_ones_own_gets_every_message(python: Callable[..., Any]) -> None:
    script = """
class Mine(trt.ILogger):
    def __init__(self):
        trt.ILogger.__init__(self)
        self.seen = []
    def log(self, severity, msg):
        self.seen.append([severity.name, msg])
logger = Mine()
builder, network, config = parsed(logger=logger)
builder.build_serialized_network(network, config)
print(json.dumps(logger.seen))
"""
    seen = python(script)
    dumps = [
        msg for severity, msg in seen if severity == "VERBOSE" and msg.startswith("Engine Layer Information:\nLayer(")
    ]
    assert len(dumps) == 1
    assert any(msg.startswith("Parsing node: /stem/Conv [Conv]") for _, msg in seen)
