"""The emulated trtexec: what it says, writes and refuses, and how it fails on demand."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.emulator.engine.files import BadFile, Recorded, culprits_of, read_cache, read_engine, read_replay
from tests.support.for_each import for_each
from tests.support.repository import ROOT
from tests.unit.emulator.trtexec.builds import NET, build

if TYPE_CHECKING:
    from pathlib import Path


def replay_of(folder: Path, name: str, *options: str) -> dict[str, Recorded]:
    path = folder / name
    build(folder, "--save-replay", str(path), *options)
    return read_replay(path)


def engine_of(folder: Path, *options: str) -> dict[str, str]:
    """Return the algorithm of every layer."""
    path = folder / "engine"
    build(folder, "--engine", str(path), *options)
    return {layer["name"]: layer["algorithm"] for layer in read_engine(path.read_bytes())["layers"]}


# ---- replays -------------------------------------------------------------------------------------------------------


def test_builds_choose_differently_and_a_seed_repeats_them(tmp_path: Path) -> None:
    assert engine_of(tmp_path, "--luck", "a") == engine_of(tmp_path, "--luck", "a")
    assert engine_of(tmp_path, "--luck", "a") != engine_of(tmp_path, "--luck", "b")
    assert engine_of(tmp_path) != engine_of(tmp_path)


@pytest.mark.parametrize("form", ["F1", "F2", "F3", "F4", "F5"])
def test_a_replay_of_any_form_is_honoured(tmp_path: Path, form: str) -> None:
    path = tmp_path / "replay.json"
    wanted = engine_of(tmp_path, "--luck", "a", "--save-replay", str(path), "--form", form)
    assert engine_of(tmp_path, "--luck", "b", "--replay", str(path)) == wanted
    algorithms = [entry.tactic for entry in read_replay(path).values()]
    assert algorithms == [entry.tactic for entry in replay_of(tmp_path, "again.json", "--luck", "a").values()]
    assert any(tactic < 0 for tactic in algorithms)


def test_the_runner_up_differs_in_every_layer_and_in_no_format(tmp_path: Path) -> None:
    options = "--luck", "a", "--no-foreign"
    best, second = replay_of(tmp_path, "a", *options), replay_of(tmp_path, "b", *options, "--runner-up")
    layers = [name for name in best if not name.startswith("Reformatting")]
    assert len(layers) == 20
    assert all(best[name] != second[name] and best[name].inputs == second[name].inputs for name in layers)


def test_a_tactic_that_is_not_offered_ends_the_build_in_polygraphys_words(tmp_path: Path) -> None:
    path = tmp_path / "replay.json"
    replay_of(tmp_path, "replay.json", "--luck", "a", "--no-foreign")
    document = json.loads(path.read_text())
    name = "node_conv2d + node_relu"
    document["replay"][name]["tactic"] ^= 1
    path.write_text(json.dumps(document))
    log = build(tmp_path, "--no-foreign", "--replay", str(path), status=1)
    words = (
        f"[!] Layer: {name} | Tactic in replay was not provided by TensorRT as a choice for this layer.\n    Has the"
    )
    assert words in log
    assert f"Tactic: {document['replay'][name]['tactic']}) | Inputs: (TensorInfo(DataType." in log
    assert "Error[10]: IBuilder::buildSerializedNetwork: Error Code 10: Internal Error (Could not find any " in log
    assert log.splitlines()[-1].startswith(
        "&&&& FAILED TensorRT.trtexec [TensorRT v101601] [b11] # trtexec --layers 20"
    )
    said = build(tmp_path, "--no-foreign", "--replay", str(path), "--version", "8.6.1", status=1)
    assert "[E] Error[10]: [optimizer.cpp::computeCosts::3869] Error Code 10: " in said
    said = build(tmp_path, "--no-foreign", "--replay", str(path), "--dialect", "polygraphy", status=1)
    assert said.endswith("[!] Invalid Engine. Please ensure the engine was built correctly\n")


def test_a_layer_that_the_replay_lacks_is_said_and_chosen_freely(tmp_path: Path) -> None:
    path = tmp_path / "replay.json"
    wanted = replay_of(tmp_path, "replay.json", "--luck", "a")
    document = json.loads(path.read_text())
    left_out = next(iter(wanted))
    del document["replay"][left_out]
    path.write_text(json.dumps(document))
    log = build(tmp_path, "--replay", str(path))
    assert log.count(f"[W] Layer: {left_out} was not found in the tactic replay. Falling back to default tactics.") == 1
    assert log.count("[W] Has the network changed since the tactic replay file was generated?") == 1


def test_tensorrt_11_has_no_selectors(tmp_path: Path) -> None:
    log = build(tmp_path, "--version", "11.1.0", "--save-replay", str(tmp_path / "replay.json"), status=1)
    assert "[!] Algorithm selectors (TacticRecorder/TacticReplayer) is not available on TensorRT version 11.1.0." in log
    assert not (tmp_path / "replay.json").exists()


def test_tactics_of_a_coupled_run_do_not_mix(tmp_path: Path) -> None:
    options = "--luck", "a", "--no-foreign", "--coupled", "5-8"
    best, second = replay_of(tmp_path, "a.json", *options), replay_of(tmp_path, "b.json", *options, "--runner-up")
    run = [
        name
        for name in best
        if name in second
        and best[name].inputs[0].dtype + str(best[name].inputs[0].strides)
        != second[name].inputs[0].dtype + str(second[name].inputs[0].strides)
    ]
    convolutions = [name for name in run if not name.startswith("Reformatting")]
    assert len(convolutions) >= 4
    document = json.loads((tmp_path / "a.json").read_text())
    bad = json.loads((tmp_path / "b.json").read_text())
    document["replay"][convolutions[1]] = bad["replay"][convolutions[1]]
    (tmp_path / "mix.json").write_text(json.dumps(document))
    build(tmp_path, *options, "--replay", str(tmp_path / "mix.json"), status=1)


# ---- caches --------------------------------------------------------------------------------------------------------


def test_a_cache_is_read_completed_and_pins_the_next_build(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    first = build(tmp_path, "--cache", str(path), "--luck", "a", "--engine", str(tmp_path / "one"))
    assert f"[W] [TRT] Could not read cache from: {path}. A new cache will be generated and written." in first
    again = build(tmp_path, "--cache", str(path), "--error-on-miss", "--verbose", "--engine", str(tmp_path / "two"))
    assert again.count("got cached result: ") > 20
    engines = [read_engine((tmp_path / name).read_bytes()) for name in ("one", "two")]
    assert engines[0]["keys"] == engines[1]["keys"]
    other = build(tmp_path, "--cache", str(path), "--error-on-miss", net=("--layers", "21", "--seed", "4"), status=1)
    assert "Timing cache miss for node" in other
    with pytest.raises(BadFile, match="Magic tag does not match"):
        read_cache(path.read_bytes(), (10, 7, 0))


# ---- the program ---------------------------------------------------------------------------------------------------


def run(*words: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-S", "-m", *words]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False)


def test_errors_go_to_stderr_and_the_rest_to_stdout(tmp_path: Path) -> None:
    nothing = tmp_path / "none.json"
    nothing.write_text("{}")
    done = run("tests.emulator.trtexec.cli", *NET, "--replay", str(nothing))
    assert done.returncode == 1
    assert [line[:12] for line in done.stdout.splitlines()] == ["&&&& RUNNING", "&&&& FAILED "]
    assert "Provided JSON cannot be decoded into a TacticReplayData." in done.stderr
    assert "[E] Engine set up failed" in done.stderr


@pytest.mark.slow
@for_each(
    ("fault", "status"),
    [(("--crash",), -11), (("--crash", "KILL"), -9), (("--exit", "3"), 3), (("--chance", "0", "--crash"), 0)],
)
def test_it_dies_on_demand(fault: tuple[str, ...], status: int) -> None:
    assert run("tests.emulator.trtexec.cli", *NET, *fault).returncode == status


@pytest.mark.slow
def test_it_hangs_and_fills_its_output_on_demand() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run("tests.emulator.trtexec.cli", *NET, "--hang", seconds=0.5)
    assert len(run("tests.emulator.trtexec.cli", *NET, "--fill", "3000000").stdout) > 3000000


def test_faults_happen_when_a_set_is_there(tmp_path: Path) -> None:
    path, here, there = tmp_path / "replay.json", tmp_path / "here", tmp_path / "there"
    names = list(replay_of(tmp_path, "replay.json", "--luck", "a"))
    here.write_text(json.dumps(culprits_of(path, names[:2])))
    there.write_text(json.dumps([[{"layer": names[0], "algorithm": "another"}]]))
    words = "tests.emulator.trtexec.cli", *NET, "--replay", str(path), "--crash", "ABRT", "--when"
    assert run(*words, str(here)).returncode == -6
    assert run(*words, str(there)).returncode == 0
    build(tmp_path, "--replay", str(path), "--refuse", str(here), status=1)
