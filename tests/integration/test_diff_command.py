"""``trtforensics diff`` and ``cache`` as subprocesses, and beside Polygraphy's ``inspect diff-tactics``."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.diff_samples import interacting_pair, log_with, random_builds, replay_text

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]

needs_peer = pytest.mark.skipif(
    importlib.util.find_spec("tensorrt_rtx") is None and importlib.util.find_spec("tensorrt") is None,
    reason="Polygraphy reads replays only where TensorRT or TensorRT-RTX is installed",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that commands run in."""
    return tmp_path / "cwd"


@pytest.fixture
def logs(run: Run, folder: Path) -> tuple[str, str]:  # noqa: ARG001 - `run` makes the folder
    (folder / "good.log").write_text(log_with(fused=True))
    (folder / "bad.log").write_text(log_with(fused=False))
    return "good.log", "bad.log"


def peer(folder: Path, *args: str) -> str:
    """Return what ``polygraphy inspect`` prints."""
    environment = {**os.environ, "POLYGRAPHY_USE_TENSORRT_RTX": "1"}
    if importlib.util.find_spec("tensorrt_rtx") is None:
        del environment["POLYGRAPHY_USE_TENSORRT_RTX"]
    command = [str(Path(sys.executable).with_name("polygraphy")), "inspect", *args]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=True)
    return re.sub("\x1b\\[[0-9;]*m", "", done.stdout)


def listed_by_peer(output: str) -> set[str]:
    return set(re.findall(r"Layer: (.*)", output))


def test_the_document_is_that_of_the_contract(run: Run, logs: tuple[str, str]) -> None:
    document: dict[str, Any] = json.loads(run("diff", *logs, "--json").stdout)
    assert (document["schema"], document["kind"]) == (1, "diff")
    assert [one["path"] for one in (*document["good"], *document["bad"])] == list(logs)
    assert document["summary"] == {"fusion": 1, "precision": 1, "format": 2, "tactic": 2, "missing": 0, "added": 1}
    first = document["differences"][0]
    assert (first["type"], first["layer"], first["matched_by"]) == ("fusion", "conv1 + relu1", "fused-members")
    assert [one["line"] for one in first["bad"][0]["lines"]] == [5, 6]
    assert {row["consequence_of"] for row in document["differences"][1:]} == {0}
    assert document["pairs"] == []
    tactic = next(row for row in document["differences"] if row["type"] == "tactic" and row["layer"] == "pool2")
    assert (tactic["good"][0]["tactic"], tactic["bad"][0]["tactic"]) == (f"0x{0xB1:016x}", f"0x{0xB2:016x}")
    for row in document["differences"]:
        assert 0 < row["suspicion"] < 1


@pytest.mark.parametrize(("same", "flag", "code"), [(True, True, 0), (False, True, 1), (False, False, 0)])
def test_exit_code(run: Run, logs: tuple[str, str], same: bool, flag: bool, code: int) -> None:  # noqa: FBT001 - a table
    done = run("diff", logs[0], logs[not same], *(["--exit-code"] if flag else []))
    assert ("no difference found" in done.stdout, done.returncode) == (same, code)


def test_sides_without_a_common_layer_are_not_called_equal(run: Run, logs: tuple[str, str], folder: Path) -> None:
    (folder / "run.log").write_text("[I] Latency: min = 1 ms, max = 3 ms, mean = 2 ms, median = 2 ms\n")
    shown = run("diff", logs[0], "run.log").stdout
    assert "0 layers aligned" in shown
    assert "nothing could be compared" in shown
    assert "no difference found" not in shown


def test_a_damaged_source_is_one_sentence_and_exit_code_2(
    refuse: Callable[..., str], logs: tuple[str, str], folder: Path
) -> None:
    (folder / "cut.json").write_text(replay_text({"a": 1})[:-30])
    assert refuse("diff", logs[0], "cut.json").startswith("cut.json:")


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (("good.log",), "is the only source, where two are compared"),
        (("good.log", "missing.log"), "missing.log"),
        (("-", "-"), "standard input can be one side only"),
        (("good.log", "bad.log", "-o", "bad.log"), "is the source itself"),
        (("profile.json", "bad.log"), "is a profile of no layers"),
    ],
)
def test_bad_usage(
    refuse: Callable[..., str], logs: tuple[str, str], folder: Path, args: tuple[str, ...], what: str
) -> None:
    (folder / "profile.json").write_text('[{"count": 1}]')
    before = (folder / logs[1]).read_text()
    assert what in refuse("diff", *args)
    assert (folder / logs[1]).read_text() == before


def test_one_side_may_come_from_a_pipe(run: Run, folder: Path, logs: tuple[str, str]) -> None:
    with (folder / logs[1]).open("rb") as file:
        done = run("diff", logs[0], "-", "--json", stdin=file)
    assert json.loads(done.stdout)["summary"]["fusion"] == 1


def test_a_cache_export_of_a_log_does_not_need_tensorrt(run: Run, samples: list[Path], folder: Path) -> None:
    log = next(path for path in samples if "two-profiles" in path.name)
    done = run("cache", "export", log, "-o", "good.json")
    assert "12 keys" in done.stderr
    document = json.loads((folder / "good.json").read_text())
    document["keys"][3]["selected"] = "0x00000000000000ff"
    (folder / "bad.json").write_text(json.dumps(document))
    (row,) = json.loads(run("diff", "good.json", "bad.json", "--json").stdout)["differences"]
    assert (row["type"], row["layer"], row["bad"][0]["tactic"]) == (
        "tactic",
        document["keys"][3]["op"],
        "0x00000000000000ff",
    )
    assert "12 timing-cache keys" in run("parse", "good.json").stdout


@needs_peer
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_one_good_and_one_bad_file_list_exactly_what_the_peer_lists(run: Run, folder: Path, seed: int) -> None:
    builds = random_builds(40, seed)
    good, bad = next(builds), next(builds)
    bad["conv7 + relu7"] = good["conv7 + relu7"]  # under another name it is another layer to the peer all the same
    bad = {"new" if name.startswith("conv7 ") else name: tactic for name, tactic in bad.items()}
    good.pop("conv11 + relu11")
    types = {"conv3 + relu3": "FLOAT", "conv4 + relu4": "FLOAT"}
    (folder / "good.json").write_text(replay_text(good))
    (folder / "bad.json").write_text(replay_text(bad, types))
    theirs = listed_by_peer(peer(folder, "diff-tactics", "--good", "good.json", "--bad", "bad.json"))
    document = json.loads(run("diff", "good.json", "bad.json", "--json").stdout)
    ours = set()
    for row in document["differences"]:
        if row["type"] != "missing":
            ours |= {name for entry in row["bad"] for name in entry["layers"]}
    assert ours == theirs
    assert {"conv3 + relu3", "conv4 + relu4", "conv11 + relu11", "new"} <= ours


@pytest.mark.slow
@needs_peer
def test_the_peer_loses_an_interacting_pair_and_it_is_ranked_first_here(run: Run, folder: Path) -> None:
    culprits = interacting_pair(folder / "arts", layers=300, builds=40, seed=4)
    theirs = peer(folder, "diff-tactics", "--dir", "arts")
    text = run("diff", "arts").stdout
    print(theirs, text[:1500], sep="\n")
    assert not listed_by_peer(theirs) & set(culprits)
    pair = json.loads(run("diff", "arts", "--json").stdout)["pairs"][0]
    assert set(pair["layers"]) == set(culprits)
    assert {half["seen"]["good"] > 0 for half in pair["halves"]} == {True}
    assert (pair["seen"]["good"], pair["seen"]["bad"]) == (0, pair["seen"]["of_bad"])


def test_profiles_and_times_tell_why_it_is_slower(run: Run, folder: Path) -> None:
    for side, slow in (("good", 1.0), ("bad", 3.0)):
        layers = [{"Name": name, "LayerType": "CaskConvolution"} for name in ("conv1", "conv2")]
        (folder / f"{side}.json").write_text(json.dumps({"Layers": layers, "Bindings": []}))
        times = [("conv1", 0.5), ("conv2", 0.25 * slow)]
        rows = [{"name": n, "timeMs": ms * 10, "averageMs": ms, "medianMs": ms, "percentage": 1.0} for n, ms in times]
        (folder / f"{side}.profile.json").write_text(json.dumps([{"count": 10}, *rows]))
        runs = [{"startEnqMs": n, "endD2hMs": n + slow, "computeMs": slow, "latencyMs": slow + 0.1} for n in range(9)]
        (folder / f"{side}.times.json").write_text(json.dumps(runs))
    more = [f"--{s}={s}.profile.json" for s in ("good", "bad")]
    done = run("diff", "good.json", "bad.json", *more)
    assert "TIME: the layers of bad are slower in all: 0.75 -> 1.25 ms, +66.7%, measured" in done.stdout
    with_times = [w for s in ("good", "bad") for w in (f"--{s}", f"{s}.profile.json", f"{s}.times.json")]
    times = json.loads(run("diff", "good.json", "bad.json", "--json", *with_times).stdout)["times"]
    assert times["totals"]["latency_ms"]["delta"] == 2.0
    assert [(row["layer"], row["delta_ms"], row["significant"]) for row in times["layers"]["rows"]] == [
        ("conv2", 0.5, True),
        ("conv1", 0.0, False),
    ]
    assert times["layers"]["rows"][0]["good"]["lines"] == [{"path": "good.profile.json", "line": 1}]


def test_two_logs_without_layers_are_compared_by_their_summaries(run: Run, folder: Path) -> None:
    for side, ms, gpu in (("good", 1.0, "A"), ("bad", 2.0, "B")):
        (folder / f"{side}.log").write_text(
            "&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec\n"
            "[11/21/2026-10:00:00] [I] === Device Information ===\n"
            f"[11/21/2026-10:00:00] [I] Selected Device: {gpu}\n"
            "[11/21/2026-10:00:00] [I] === Performance summary ===\n"
            f"[11/21/2026-10:00:00] [I] Latency: min = {ms} ms, max = {ms * 2} ms, mean = {ms} ms, median = {ms} ms, "
            f"percentile(90%) = {ms * 1.1} ms, percentile(95%) = {ms * 1.2} ms, percentile(99%) = {ms * 1.3} ms\n"
        )
    out = run("diff", "good.log", "bad.log").stdout
    assert "neither side tells its layers" in out
    assert "bad is slower: latency 1 -> 2 ms (median), +100.0%" in out
    assert "Selected Device: A -> B  (lines 3 -> 3)" in out


def test_two_models_get_one_sentence_first(run: Run, folder: Path) -> None:
    for side, names in (("good", "abcdef"), ("bad", "stuvwxyz")):
        (folder / f"{side}.json").write_text(replay_text({f"conv_{name}": 1 for name in names}, {}))
    out = run("diff", "good.json", "bad.json").stdout
    assert "0 of 6 layers match: two different models?" in out
    assert "MISSING" not in out
    assert "MISSING" in run("diff", "good.json", "bad.json", "--all").stdout
