"""The levers that build with the installed TensorRT, end to end: the emulator's module, and TensorRT-RTX for real."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.emulator.engine.files import culprits_of, read_engine, read_replay
from tests.emulator.tensorrt.python_path import environment
from tests.emulator.trtexec import cli as trtexec_cli
from tests.emulator.trtexec.bench import QUICK
from tests.support.repository import ROOT
from tests.support.zoo.net import Net

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bisect runs on Linux only")

CONVNET = ROOT / "testdata" / "models" / "convnet.onnx"
TRANSFORMER = ROOT / "testdata" / "models" / "transformer.onnx"
HALF = ("--builder-flags", "FP16")

RECORD = """
import sys
import tensorrt as trt
logger = trt.Logger(trt.Logger.VERBOSE)
builder = trt.Builder(logger)
network = builder.create_network(0)
assert trt.OnnxParser(network, logger).parse_from_file(sys.argv[1])
config = builder.create_builder_config()
config.set_flag(trt.BuilderFlag.FP16)
config.set_flag(trt.BuilderFlag.EDITABLE_TIMING_CACHE)
cache = config.create_timing_cache(b"")
config.set_timing_cache(cache, True)
assert builder.build_serialized_network(network, config) is not None
open(sys.argv[2], "wb").write(bytes(cache.serialize()))
"""


def result(out: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((out / "result.json").read_text())
    return document


def found(out: Path) -> list[set[str]]:
    return [{member["item"] for member in members} for members in result(out)["culprits"]]


def check(hidden: Path) -> tuple[str, str]:
    return (
        "--check",
        f"{shlex.join(QUICK)} tests.emulator.trtexec.check {{engine}} --culprits {shlex.quote(str(hidden))}",
    )


# ---- tactics -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def replays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the replays of a good and a bad build, in an old and in the present form."""
    folder = tmp_path_factory.mktemp("replays")
    for form in ("F1", "F5"):
        for side, more in (("good", []), ("bad", ["--runner-up"])):
            line = ["--onnx", str(CONVNET), "--fp16", "--luck", "pair", "--form", form, *more]
            name = str(folder / f"{side}-{form}.json")
            assert trtexec_cli.main([*line, "--save-replay", name, "--log", f"{name}.log"]) == 0
    return folder


def differing(replays: Path) -> list[str]:
    good, bad = (read_replay(replays / f"{side}-F5.json") for side in ("good", "bad"))
    return [name for name in bad if name in good and good[name] != bad[name]]


def tactics(run: Run, replays: Path, out: Path, *more: str, form: str = "F5", **scenario: Any) -> Any:
    scenario = {"version": "10.13.3", "luck": "pair", **scenario}
    sides = ("--good", replays / f"good-{form}.json", "--bad", replays / f"bad-{form}.json")
    line = ("bisect", "tactics", *sides, "--onnx", CONVNET, *HALF, "--artifacts-dir", out, "--quiet", *more)
    return run(*line, env=environment(**scenario))


@pytest.mark.slow
@pytest.mark.parametrize(("version", "form"), [("8.6.1", "F1"), ("10.13.3", "F5")])
def test_tactics_are_found_by_builds_of_ours(run: Run, replays: Path, tmp_path: Path, version: str, form: str) -> None:
    culprit = differing(replays)[4]
    hidden = tmp_path / "hidden.json"
    hidden.write_text(json.dumps(culprits_of(replays / "bad-F5.json", [culprit])))
    out = tmp_path / "out"
    done = tactics(run, replays, out, *check(hidden), "--find", "first", form=form, version=version)
    assert done.returncode == 0, done.stdout + done.stderr
    assert found(out) == [{culprit}]
    reports = [json.loads(path.read_text()) for path in out.glob("probes/*/build-report.json")]
    assert len(reports) == result(out)["builds"]
    assert all(report["built"] and report["version"] == version for report in reports)
    assert not any(report["lever"]["differs"] for report in reports)


@pytest.mark.slow
def test_a_tactic_that_is_not_offered_is_unresolved_and_the_offers_are_kept(
    run: Run, replays: Path, tmp_path: Path
) -> None:
    layer = differing(replays)[2]
    document = json.loads((replays / "bad-F5.json").read_text())
    document["replay"][layer]["tactic"] = 12345
    (tmp_path / "bad-F5.json").write_text(json.dumps(document))
    (tmp_path / "good-F5.json").write_bytes((replays / "good-F5.json").read_bytes())
    out = tmp_path / "out"
    done = tactics(run, tmp_path, out, "--check", "true {engine}", "--max-builds", "2")
    assert done.returncode == 1
    bad = result(out)["probes"][1]
    assert bad["verdict"] == "unresolved"
    assert f"does not offer tactic 0x{12345:016x}" in bad["reason"]
    assert layer in bad["reason"]
    kept = json.loads((out / bad["folder"] / "build-report.json").read_text())["lever"]["details"][layer]
    assert kept["wanted"]["tactic"] == f"0x{12345:016x}"
    assert len(kept["offered"]) > 1
    assert all(offer["inputs"] for offer in kept["offered"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("crash:SEGV", "SIGSEGV"),
        ("crash:KILL", "SIGKILL"),
        ("raise:out of luck", "out of luck"),
        ("hang", "timed out"),
    ],
)
def test_a_build_that_dies_is_unresolved_with_its_last_lines(
    run: Run, replays: Path, tmp_path: Path, fault: str, reason: str
) -> None:
    out = tmp_path / "out"
    patience = "10" if fault == "hang" else "120"
    line = ("--check", "true {engine}", "--max-builds", "1", "--timeout", patience)
    assert tactics(run, replays, out, *line, faults=[fault]).returncode == 1
    probe = result(out)["probes"][0]
    assert probe["verdict"] == "unresolved"
    assert reason in probe["reason"]
    last = (out / probe["folder"] / "failure.txt").read_bytes().splitlines()
    log = (out / probe["folder"] / "build.log").read_bytes().splitlines()
    assert last == log[-20:]
    assert len(last) == 20


@pytest.mark.slow
def test_what_a_version_lacks_is_said_and_nothing_is_written(
    refuse: Callable[..., str], replays: Path, tmp_path: Path
) -> None:
    sides = ("--good", replays / "good-F5.json", "--bad", replays / "bad-F5.json", "--onnx", CONVNET)
    out = tmp_path / "out"
    for lever, version, said in (
        ("tactics", "11.4.0", "TensorRT 11.4.0: has no algorithm selector. Use `bisect cache`."),
        ("route", "11.0.0", "TensorRT 11.0.0: has no build routes. Use `bisect cache` or `bisect outputs`."),
        ("cache", "10.7.0", "TensorRT 10.7.0: has no editable timing cache. Use `bisect tactics`."),
    ):
        given = sides if lever != "route" else (CONVNET,)
        text = refuse("bisect", lever, *given, "--artifacts-dir", out, env=environment(version=version))
        assert text == said
        assert not out.exists()


# ---- timing caches -------------------------------------------------------------------------------------------------


def record(folder: Path, name: str, **scenario: Any) -> None:
    line = [sys.executable, "-c", RECORD, str(TRANSFORMER), str(folder / f"{name}.cache")]
    with (folder / f"{name}.log").open("wb") as log:
        subprocess.run(line, env=environment(version="10.13.3", luck="pair", **scenario), stdout=log, stderr=log)  # noqa: PLW1510 - the log is looked at
    assert (folder / f"{name}.cache").exists(), (folder / f"{name}.log").read_text()[-2000:]


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the logs and the caches of a good and a bad build."""
    folder = tmp_path_factory.mktemp("caches")
    record(folder, "good")
    record(folder, "bad", runner_up=True)
    return folder


def keys(run: Run, folder: Path, name: str) -> dict[str, str]:
    done = run("cache", "export", folder / f"{name}.log", "-o", folder / f"{name}.json", "--quiet")
    assert done.returncode == 0, done.stderr
    rows = json.loads((folder / f"{name}.json").read_text())["keys"]
    return {row["key"]: f"0x{int(row['selected'], 16):x}" for row in rows}


def cache(run: Run, folder: Path, out: Path, *more: str, ending: str = "log", **scenario: Any) -> Any:
    scenario = {"version": "10.13.3", "luck": "pair", **scenario}
    sides = ("--good", folder / f"good.{ending}", "--bad", folder / f"bad.{ending}")
    line = ("bisect", "cache", *sides, "--onnx", TRANSFORMER, *HALF, "--artifacts-dir", out, *more)
    return run(*line, env=environment(**scenario))


def hide(run: Run, folder: Path, hidden: Path, at: int) -> str:
    """Make the engines bad that have one key's tactic of the bad build; return the key."""
    good, bad = keys(run, folder, "good"), keys(run, folder, "bad")
    key = [key for key in good if key in bad and good[key] != bad[key]][at]
    hidden.write_text(json.dumps([[{"key": key, "tactic": bad[key]}]]))
    return key


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["json", "cache"])
def test_keys_are_found_by_builds_of_ours(run: Run, caches: Path, tmp_path: Path, ending: str) -> None:
    key = hide(run, caches, tmp_path / "hidden.json", 1)
    good, bad = (json.loads((caches / f"{side}.json").read_text()) for side in ("good", "bad"))
    (tmp_path / "good.json").write_text(json.dumps(good))
    (tmp_path / "bad.json").write_text(json.dumps({**bad, "keys": [*bad["keys"][:4], *good["keys"][4:]]}))
    base = tmp_path / "good.cache"
    base.write_bytes((caches / "good.cache").read_bytes())
    line = ("cache", "apply", tmp_path / "bad.json", "--to", base, "-o", tmp_path / "bad.cache")
    assert run(*line, env=environment(version="10.13.3")).returncode == 0
    out = tmp_path / "out"
    done = cache(run, tmp_path, out, *check(tmp_path / "hidden.json"), "--find", "first", "--quiet", ending=ending)
    assert done.returncode == 0, done.stdout + done.stderr
    (culprits,) = result(out)["culprits"]
    assert [culprit["key"] for culprit in culprits] == [key]
    assert (ending != "cache") == culprits[0]["item"].startswith("/layers.")
    fixed = {row["key"]: row["selected"] for row in json.loads((out / "fixed" / "cache.json").read_text())["keys"]}
    assert int(fixed[key], 16) == int(keys(run, caches, "good")[key], 16)


@pytest.mark.slow
def test_a_key_that_drifts_is_pinned_where_it_comes_up(run: Run, caches: Path, tmp_path: Path) -> None:
    good = keys(run, caches, "good")
    moved, cause = list(good)[12], list(good)[9]
    (tmp_path / "good.log").write_bytes((caches / "good.log").read_bytes())
    record(tmp_path, "bad", runner_up=True, drift={moved: cause})
    keys(run, tmp_path, "good")
    bad = keys(run, tmp_path, "bad")
    assert bad.keys() - good.keys()
    ours, theirs = (json.loads((tmp_path / f"{side}.json").read_text()) for side in ("good", "bad"))
    same = {row["key"]: row for row in ours["keys"][14:]}
    theirs["keys"] = [same.get(row["key"], row) for row in theirs["keys"]]
    (tmp_path / "bad.json").write_text(json.dumps(theirs))
    (tmp_path / "hidden.json").write_text(json.dumps([[{"key": cause, "tactic": bad[cause]}]]))
    out = tmp_path / "out"
    line = (*check(tmp_path / "hidden.json"), "--find", "first")
    done = cache(run, tmp_path, out, *line, ending="json", drift={moved: cause})
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"only bad has {', '.join(bad.keys() - good.keys())}" in done.stderr
    assert [culprit["key"] for culprit in result(out)["culprits"][0]] == [cause]


@pytest.mark.slow
def test_a_key_that_is_timed_anew_behind_the_caches_back_is_named(run: Run, caches: Path, tmp_path: Path) -> None:
    blind = list(keys(run, caches, "bad"))[9]
    out = tmp_path / "out"
    done = cache(run, caches, out, "--check", "true {engine}", "--max-builds", "2", "--quiet", blind=[blind])
    assert done.returncode == 1
    told = [probe["reason"] for probe in result(out)["probes"] if probe["verdict"] == "unresolved"]
    assert any(f"key {blind} changed from tactic" in reason for reason in told), told


@pytest.mark.slow
def test_a_key_that_the_cache_misses_is_named_and_no_verdict(run: Run, caches: Path, tmp_path: Path) -> None:
    good, bad = keys(run, caches, "good"), keys(run, caches, "bad")
    moved, cause = list(good)[12], list(good)[9]
    out = tmp_path / "out"
    line = ("--check", "true {engine}", "--max-builds", "2", "--build-failure", "bad", "--quiet")
    assert cache(run, caches, out, *line, ending="cache", drift={moved: cause}).returncode == 1
    first, missed = result(out)["probes"]
    assert (first["verdict"], missed["verdict"]) == ("good", "unresolved")
    named = re.fullmatch(
        r"build: the network needs key (0x[0-9a-f]{32}), which the timing cache does not have; see failure\.txt",
        missed["reason"],
    )
    assert named is not None, missed["reason"]
    assert named[1] not in good.keys() | bad.keys()
    folder = out / missed["folder"]
    assert not json.loads((folder / "build-report.json").read_text())["built"]
    log = (folder / "build.log").read_text()
    assert "Timing cache miss for node" in log
    assert log.count(f"key {named[1]}") >= 2
    assert named[1] in (folder / "failure.txt").read_text()


@pytest.mark.slow
def test_a_crash_while_a_binary_side_is_read_is_one_sentence(
    refuse: Callable[..., str], caches: Path, tmp_path: Path
) -> None:
    sides = ("--good", caches / "good.cache", "--bad", caches / "bad.cache", "--onnx", TRANSFORMER)
    out = tmp_path / "out"
    line = ("bisect", "cache", *sides, "--check", "true {engine}", "--artifacts-dir", out)
    said = refuse(*line, env=environment(version="10.13.3", reading=["crash:SEGV"]))
    assert said.startswith(f"{caches / 'good.cache'}: the process in which TensorRT read it ended")
    assert "(died by SIGSEGV)" in said
    assert not out.exists()


@pytest.mark.slow
def test_the_flags_of_a_replayed_cache_are_set(run: Run, caches: Path, tmp_path: Path) -> None:
    keys(run, caches, "good")
    keys(run, caches, "bad")
    kept = f"cp {{engine}} {shlex.quote(str(tmp_path))}/$(basename {{dir}})"
    for ending in ("json", "cache"):
        out = tmp_path / ending
        assert cache(run, caches, out, "--check", kept, "--max-builds", "1", "--quiet", ending=ending).returncode == 1
        engine = read_engine((tmp_path / Path(result(out)["probes"][0]["folder"]).name).read_bytes())
        wanted = {"EDITABLE_TIMING_CACHE", "DISABLE_COMPILATION_CACHE", "ERROR_ON_TIMING_CACHE_MISS", "FP16"}
        assert wanted <= set(engine["flags"])


@pytest.mark.slow
def test_a_key_that_the_network_does_not_have_is_named(run: Run, caches: Path, tmp_path: Path) -> None:
    keys(run, caches, "good")
    keys(run, caches, "bad")
    foreign = f"0x{77:032x}"
    for side in ("good", "bad"):
        document = json.loads((caches / f"{side}.json").read_text())
        document["keys"].append({**document["keys"][0], "key": foreign})
        (tmp_path / f"{side}.json").write_text(json.dumps(document))
    out = tmp_path / "out"
    line = ("--check", "true {engine}", "--max-builds", "1", "--quiet")
    assert cache(run, tmp_path, out, *line, ending="json").returncode == 1
    assert f"key {foreign} is not in the network's timing cache" in result(out)["probes"][0]["reason"]


@pytest.mark.slow
def test_optimisation_level_0_and_foreign_versions_are_refused(
    refuse: Callable[..., str], run: Run, caches: Path, tmp_path: Path
) -> None:
    keys(run, caches, "good")
    keys(run, caches, "bad")
    line = ("bisect", "cache", "--good", caches / "good.json", "--onnx", TRANSFORMER, "--artifacts-dir", tmp_path / "o")
    env = environment(version="10.13.3")
    said = refuse(*line, "--bad", caches / "bad.json", "--optimization-level", "0", env=env)
    assert "ignores timing caches" in said
    document = json.loads((caches / "bad.json").read_text())
    (tmp_path / "bad.json").write_text(json.dumps({**document, "tensorrt_version": "10.9.0"}))
    said = refuse(*line, "--bad", tmp_path / "bad.json", env=env)
    assert "was made by TensorRT 10.9.0, and 10.13.3 is installed" in said
    assert not (tmp_path / "o").exists()


# ---- build routes --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "hidden", "answer"),
    [
        ((), {"not routed": "-copy_ppg=off"}, (6, "copy_ppg", "-copy_ppg=off")),
        (
            ("--good=-kgen:tiling=off", "--bad=-copy_ppg=off -reshape_ppg=off"),
            {"route": "-reshape_ppg=off"},
            (3, "reshape_ppg", "-copy_ppg=off"),
        ),
    ],
    ids=["which repairs", "which breaks"],
)
def test_knobs_are_found(
    run: Run, tmp_path: Path, line: tuple[str, ...], hidden: dict[str, str], answer: tuple[int, str, str]
) -> None:
    (tmp_path / "hidden.json").write_text(json.dumps([[hidden]]))
    out = tmp_path / "out"
    command = ("bisect", "route", CONVNET, *line, *check(tmp_path / "hidden.json"), "--artifacts-dir", out, "--quiet")
    done = run(*command, "--find", "first", env=environment(version="11.4.0", luck="a"))
    assert done.returncode == 0, done.stdout + done.stderr
    items, knob, fixed = answer
    assert found(out) == [{knob}]
    assert result(out)["items"] == items
    assert (out / "fixed" / "route.txt").read_text().strip().split()[-1] == fixed


# ---- fusion breakers -----------------------------------------------------------------------------------------------

NOT_FUSED = """
import json, subprocess, sys
line = [sys.executable, "-m", "trtforensics", "parse", sys.argv[1], "--json"]
build = json.loads(subprocess.run(line, check=True, capture_output=True).stdout)["builds"][0]
sys.exit(any({"/conv2", "/relu2"} <= set(layer["onnx_nodes"]) for layer in build["engine_layers"]))
"""


NOW_AND_THEN = """
import json, pathlib, subprocess, sys
here = pathlib.Path(sys.argv[0]).parent
counter = here / "count"
number = int(counter.read_text()) + 1 if counter.exists() else 1
counter.write_text(str(number))
job = {"module": "tensorrt_rtx", "model": str(here / "model.onnx"), "report": sys.argv[1], "compute_capability": "SM89"}
pathlib.Path("job.json").write_text(json.dumps({**job, "outputs": [] if number % 2 else [sys.argv[2]]}))
sys.exit(subprocess.run([sys.executable, "-m", "trtforensics.trt.build", "job.json"]).returncode)
"""


def four_convolutions(path: Path) -> str:
    """Write a net of four convolutions with their activations; return the tensor between the third pair."""
    import onnx  # noqa: PLC0415 - heavy

    net = Net()
    tensor = "x"
    for number in range(4):
        weight = net.weight(f"w{number}", 8, 8, 3, 3)
        tensor = net.node("Conv", f"/conv{number}", [tensor, weight], pads=[1, 1, 1, 1])
        tensor = net.node("Relu", f"/relu{number}", [tensor])
    onnx.save(net.model(tensor, {"x": (1, 8, 16, 16)}, (1, 8, 16, 16)), path)
    return str(next(node.output[0] for node in onnx.load(path).graph.node if node.name == "/conv2"))


def not_fused(folder: Path) -> str:
    """Return a check that passes where the engine layers of the build log keep the third pair apart."""
    (folder / "check.py").write_text(NOT_FUSED)
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(folder / 'check.py'))} {{log}}"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("tensorrt_rtx") is None, reason="tensorrt_rtx is not installed")
@pytest.mark.rtx
def test_collect_sorts_real_builds_by_the_layers_of_their_logs(run: Run, tmp_path: Path) -> None:
    between = four_convolutions(tmp_path / "model.onnx")
    (tmp_path / "build.py").write_text(NOW_AND_THEN)
    build = f"{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / 'build.py'))} {{items}} {between}"
    out = tmp_path / "out"
    line = ("collect", "--until", "3", "--build", build, "--check", not_fused(tmp_path), "--artifacts-dir", out)
    done = run(*line, "--quiet")
    assert done.returncode == 0, done.stdout + done.stderr
    sorted_builds = result(out)
    assert [len(sorted_builds[side]) for side in ("good", "bad", "unresolved")] == [1, 2, 0]
    for side, is_fused in (("good", False), ("bad", True)):
        for name in sorted_builds[side]:
            text = (out / "probes" / name / "build.log").read_text()
            layers = [set(re.findall(r"\[ONNX Layer: (\S+?)\]", row)) for row in text.splitlines() if "Name: " in row]
            assert any({"/conv2", "/relu2"} <= nodes for nodes in layers) == is_fused


@pytest.mark.slow
@pytest.mark.skipif(find_spec("tensorrt_rtx") is None, reason="tensorrt_rtx is not installed")
@pytest.mark.rtx
def test_the_fewest_outputs_that_break_a_fusion_are_found_by_real_builds(run: Run, tmp_path: Path) -> None:
    between = four_convolutions(tmp_path / "model.onnx")
    out = tmp_path / "out"
    command = not_fused(tmp_path)
    line = ("bisect", "outputs", tmp_path / "model.onnx", "--builder", "tensorrt_rtx", "--check", command)
    done = run(*line, "--artifacts-dir", out, "--quiet")
    assert done.returncode == 0, done.stdout + done.stderr
    assert found(out) == [{between}]
    assert (out / "fixed" / "outputs.txt").read_text() == f"{between}\n"
    assert (out / "fixed" / "trt-outputs.txt").read_text().split() == ["y", between]
    marked = [path.read_text().split() for path in out.glob("probes/*/outputs.txt")]
    assert max(map(len, marked)) < result(out)["items"]
