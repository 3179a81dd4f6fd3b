"""The whole circle of a pinning on emulated TensorRT: bad build, culprits, pin, a build with it, the proof."""

from __future__ import annotations

import json
import math
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
import pytest
from onnx import TensorProto, helper

from tests.emulator.tensorrt.python_path import environment
from tests.emulator.trtexec import cli as trtexec_cli
from tests.emulator.trtexec.bench import QUICK
from tests.support.pin_logs import V, layer_log
from tests.support.repository import LOGS
from trtforensics.bisection.levers.recipe import pinned_entries

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bisect runs on Linux only")

HALF = re.compile(r"f16f16_f16f16_f16|_hcudnn_")
"""What the name of a kernel that sums in Half holds."""

BUILD = """
import sys
import tensorrt as trt
model, out, given = sys.argv[1:4]
logger = trt.Logger(trt.Logger.VERBOSE)
builder = trt.Builder(logger)
network = builder.create_network(0)
assert trt.OnnxParser(network, logger).parse_from_file(model)
config = builder.create_builder_config()
config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
if hasattr(trt.BuilderFlag, "FP16"):
    config.set_flag(trt.BuilderFlag.FP16)
keyed = hasattr(trt.BuilderFlag, "EDITABLE_TIMING_CACHE")
if keyed:
    config.set_flag(trt.BuilderFlag.EDITABLE_TIMING_CACHE)
    cache = config.create_timing_cache(open(given, "rb").read() if given else b"")
    config.set_timing_cache(cache, True)
plan = builder.build_serialized_network(network, config)
assert plan is not None
open(out + ".engine", "wb").write(memoryview(plan))
if keyed:
    open(out + ".cache", "wb").write(bytes(config.get_timing_cache().serialize()))
"""


def convolutions(path: Path) -> None:
    """Write a model of twelve convolutions in FP32."""
    nodes, weights, tensor = [], [], "x"
    for index in range(12):
        weights.append(helper.make_tensor(f"w{index}", TensorProto.FLOAT, (8, 8, 3, 3), bytes(8 * 8 * 9 * 4), raw=True))
        nodes.append(helper.make_node("Conv", [tensor, f"w{index}"], [f"c{index}"], f"conv{index}", pads=[1] * 4))
        nodes.append(helper.make_node("Relu", [f"c{index}"], [f"r{index}"], f"relu{index}"))
        tensor = f"r{index}"
    _save(
        path,
        nodes,
        weights,
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, (8, 8, 28, 28)) for n in ("x", tensor)],
    )


def products(path: Path) -> None:
    """Write a model of twelve matrix products in FP16, as TensorRT 11 takes it."""
    nodes, weights, tensor = [], [], "x"
    for index in range(12):
        weights.append(helper.make_tensor(f"w{index}", TensorProto.FLOAT16, (16, 16), bytes(16 * 16 * 2), raw=True))
        nodes.append(helper.make_node("MatMul", [tensor, f"w{index}"], [f"m{index}"], f"matmul{index}"))
        nodes.append(helper.make_node("Softmax", [f"m{index}"], [f"s{index}"], f"softmax{index}"))
        tensor = f"s{index}"
    _save(
        path,
        nodes,
        weights,
        [helper.make_tensor_value_info(n, TensorProto.FLOAT16, (4, 16, 16)) for n in ("x", tensor)],
    )


def _save(path: Path, nodes: list[Any], weights: list[Any], ends: list[Any]) -> None:
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def build(model: Path, out: Path, version: str, given: str = "", **scenario: Any) -> Path:
    """Build with the emulated TensorRT; return the log, beside which the engine and the cache lie."""
    line = [sys.executable, "-c", BUILD, str(model), str(out), given]
    log = Path(f"{out}.log")
    with log.open("wb") as stream:
        env = environment(version=version, **{"luck": "pair", **scenario})
        done = subprocess.run(line, env=env, stdout=stream, stderr=stream, check=False)
    assert done.returncode == 0, log.read_text()[-2000:]
    return log


def replayed(model: Path, out: Path, version: str, pinned: Path) -> Path:
    """Build with a replay through our own child process."""
    job = {
        "module": "tensorrt",
        "model": str(model),
        "report": f"{out}.report.json",
        "engine": f"{out}.engine",
        "flags": ["FP16"],
        "typed": False,
        "replay": pinned_entries(pinned),
    }
    Path(f"{out}.job.json").write_text(json.dumps(job))
    line = [sys.executable, "-m", "trtforensics.trt.build", f"{out}.job.json"]
    log = Path(f"{out}.log")
    with log.open("wb") as stream:
        done = subprocess.run(
            line, env=environment(version=version, luck="other"), stdout=stream, stderr=stream, check=False
        )
    assert done.returncode == 0, log.read_text()[-2000:]
    return log


def checked(engine: Path, hidden: Path) -> int:
    line = [*QUICK, "tests.emulator.trtexec.check", str(engine), "--culprits", str(hidden)]
    return subprocess.run(line, capture_output=True, check=False, env=environment()).returncode


CASES = [("8.6.1", "tactics", convolutions), ("10.13.3", "cache", products), ("11.4.0", "cache", products)]


@pytest.mark.slow
@pytest.mark.parametrize(("version", "mode", "make"), CASES, ids=[case[0] for case in CASES])
def test_from_a_bad_build_to_a_proved_pin(
    run: Run, tmp_path: Path, version: str, mode: str, make: Callable[[Path], None]
) -> None:
    model, pinned = tmp_path / "model.onnx", tmp_path / "pinned.json"
    make(model)
    bad = build(model, tmp_path / "bad", version)
    offered = plan(run, bad, pinned, "--accumulate", "fp32")
    changed = [row for row in offered["pinned"] if row["state"] == "changed" and row["in_engine"]]
    assert len(changed) > 4
    assert {(row["won"]["accumulator"], row["pinned"]["accumulator"]) for row in changed} == {("Half", "Float")}
    near = report(run, bad, "TF324")
    named = [row for row in changed if row["layer"] in near["layers"]]
    assert {row["layer"] for row in named} == set(near["layers"]), "a pinning cures each layer that the report names"
    assert all(row["cost_ms"] <= 0.05 * row["won"]["time_ms"] for row in named)
    planted = [named[0], next(row for row in reversed(changed) if row not in named)]
    hidden = tmp_path / "hidden.json"
    place = "layer" if mode == "tactics" else "key"
    hidden.write_text(json.dumps([[{place: row[place], "kernel": _half(row)}] for row in planted]))
    assert checked(tmp_path / "bad.engine", hidden) == 1

    out = tmp_path / "out"
    check = f"{shlex.join(QUICK)} tests.emulator.trtexec.check {{engine}} --culprits {shlex.quote(str(hidden))}"
    flags = () if version.startswith("11") else ("--builder-flags", "FP16")
    line = ("--bad", bad, "--good", "pin:accumulate=fp32", "--onnx", model, *flags, "--check", check)
    done = run("bisect", mode, *line, "--artifacts-dir", out, "--quiet", env=environment(version=version, luck="pair"))
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((out / "result.json").read_text())
    found = [[member.get("key") or member["item"] for member in members] for members in document["culprits"]]
    assert sorted(found) == sorted([row[place]] for row in planted)
    for members in document["culprits"]:
        assert members[0]["good"]["accumulator"] == "Float"
        assert members[0]["cost_ms"] == pytest.approx(members[0]["good"]["time_ms"] - members[0]["bad"]["time_ms"])
    assert "taking them from good costs" in done.stdout
    sets, items = len(planted), document["items"]
    # The search, and second builds of what decides: each set alone, and everything but the culprits.
    assert document["builds"] <= 2 + sets + sets * (math.ceil(math.log2(items)) + 1) + (sets + 1)

    expression = "|".join(f"^{re.escape(row['layer'])}$" for row in planted)
    kept = plan(run, bad, pinned, "--accumulate", "fp32", "--layers", expression)
    assert [row["layer"] for row in kept["pinned"] if row["state"] == "changed"] == [row["layer"] for row in planted]
    assert kept["cost_ms"] == pytest.approx(sum(row["cost_ms"] for row in planted), rel=1e-4)
    sources = rebuilt(run, tmp_path, model, version, mode)
    proof = run("pin", "--verify", pinned, *sources)
    assert proof.returncode == 0, proof.stdout + proof.stderr
    assert f"{len(kept['pinned'])} used, 0 not used, 0 unknown" in proof.stdout
    assert checked(tmp_path / "rebuilt.engine", hidden) == 0
    assert not set(report(run, sources[0], "TF324").get("layers", ())) & {row["layer"] for row in planted}


def report(run: Run, log: Path, code: str) -> dict[str, Any]:
    """Return the finding of a rule in a log; nothing where the rule does not speak."""
    done = run("report", log, "--format", "json", "--quiet")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return next((one for one in found if one["code"] == code), {})


def _half(row: dict[str, Any]) -> str:
    match = HALF.search(row["won"]["kernel"])
    assert match is not None
    return match[0]


def plan(run: Run, log: Path, pinned: Path, *conditions: str) -> dict[str, Any]:
    done = run("pin", log, *conditions, "-o", pinned, "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def rebuilt(run: Run, folder: Path, model: Path, version: str, mode: str, **scenario: Any) -> list[Path]:
    """Build with what was pinned; return what shows whether it was used."""
    if mode == "tactics":
        return [replayed(model, folder / "rebuilt", version, folder / "pinned.json")]
    line = ("cache", "apply", folder / "pinned.json", "--to", folder / "bad.cache", "-o", folder / "pinned.cache")
    done = run(*line, env=environment(version=version))
    assert done.returncode == 0, done.stderr
    log = build(model, folder / "rebuilt", version, str(folder / "pinned.cache"), luck="other", **scenario)
    export = ("cache", "export", folder / "rebuilt.cache", "-o", folder / "rebuilt.json")
    assert run(*export, env=environment(version=version)).returncode == 0
    return [log, folder / "rebuilt.json"]


@pytest.mark.slow
@pytest.mark.parametrize("version", ["10.13.3", "11.4.0"])
def test_a_forced_tactic_that_is_measured_again_is_named(run: Run, tmp_path: Path, version: str) -> None:
    model = tmp_path / "model.onnx"
    products(model)
    bad = build(model, tmp_path / "bad", version)
    document = plan(run, bad, tmp_path / "pinned.json", "--accumulate", "fp32")
    forced = next(row for row in document["pinned"] if row["state"] == "changed" and row["in_engine"])
    sources = rebuilt(run, tmp_path, model, version, "cache", blind=[forced["key"]])
    for given in (sources, sources[:1], sources[1:]):
        done = run("pin", "--verify", tmp_path / "pinned.json", *given)
        assert done.returncode == 1, done.stdout
        assert "1 not used" in done.stdout
        assert f"not used: {forced['layer']} {forced['key']}: " in done.stdout
        assert f"instead of tactic {forced['pinned']['tactic']}" in done.stdout


def test_a_build_without_the_replay_is_told_from_one_with_it(run: Run, tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    convolutions(model)
    bad = build(model, tmp_path / "bad", "8.6.1")
    document = plan(run, bad, tmp_path / "pinned.json", "--accumulate", "fp32")
    changed = [row["layer"] for row in document["pinned"] if row["state"] == "changed"]
    done = run("pin", "--verify", tmp_path / "pinned.json", bad, "--json")
    assert done.returncode == 1
    items = json.loads(done.stdout)["items"]
    assert [one["item"] for one in items if one["use"] == "not used"] == changed
    assert all(one["at"].startswith(str(bad)) for one in items if one["use"] != "unknown")


@pytest.mark.slow
def test_pinned_rebuilds_are_equal_and_near_ties_cover_what_noise_flips(run: Run, tmp_path: Path) -> None:
    def rebuild(number: int, *more: str) -> dict[str, Any]:
        line = ["--layers", "40", "--seed", "7", "--version", "8.6.1", "--no-foreign", "--noise", "0.002", *more]
        replay = tmp_path / f"{number}.json"
        log = ["--luck", str(number), "--save-replay", str(replay), "--log", str(tmp_path / f"{number}.log")]
        assert trtexec_cli.main([*line, *log]) == 0
        layers: dict[str, Any] = json.loads(replay.read_text())["replay"]
        return layers

    first = rebuild(0, "--verbose")
    document = plan(run, tmp_path / "0.log", tmp_path / "pinned.json")
    pinned = {row["layer"] for row in document["pinned"]}
    ties = {row["layer"] for row in document["pinned"] if row["near_tie"]}
    free = [rebuild(number) for number in range(1, 31)]
    differing = [build for build in free if build != first]
    assert len(differing) > 20
    for build in differing:
        flipped = {name for name, entry in build.items() if name in first and entry != first[name]}
        assert flipped & ties, "some near tie explains each of them"
        same_formats = {name for name in flipped if sides(build[name]) == sides(first[name])}
        assert same_formats & pinned <= ties
    held = [rebuild(100 + number, "--replay", str(tmp_path / "pinned.json")) for number in range(30)]
    assert all({name: build[name] for name in pinned} == {name: first[name] for name in pinned} for build in held)


OTHER_NETWORK = layer_log().replace("conv", "another")
SYMBOLIC = layer_log().replace("(8,4,2,1)", "((* E0 8),4,2,1)")
RTX = LOGS / "rtx-convnet.log"


def test_a_log_that_shows_nothing_proves_nothing(run: Run, tmp_path: Path) -> None:
    logs = {"same": layer_log(), "other": OTHER_NETWORK, "silent": f"{V}Original: 1 layers\n", "rtx": RTX.read_text()}
    for name, text in logs.items():
        (tmp_path / name).write_text(text)
    pinned = tmp_path / "pinned.json"
    assert run("pin", tmp_path / "same", "-o", pinned).returncode == 0
    assert run("pin", "--verify", pinned, tmp_path / "same").returncode == 0
    for name in ("other", "silent", "rtx"):
        done = run("pin", "--verify", pinned, tmp_path / name)
        assert done.returncode == 1
        assert "0 used, 0 not used, 1 unknown\nnothing could be shown: " in done.stdout
        document = json.loads(run("pin", "--verify", pinned, tmp_path / name, "--json").stdout)
        assert document["without_proof"] in done.stdout


def test_most_layers_of_another_network_are_no_proof(run: Run, tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.log", tmp_path / "part.log"
    whole.write_text(_of_layers(["conv", "b", "c"]))
    part.write_text(layer_log())
    pinned = tmp_path / "pinned.json"
    assert run("pin", whole, "-o", pinned).returncode == 0
    done = run("pin", "--verify", pinned, part)
    assert "of 3 pinned, 1 used, 0 not used, 2 unknown\nthis seems to be another network" in done.stdout
    assert done.returncode == 1


def _of_layers(names: list[str]) -> str:
    """Return the log of one build of several layers."""
    every = [layer_log().replace("conv", name).splitlines(keepends=True) for name in names]
    return (
        "".join(line for lines in every for line in lines[:-2]) + every[0][-2] + "".join(lines[-1] for lines in every)
    )


@pytest.mark.parametrize(
    ("text", "options", "what"),
    [
        (RTX.read_text(), (), "TensorRT-RTX has no algorithm selector"),
        (RTX.read_text(), ("--as", "cache"), "TensorRT-RTX times no tactics"),
        (layer_log().replace(V, f"{V}[MemUsageChange] x\n{V}TensorRT version: 11.1.0\n{V}", 1), (), "selector"),
        (SYMBOLIC, (), "nothing that can be pinned: its strides are symbolic"),
        (layer_log(), ("--accumulate", "fp32", "--layers", "typo"), "'typo' matches no layer"),
    ],
    ids=["rtx", "rtx keys", "11", "no layer", "no such layer"],
)
def test_a_pin_of_nothing_is_refused(run: Run, tmp_path: Path, text: str, options: tuple[str, ...], what: str) -> None:
    log, pinned = tmp_path / "build.log", tmp_path / "pinned.json"
    log.write_text(text)
    done = run("pin", log, *options, "-o", pinned)
    assert done.returncode == 2, done.stdout
    assert what in done.stderr
    assert not pinned.exists()


def test_a_replay_of_nothing_is_not_verified(run: Run, tmp_path: Path) -> None:
    empty, log = tmp_path / "empty.json", tmp_path / "build.log"
    empty.write_text('{"replay": {}, "polygraphy_class": "TacticReplayData"}')
    log.write_text(layer_log())
    done = run("pin", "--verify", empty, log)
    assert (done.returncode, "pins nothing" in done.stderr) == (2, True)


@pytest.mark.slow
def test_what_pin_and_convert_write_of_a_log_its_own_lint_accepts(run: Run, tmp_path: Path) -> None:
    """Of every log of ours: a file is written only where `replay lint` finds no error in it."""
    written = 0
    for log in sorted(LOGS.glob("*.log")):
        for command in (("pin", log, "--as", "replay"), ("replay", "convert", log)):
            out = tmp_path / "out.json"
            done = run(*command, "-o", out, "--quiet")
            assert (done.returncode == 0) is out.exists()
            if out.exists():
                lint = run("replay", "lint", out, "--log", log)
                assert lint.returncode == 0, lint.stdout
                out.unlink()
                written += 1
    assert written


def test_names_are_the_logs_own(run: Run, tmp_path: Path) -> None:
    """Blanks, combining marks and letters of other scripts stay: a replay with another name has no effect."""
    names = ["conv  two", "cafe\u0301", "caf\u00e9", "\ufb01n", "\u5377\u7a4d", "a\u00a0b", "/x/conv (1)", "PWN(a, b)"]
    log, pinned = tmp_path / "build.log", tmp_path / "pinned.json"
    log.write_text(_of_layers(names), encoding="utf-8")
    done = run("pin", log, "-o", pinned, "--json")
    assert [row["layer"] for row in json.loads(done.stdout)["pinned"]] == names
    assert list(json.loads(pinned.read_text(encoding="utf-8"))["replay"]) == names
    items = json.loads(run("pin", "--verify", pinned, log, "--json").stdout)["items"]
    assert [(item["item"], item["use"]) for item in items] == [(name, "used") for name in names]


def sides(entry: dict[str, Any]) -> tuple[Any, Any]:
    return entry["inputs"], entry["outputs"]
