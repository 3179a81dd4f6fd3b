"""Bisections of tactics from end to end: real processes of the command line, of the emulator's builds and checks."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.emulator.engine.files import culprits_of, read_engine, read_replay
from tests.emulator.tensorrt.python_path import environment
from tests.emulator.trtexec import cli as trtexec_cli
from tests.emulator.trtexec.bench import Bench
from tests.support.repository import ROOT
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.model.log import BuildLog

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bisect and collect run on Linux only")

LAYERS = 300
ALONE, PAIR = 15, 27
"""Builds that a certified answer may take among 300 items: 4 + L and 3 + 2 (L + 1), L = 9, and second looks.

Those are at a set alone, at a set of several without each of its members, and at everything but the culprits.
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A network of 300 layers, all of which differ."""
    bench = Bench(tmp_path_factory.mktemp("large"), "--layers", str(LAYERS), "--seed", "1", "--no-foreign")
    assert len(bench.differing) == LAYERS
    return bench


@pytest.fixture
def small(tmp_path: Path) -> Bench:
    """A network of 40 layers."""
    return Bench(tmp_path, "--layers", "40", "--seed", "2", "--no-foreign")


def built_and_judged(bench: Bench) -> int:
    """Return how many probes there are, each of which was built and checked; what decides was built twice."""
    folders = bench.probes()
    assert all((folder / "build.log").exists() and (folder / "verdict.json").exists() for folder in folders)
    result = bench.result()
    assert bench.checks.stat().st_size == len(result["probes"]) == result["builds"] == len(folders)
    looks = Counter(probe["active"] for probe in result["probes"] if probe["evidence"])
    assert {looks[active] for active in looks.keys() - {"", f"0-{result['items'] - 1}"}} == {2}
    return len(folders)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("members", "most"),
    [([170], ALONE), ([40, LAYERS - 1], PAIR)],
    ids=["one", "pair"],
)
def test_among_300_layers_culprits_are_certified_in_few_builds(large: Bench, members: list[int], most: int) -> None:
    large.out = large.folder / f"out-{members[0]}"
    large.checks = large.folder / f"checks-{members[0]}"
    hidden = tuple(large.differing[member] for member in members)
    large.hide(hidden)
    line = [word if word != "out" else large.out.name for word in large.command()]
    done = large.run(line=[*line, "--build", large.build(), "--check", large.check()])
    assert done.returncode == 0, done.stderr
    assert large.result()["status"] == "certified"
    assert large.culprits() == [set(hidden)]
    assert built_and_judged(large) <= most


@pytest.mark.slow
def test_the_fixed_replay_builds_a_good_engine_and_the_culprits_a_bad_one(small: Bench) -> None:
    hidden = small.differing[7], small.differing[30]
    small.hide(hidden[:1], hidden[1:])
    arguments = "--build", small.build(), "--check", small.check()
    assert small.run(*arguments).returncode == 0
    assert small.culprits() == [{hidden[0]}, {hidden[1]}] or small.culprits() == [{hidden[1]}, {hidden[0]}]
    for name, status in (("replay.json", 0), ("culprits.json", 1)):
        engine = small.folder / f"{name}.engine"
        for command in (small.build(), small.check()):
            line = command.replace("{replay}", str(small.out / "fixed" / name)).replace("{engine}", str(engine))
            done = small.run(line=["/bin/sh", "-c", line])
        assert done.returncode == status
        chosen = {layer["name"]: layer["algorithm"] for layer in read_engine(engine.read_bytes())["layers"]}
        wanted = {name: str(entry) for name, entry in read_replay(small.out / "fixed" / name).items()}
        assert chosen == wanted


@pytest.mark.slow
def test_finding_all_goes_on_where_finding_the_first_ended(small: Bench) -> None:
    hidden = small.differing[3], small.differing[35]
    small.hide(hidden[:1], hidden[1:])
    arguments = "--build", small.build(), "--check", small.check()
    small.run(*arguments, "--find", "first")
    first = {folder.name for folder in small.probes()}
    assert len(small.culprits()) == 1
    assert small.run(*arguments, "--find", "all").returncode == 0
    assert {frozenset(found) for found in small.culprits()} == {frozenset({name}) for name in hidden}
    assert first < {folder.name for folder in small.probes()}
    assert built_and_judged(small) <= 2 + 2 + 2 * (6 + 1) + (2 + 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "noise",
    [("--flip", "0.05"), ("--shown", "0.9", "--per", "build")],
    ids=["flipped checks", "shown by some builds"],
)
def test_what_is_noisy_is_repeated_to_the_stated_confidence(tmp_path: Path, noise: tuple[str, ...]) -> None:
    bench = Bench(tmp_path, "--layers", "16", "--seed", "2", "--no-foreign")
    hidden = bench.differing[9]
    bench.hide((hidden,))
    build = bench.build("--luck", "steady", "--save-tally", str(tmp_path / "builds"))
    check = bench.check(*noise, "--luck", "steady")
    done = bench.run("--build", build, "--check", check, "--confidence", "0.99")
    assert done.returncode == 0, done.stdout + done.stderr
    assert bench.culprits() == [{hidden}]
    assert 0.99 <= bench.result()["confidence"] < 1
    assert bench.checks.stat().st_size > len(bench.probes())


# ---- mixes that TensorRT refuses -----------------------------------------------------------------------------------


@pytest.fixture
def coupled(tmp_path: Path) -> Bench:
    """Forty layers, of which 10 to 14 change format together or not at all."""
    return Bench(tmp_path, "--layers", "40", "--seed", "5", "--no-foreign", "--coupled", "10-14")


def run_of(bench: Bench) -> set[str]:
    """Return the layers that change format between the builds, and the reformats at the ends of their run."""

    def formats(entry: object) -> str:
        return str(entry).partition(" | ")[2]

    return {name for name in bench.differing if formats(bench.bad.get(name)) != formats(bench.good.get(name))}


@pytest.mark.slow
@pytest.mark.parametrize("position", [0, 20])
def test_a_culprit_beside_a_coupled_run_is_found_exactly(coupled: Bench, position: int) -> None:
    name = [name for name in coupled.differing if name not in run_of(coupled)][position]
    coupled.hide((name,))
    done = coupled.run("--build", coupled.build(), "--check", coupled.check())
    assert done.returncode == 0, done.stdout + done.stderr
    assert coupled.culprits() == [{name}]


@pytest.mark.slow
def test_a_culprit_in_a_coupled_run_is_named_with_its_run_at_most(coupled: Bench) -> None:
    inside = run_of(coupled)
    assert len(inside) >= 5
    name = next(name for name in coupled.differing if name in inside and not name.startswith("Reformatting"))
    coupled.hide((name,))
    coupled.run("--build", coupled.build(), "--check", coupled.check())
    result = coupled.result()
    named = set().union(*coupled.culprits()) | set(result["suspects"])
    assert name in named
    assert named <= inside
    assert result["unresolved"]
    texts = [path.read_text() for path in coupled.out.glob("probes/*/build.err")]
    refused = [text for text in texts if "Tactic in replay was not provided by TensorRT as a choice" in text]
    assert refused
    assert all("Provided choices were:" in text for text in refused)


@pytest.mark.slow
def test_mixes_that_crash_tensorrt_are_no_verdict(small: Bench) -> None:
    hidden, first, second = (small.differing[number] for number in (29, 5, 30))
    small.hide((hidden,))
    bad, good = (
        culprits_of(small.folder / name, (layer,))[0] for name, layer in (("bad.json", first), ("good.json", second))
    )
    (small.folder / "when.json").write_text(json.dumps([bad + good]))
    build = small.build("--crash", "SEGV", "--leave-child", "--when", str(small.folder / "when.json"))
    done = small.run("--build", build, "--check", small.check())
    assert done.returncode == 0, done.stdout + done.stderr
    assert small.culprits() == [{hidden}]
    crashed = [event for event in small.events() if event["event"] == "end" and event["verdict"] == "unresolved"]
    assert crashed
    assert all("SIGSEGV" in event["reason"] for event in crashed), crashed


# ---- logs ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    [
        ("--version", "8.6.1"),
        ("--version", "10.16.1", "--detailed"),
        ("--version", "10.16.1", "--dialect", "polygraphy"),
        ("--version", "10.13.3", "--dialect", "python"),
    ],
    ids=["trtexec 8.6", "trtexec 10.16", "polygraphy 10.16", "python 10.13"],
)
def test_every_log_of_a_bisection_is_understood(tmp_path: Path, form: tuple[str, ...]) -> None:
    bench = Bench(tmp_path, "--layers", "8", "--seed", "3", "--coupled", "2-4", *form)
    bench.hide((bench.differing[-1],))
    assert bench.run("--build", bench.build("--verbose") + " 2>&1", "--check", bench.check()).returncode in {0, 1}
    outcomes = []
    for probe in bench.probes():
        log = understood(probe / "build.log")
        engine = log.builds[0]
        outcomes.append(engine.outcome)
        assert len(engine.choices) > 0
    assert len(outcomes) > 4
    if "--dialect" not in form:
        assert set(outcomes) <= {"passed", "failed"}
        assert "passed" in outcomes


def understood(path: Path) -> BuildLog:
    """Parse a log, in which no line may be unknown."""
    log = load_build_log([str(path)])
    assert log.unknown_samples == (), log.unknown_samples
    return log


@pytest.mark.parametrize("version", ["10.13.3", "11.1.0"])
def test_logs_with_cache_keys_are_understood_and_say_what_they_are(tmp_path: Path, version: str) -> None:
    path, cache = tmp_path / "build.log", tmp_path / "cache"
    options = ["--layers", "30", "--version", version, "--editable", "--verbose", "--detailed", "--cache", str(cache)]
    assert trtexec_cli.main([*options, "--log", str(path)]) == 0
    log = understood(path)
    assert log.builds[0].timing_cache_keys
    assert "was ever captured" in path.read_text()


# ---- the whole story -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_from_flaky_builds_to_the_culprit(tmp_path: Path) -> None:
    """A layer with two near ties is bad with one of them: collect builds, then bisect what was collected."""
    bench = Bench(tmp_path, "--layers", "12", "--seed", "4", "--no-foreign")
    builds = [f"seen{number}.json" for number in range(6)]
    for number, name in enumerate(builds):
        bench.replay(name, "--luck", f"seen {number}")
    seen = [read_replay(tmp_path / name) for name in builds]
    wobbly = next(
        name for name in seen[0] if 2 <= sum(other[name] != seen[0][name] for other in seen if name in other) <= 4
    )
    bench.folder.joinpath("hidden.json").write_text(json.dumps(culprits_of(tmp_path / builds[0], (wobbly,))))
    collect = [*bench.command()[:3], "collect", "--until", "8", "--artifacts-dir", "seen", "--quiet"]
    saving = bench.build("--luck", "steady", "--save-tally", str(tmp_path / "builds"), replay="--save-replay {replay}")
    done = bench.run(line=[*collect, "--build", saving, "--check", bench.check()])
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "seen" / "good").iterdir())
    assert list((tmp_path / "seen" / "bad").iterdir())
    line = [*collect[:3], "bisect", "tactics", "--good", "seen", "--bad", "seen", "--artifacts-dir", "out", "--quiet"]
    done = bench.run(line=[*line, "--build", bench.build(), "--check", bench.check()])
    assert done.returncode == 0, done.stdout + done.stderr
    assert bench.culprits() == [{wobbly}]


@pytest.mark.slow
def test_a_real_model_is_bisected_with_its_edges_known(tmp_path: Path) -> None:
    model = ROOT / "testdata" / "models" / "convnet.onnx"
    bench = Bench(tmp_path, "--onnx", str(model), "--fp16", python=(sys.executable, "-m"))
    hidden = next(name for name in reversed(bench.differing) if name.startswith("/blocks.1/"))
    bench.hide((hidden,))
    done = bench.run("--onnx", str(model), "--build", bench.build(), "--check", bench.check())
    assert done.returncode == 0, done.stdout + done.stderr
    assert bench.culprits() == [{hidden}]


@pytest.mark.slow
def test_polygraphy_reads_the_artifacts(small: Bench) -> None:
    name = small.differing[11]
    small.hide((name,))
    assert small.run("--build", small.build(), "--check", small.check()).returncode == 0
    polygraphy = "from polygraphy.tools import main; main()"
    line = [sys.executable, "-c", polygraphy, "inspect", "diff-tactics", "--dir", str(small.out)]
    done = subprocess.run(line, env=environment(), capture_output=True, text=True, check=True)
    good, bad = (len(list((small.out / side).iterdir())) for side in ("good", "bad"))
    assert f"Loaded {good} good tactic replays" in done.stdout
    assert f"Loaded {bad} bad tactic replays" in done.stdout
    assert f"Layer: {name}" in done.stdout


@pytest.mark.slow
def test_two_at_once_on_one_directory(small: Bench) -> None:
    small.hide((small.differing[5],))
    arguments = "--build", small.build("--seconds", "0.2"), "--check", small.check()
    running = small.start(small.command(*arguments))
    try:
        wait_for(lambda: small.out.joinpath("probes").is_dir() and bool(small.probes()))
        second = small.run(*arguments)
        assert second.returncode == 2
        assert str(running.pid) in second.stderr
        assert running.wait(300) == 0
    finally:
        running.kill()
        running.communicate()
    assert small.culprits() == [{small.differing[5]}]
    built_and_judged(small)


def wait_for(happens: Callable[[], bool]) -> None:
    end = time.monotonic() + 300
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.02)
