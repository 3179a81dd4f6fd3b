"""The emulator as a program: what it says, writes and refuses, and what the check makes of its engines."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.emulator.engine.builder import Build, CacheEntry, Refused, Request
from tests.emulator.engine.files import BadFile, Recorded, culprits_of, present, read_cache, read_engine, read_replay
from tests.emulator.engine.net import Net, generate
from tests.emulator.trtexec import check
from tests.emulator.trtexec import cli as trtexec_cli
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

NET = ("--layers", "20", "--seed", "3")


def build(folder: Path, *options: str, status: int = 0, net: tuple[str, ...] = NET) -> str:
    """Build in this process and return the log."""
    log = folder / "log"
    assert trtexec_cli.main([*net, *options, "--log", str(log)]) == status, log.read_text()
    return log.read_text()


def replay_of(folder: Path, name: str, *options: str) -> dict[str, Recorded]:
    path = folder / name
    build(folder, "--save-replay", str(path), *options)
    return read_replay(path)


def engine_of(folder: Path, *options: str) -> dict[str, str]:
    """Return the algorithm of every layer."""
    path = folder / "engine"
    build(folder, "--engine", str(path), *options)
    return {layer["name"]: layer["algorithm"] for layer in read_engine(path.read_bytes())["layers"]}


def built(net: Net, **request: object) -> Build:
    made = Build(net, Request(**request))  # type: ignore[arg-type]
    made.run()
    return made


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


def test_a_key_with_a_tactic_of_another_layer_is_refused() -> None:
    net = generate(10, 1)
    cache: dict[int, CacheEntry] = {}
    built(net, luck="a", cache=cache)
    place, entry = next(iter(cache.items()))
    with pytest.raises(Refused, match="of the timing cache cannot implement"):
        built(net, luck="a", cache={**cache, place: CacheEntry(entry.tactic ^ (1 << 62), entry.ms)})


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


@pytest.mark.parametrize(
    ("fault", "status"),
    [(("--crash",), -11), (("--crash", "KILL"), -9), (("--exit", "3"), 3), (("--chance", "0", "--crash"), 0)],
)
def test_it_dies_on_demand(fault: tuple[str, ...], status: int) -> None:
    assert run("tests.emulator.trtexec.cli", *NET, *fault).returncode == status


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


# ---- the check -----------------------------------------------------------------------------------------------------


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """An engine in which the first of two hidden sets is present."""
    path, replay = tmp_path / "engine", tmp_path / "replay.json"
    build(tmp_path, "--luck", "a", "--save-replay", str(replay), "--engine", str(path))
    names = list(read_replay(replay))
    (tmp_path / "hidden").write_text(json.dumps(culprits_of(replay, names[3:5])))
    (tmp_path / "absent").write_text(json.dumps([[{"layer": names[0], "algorithm": "another"}]]))
    return path


def judged(engine: Path, name: str, *options: str) -> int:
    return check.main([str(engine), "--culprits", str(engine.parent / name), *options])


def test_the_check_fails_exactly_if_a_hidden_set_is_there(engine: Path) -> None:
    assert judged(engine, "hidden") == check.BAD
    assert judged(engine, "absent") == check.GOOD
    both = [*json.loads((engine.parent / "hidden").read_text())[0], {"layer": "no", "algorithm": "such"}]
    (engine.parent / "both").write_text(json.dumps([both]))
    assert judged(engine, "both") == check.GOOD
    engine.write_bytes(b"no engine")
    assert judged(engine, "hidden") == check.NO_ENGINE
    engine.unlink()
    assert judged(engine, "hidden") == check.NO_ENGINE


def test_the_check_is_as_flaky_as_asked_and_repeats_by_its_seed(engine: Path) -> None:
    def bad(name: str, tally: str, *options: str) -> list[int]:
        return [
            judged(engine, name, *options, "--luck", "a", "--tally", str(engine.parent / tally)) for _ in range(300)
        ]

    shown = bad("hidden", "one", "--shown", "0.7")
    assert 180 < sum(shown) < 240
    assert shown == bad("hidden", "two", "--shown", "0.7")
    assert 15 < sum(bad("absent", "three", "--flip", "0.1")) < 50
    assert len(set(bad("hidden", "four", "--shown", "0.5", "--per", "build"))) == 1
    assert (engine.parent / "one").stat().st_size == 300


def test_conditions_on_keys_nodes_and_fusions() -> None:
    document = {
        "layers": [
            {"name": "a + b", "algorithm": "x", "precision": "Half", "nodes": ["a", "b"]},
            {"name": "c", "algorithm": "y", "precision": "Float", "nodes": ["c"]},
        ],
        "keys": {"0x1": "0x2"},
    }
    for condition, holds in (
        ({"key": "0x1", "tactic": "0x2"}, True),
        ({"key": "0x1", "tactic": "0x3"}, False),
        ({"key": "0x9", "tactic": "0x2"}, False),
        ({"node": "b", "precision": "Half"}, True),
        ({"node": "c", "precision": "Half"}, False),
        ({"fused": ["a", "b"]}, True),
        ({"fused": ["a", "c"]}, False),
    ):
        assert present(document, [[condition]]) is holds
        assert present(document, [[condition], [{"fused": ["a", "b"]}]])
    with pytest.raises(BadFile, match="unknown condition"):
        present(document, [[{"what": "else"}]])
