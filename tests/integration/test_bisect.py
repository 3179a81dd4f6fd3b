"""Bisections through real processes: small shell commands stand in for builds and checks."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.in_process import run_in_process
from tests.support.peak_memory import PROGRAM
from tests.support.schemas import problems
from trtforensics.bisection.levers.tactics import load_side
from trtforensics.bisection.session.artifacts import is_paused, set_paused
from trtforensics.model.replay import ReplayEntry, ReplayTensor
from trtforensics.model.span import SourceSpan
from trtforensics.replay.writing import to_text
from trtforensics.sources.replay import load_replay

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = (sys.executable, "-m", "trtforensics")
DEADLINE = 300
"""Seconds after which a hanging process fails its test."""

LINUX = sys.platform.startswith("linux")

pytestmark = pytest.mark.skipif(not LINUX, reason="bisect and collect run on Linux only")


class Bench:
    """A folder with items, and what a user runs in it."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        self.out = folder / "out"
        (folder / "items.txt").write_text("".join(f"item{n}\n" for n in range(count)))

    def command(self, *arguments: str, mode: str = "items") -> list[str]:
        """Return a command line."""
        items = ("--items", "items.txt") if mode == "items" else ()
        start = ("bisect", mode) if mode in {"items", "tactics"} else (mode,)
        return [*COMMAND, *start, *items, "--artifacts-dir", "out", *arguments]

    def run(self, *arguments: str, mode: str = "items", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        words = self.command(*arguments, mode=mode)[len(COMMAND) :]
        done = run_in_process(words, self.folder, {**os.environ, **environment})
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *arguments: str, mode: str = "items") -> subprocess.Popen[str]:
        """Start it."""
        return subprocess.Popen(
            self.command(*arguments, mode=mode),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    @staticmethod
    def flag(name: str) -> str:
        """Return a path by which a command reads a file of the folder and does not name it."""
        return f"{{dir}}/../../../{name}"

    def events(self) -> list[dict[str, Any]]:
        """Return the journal."""
        return [json.loads(line) for line in (self.out / "journal.jsonl").read_text().splitlines()]

    def count_of(self, event: str) -> int:
        """How many events of a kind the journal has."""
        return sum(each["event"] == event for each in self.events())

    def result(self) -> dict[str, Any]:
        """Return result.json."""
        document: dict[str, Any] = json.loads((self.out / "result.json").read_text())
        return document

    def culprits(self) -> list[list[str]]:
        """Return the culprits' names."""
        return [[member["item"] for member in found] for found in self.result()["culprits"]]

    def folders(self) -> list[str]:
        """Return the probes' folders."""
        return sorted(path.name for path in (self.out / "probes").iterdir())

    def count(self, name: str) -> int:
        """How many lines a command has written to a file of the bench."""
        path = self.folder / name
        return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A bench of 40 items; after the test no process of it is left."""
    yield Bench(tmp_path, 40)
    assert not running_in(tmp_path)


def running_in(folder: Path) -> list[str]:
    """Return the processes whose working directory is below a folder, as command lines."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink().is_relative_to(folder):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def until(holds: Any) -> None:
    for _ in range(DEADLINE * 50):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("it never came to hold")


def bad_if(*names: str) -> str:
    """Return a check that is bad if all the names are active."""
    return "! { " + " && ".join(f"grep -qx {name} {{items}}" for name in names) + "; }"


def test_one_culprit_is_certified_and_the_directory_says_all(bench: Bench) -> None:
    done = bench.run("--check", bad_if("item7"), "--build", "cat {items} > {engine}; echo built; echo oops >&2")
    assert done.returncode == 0, done.stderr
    assert "Certified" in done.stdout
    assert bench.culprits() == [["item7"]]
    assert len(bench.folders()) == bench.result()["builds"] <= 4 + 6
    assert [event["event"] for event in bench.events()[:3]] == ["run", "start", "end"]
    first = bench.out / "probes" / bench.folders()[0]
    assert sorted(path.name for path in first.iterdir()) == [
        "build.err",
        "build.log",
        "check.log",
        "items.txt",
        "verdict.json",
    ]
    assert (first / "build.log").read_text() == "built\n"
    assert (first / "build.err").read_text() == "oops\n"
    for verdict in ("good", "bad"):
        links = list((bench.out / verdict).iterdir())
        assert links
        assert all(link.is_symlink() and link.exists() and not link.readlink().is_absolute() for link in links)
    fixed = (bench.out / "fixed" / "items.txt").read_text().split()
    assert fixed == [f"item{n}" for n in range(40) if n != 7]


def test_sets_that_are_bad_together_and_alone(bench: Bench) -> None:
    check = f"{bad_if('item3', 'item31')} && {bad_if('item20')}"
    assert bench.run("--check", check).returncode == 0
    assert sorted(bench.culprits()) == [["item20"], ["item3", "item31"]]
    assert bench.run("--check", check, "--find", "first").returncode in {0, 1}
    assert len(bench.culprits()) == 1
    assert bench.result()["reused"] == bench.result()["builds"]


def test_json_is_the_result_file(bench: Bench) -> None:
    done = bench.run("--check", bad_if("item7"), "--json")
    assert json.loads(done.stdout) == bench.result()


@pytest.mark.parametrize(
    ("check", "why"),
    [("false", "good"), ("true", "bad"), ("kill -SEGV $$", "")],
    ids=["always bad", "always good", "always dead"],
)
def test_what_does_not_reproduce_is_said(bench: Bench, check: str, why: str) -> None:
    done = bench.run("--check", check)
    assert done.returncode == 1
    assert bench.result()["status"] in {"not-reproduced", "inconclusive"}
    assert why in bench.result()["why"]
    assert bench.culprits() == []


def test_only_known_placeholders_are_replaced_each_quoted(bench: Bench) -> None:
    out = bench.folder / "it's a dir"
    check = 'test -f {items} && x=1; echo {nothing} ${x}; test "$TRTFORENSICS_ITEMS" = {items} && test -d {dir}'
    done = bench.run("--check", check, "--artifacts-dir", str(out))
    assert done.returncode == 1
    log = next((out / "probes").iterdir()) / "check.log"
    assert log.read_text() == "{nothing} 1\n"


@pytest.mark.parametrize("status", [1, 124, 125, 200])
def test_the_exit_status_decides(bench: Bench, status: int) -> None:
    """Item 0 makes the check end so; as unresolved it is never a culprit."""
    done = bench.run("--check", f"grep -qx item0 {{items}} && exit {status}; exit 0")
    if status < 125:
        assert bench.culprits() == [["item0"]]
    else:
        assert done.returncode == 1
        assert bench.culprits() == []
        assert list((bench.out / "unresolved").iterdir())


def test_a_command_that_cannot_be_run_is_no_verdict(bench: Bench) -> None:
    done = bench.run("--check", "no-such-command {items}")
    assert done.returncode == 2
    assert "--check" in done.stderr
    assert "not found" in done.stderr
    (bench.folder / "no-such-command").write_text("#!/bin/sh\n! grep -qx item7 $1\n")
    (bench.folder / "no-such-command").chmod(0o755)
    assert bench.run("--check", "no-such-command {items}", PATH=f"{bench.folder}:{os.environ['PATH']}").returncode == 0
    assert bench.culprits() == [["item7"]]


@pytest.mark.slow
def test_a_hang_is_unresolved_and_ends(bench: Bench) -> None:
    """A build with item 39, and more than half of the items, hangs and hears no gentle signal."""
    hang = "test $(wc -l < {items}) -gt 20 && test $(wc -l < {items}) -lt 40 && sleep 600; true"
    done = bench.run("--build", hang, "--check", bad_if("item2"), "--timeout", "2")
    assert bench.culprits() == [["item2"]], done.stderr
    assert any("timed out" in probe["reason"] for probe in bench.result()["probes"])


@pytest.mark.slow
def test_a_longer_timeout_tries_again_what_timed_out(bench: Bench) -> None:
    slow = "sleep 2"
    assert bench.run("--build", slow, "--check", "true", "--timeout", "0.1").returncode == 1
    assert {event["verdict"] for event in bench.events() if event["event"] == "end"} == {"unresolved"}
    assert bench.run("--build", slow, "--check", "true", "--timeout", "60").returncode == 1
    assert {event["verdict"] for event in bench.events()[-4:] if event["event"] == "end"} == {"good"}


@pytest.mark.slow
def test_children_left_behind_are_ended(bench: Bench) -> None:
    leave = "sleep 600 & (setsid sleep 600 &); (setsid sh -c 'sleep 600; true' >/dev/null 2>&1 &); exit 0"
    done = bench.run("--build", leave, "--check", bad_if("item7"))
    assert done.returncode == 0, done.stderr
    assert not running_in(bench.folder)
    verdict = json.loads((bench.out / "probes" / bench.folders()[0] / "verdict.json").read_text())
    assert verdict["build"]["left_behind"] >= 3


@pytest.mark.slow
def test_a_flood_of_output_is_kept_at_both_ends_in_flat_memory(bench: Bench) -> None:
    """2 GB; this process's children may use 400 MB together, so that buffering it all would show."""
    script = "echo first; head -c 2000000000 /dev/zero; echo last"
    line = ["collect", "--until", "1", "--artifacts-dir", "out", "--quiet", "--build", script]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *line],
        cwd=bench.folder,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=True,
    )
    assert int(done.stderr.split()[-1]) < 150_000  # KiB
    log = next((bench.out / "probes").iterdir()) / "build.log"
    data = log.read_bytes()
    assert data.startswith(b"first\n")
    assert data.endswith(b"last\n")
    assert b"bytes of output left out here" in data
    assert len(data) < 300 << 20


def test_an_engine_that_was_not_written_counts_only_for_a_check_that_uses_it(bench: Bench) -> None:
    done = bench.run("--build", "true", "--check", "test -f {engine}")
    assert done.returncode == 1
    assert "wrote no engine" in bench.result()["probes"][0]["reason"]
    assert bench.run("--build", "true", "--check", bad_if("item7")).returncode == 0


@pytest.mark.slow
def test_engines_go_or_stay(bench: Bench) -> None:
    build = ("--build", "cp {items} {engine}", "--check", "! grep -qx item7 {engine}")
    assert bench.run(*build).returncode == 0
    assert not list(bench.out.glob("probes/*/engine"))
    assert bench.run(*build, "--artifacts-dir", "all", "--keep-engines", "all").returncode == 0
    assert len(list((bench.folder / "all").glob("probes/*/engine"))) == bench.result()["builds"]
    assert bench.run(*build, "--artifacts-dir", "some", "--keep-engines", "bad").returncode == 0
    kept = {path.parent.name for path in (bench.folder / "some").glob("probes/*/engine")}
    assert kept == {path.stem for path in (bench.folder / "some" / "bad").iterdir()}


def test_a_failed_build_is_unresolved_or_bad_as_asked_without_a_new_build(bench: Bench) -> None:
    build = ("--build", f"echo >> {bench.folder}/builds; ! grep -qx item7 {{items}}", "--check", "true")
    assert bench.run(*build).returncode == 1
    builds = bench.count("builds")
    assert bench.run(*build, "--build-failure", "bad").returncode == 0
    assert bench.culprits() == [["item7"]]
    assert bench.result()["reused"] == builds == 2


def test_the_same_command_again_runs_nothing(bench: Bench) -> None:
    arguments = ("--build", f"echo >> {bench.folder}/builds", "--check", bad_if("item7"))
    first = bench.run(*arguments)
    builds, answer = bench.count("builds"), bench.culprits()
    again = bench.run(*arguments)
    assert (first.returncode, again.returncode) == (0, 0)
    assert bench.count("builds") == builds == bench.result()["builds"] == bench.result()["reused"]
    assert bench.culprits() == answer


def test_another_check_judges_kept_engines_again_and_builds_the_rest(bench: Bench) -> None:
    build = ("--build", f"echo >> {bench.folder}/builds; cp {{items}} {{engine}}", "--keep-engines", "all")
    assert bench.run(*build, "--check", "! grep -qx item7 {engine}").returncode == 0
    builds = bench.count("builds")
    assert bench.run(*build, "--check", "! grep -qx item8 {engine}").returncode == 0
    assert bench.culprits() == [["item8"]]
    assert bench.count("builds") - builds < bench.result()["builds"]  # endpoints and common subsets were there
    assert bench.result()["reused"] == bench.result()["builds"] - (bench.count("builds") - builds)
    assert bench.run(*build, "--check", "! grep -qx item7 {engine}").returncode == 0
    assert bench.culprits() == [["item7"]]


@pytest.mark.slow
def test_another_confidence_uses_what_is_there(bench: Bench) -> None:
    build = f"echo >> {bench.folder}/builds; cp {{items}} {{engine}}"
    arguments = ("--build", build, "--check", "! grep -qx item7 {engine}", "--keep-engines", "all")
    assert bench.run(*arguments).returncode == 0
    before = bench.count("builds")
    assert bench.run(*arguments, "--confidence", "0.9").returncode == 0
    assert bench.culprits() == [["item7"]]
    assert bench.result()["reused"] >= 2
    assert bench.count("builds") - before == bench.result()["builds"] - bench.result()["reused"]


@pytest.mark.parametrize("other", ["mode", "items", "build"])
def test_another_job_is_refused_and_its_directory_untouched(bench: Bench, other: str) -> None:
    assert bench.run("--build", "true", "--check", bad_if("item7")).returncode == 0
    before = {path: path.lstat().st_mtime_ns for path in bench.out.rglob("*")}
    if other == "mode":
        done = bench.run("--until", "1", "--build", "true", mode="collect")
    elif other == "items":
        (bench.folder / "items.txt").write_text("a\nb\n")
        done = bench.run("--build", "true", "--check", "true")
    else:
        done = bench.run("--build", "true #", "--check", "true")
    assert done.returncode == 2
    assert "belongs to another job" in done.stderr
    assert {path: path.lstat().st_mtime_ns for path in bench.out.rglob("*")} == before


def test_a_directory_with_other_things_in_it_is_refused(bench: Bench) -> None:
    bench.out.mkdir()
    (bench.out / "thesis.tex").write_text("precious")
    assert bench.run("--check", "true").returncode == 2
    assert [path.name for path in bench.out.iterdir()] == ["thesis.tex"]


def test_two_at_once_the_second_refuses(bench: Bench) -> None:
    check = "test -e go || sleep 0.05; test -e go"
    running = bench.start("--check", f"while ! test -e {bench.folder}/go; do sleep 0.05; done; {bad_if('item7')}")
    try:
        until((bench.out / "probes").exists)
        second = bench.run("--check", check)
        assert second.returncode == 2
        assert f"is in use by process {running.pid}" in second.stderr
        (bench.folder / "go").touch()
        assert running.wait(DEADLINE) == 0
    finally:
        running.kill()
        running.communicate()


@pytest.mark.slow
def test_killed_at_random_moments_it_goes_on_and_repeats_no_finished_probe(bench: Bench) -> None:
    """Each kill falls within the probe that follows a new line or two of the journal, however fast the machine is."""
    arguments = ("--quiet", "--build", "sleep 0.1; cp {items} {engine}", "--check", "! grep -qx item17 {engine}")
    journal = bench.out / "journal.jsonl"
    chance = random.Random(5)
    kills = 0
    for _ in range(6):
        wanted = chance.randint(1, 3) + (len(journal.read_bytes().splitlines()) if journal.exists() else 0)
        process = bench.start(*arguments)
        until(lambda p=process, w=wanted: p.poll() is not None or bench.count("out/journal.jsonl") >= w)
        time.sleep(chance.random() * 0.1)
        process.kill()
        process.communicate()
        kills += process.returncode < 0
        until(lambda: not running_in(bench.folder))
    assert kills
    assert bench.run(*arguments).returncode == 0
    assert bench.culprits() == [["item17"]]
    ended = [(event["probe"], event["check"]) for event in bench.events() if event["event"] == "end"]
    assert len(ended) == len(set(ended))
    assert len({probe for probe, _ in ended}) == bench.result()["builds"] == len(bench.folders())


@pytest.mark.slow
def test_killed_while_it_builds_again_for_another_check_it_judges_no_half_written_engine(bench: Bench) -> None:
    """The second build of the first half with item8 empties the engine and waits there to be killed."""
    half = f"test -e {bench.flag('slow')} && grep -qx item8 {{items}} && test $(wc -l < {{items}}) -lt 40"
    build = f"cp {{items}} {{engine}}; if {half}; then : > {{engine}}; touch up; sleep 600; fi"
    assert bench.run("--build", build, "--check", "! grep -qx item7 {engine}").returncode == 0
    assert bench.culprits() == [["item7"]]
    (bench.folder / "slow").touch()
    process = bench.start("--build", build, "--check", "! grep -qx item8 {engine}")
    until((bench.folder / "up").exists)
    process.kill()
    process.communicate()
    (bench.folder / "slow").unlink()
    assert bench.run("--build", build, "--check", "! grep -qx item8 {engine}").returncode == 0
    assert bench.culprits() == [["item8"]]


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_no_build_behind(bench: Bench) -> None:
    process = bench.start("--build", "(setsid sleep 600 &); touch up; sleep 600", "--check", "true")
    until((bench.folder / "up").exists)
    process.kill()
    process.communicate()
    until(lambda: not running_in(bench.folder))


def test_a_journal_cut_in_its_last_line_is_read(bench: Bench) -> None:
    arguments = ("--build", "true", "--check", bad_if("item7"))
    assert bench.run(*arguments).returncode == 0
    journal = bench.out / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-30])
    assert bench.run(*arguments).returncode == 0
    assert bench.result()["reused"] == bench.result()["builds"] - 1
    journal.write_bytes(b"{}\n" + journal.read_bytes())
    damaged = bench.run(*arguments)
    assert damaged.returncode == 2
    assert "journal.jsonl:1" in damaged.stderr


@pytest.mark.slow
def test_a_verdict_is_forgotten_and_seen_again(bench: Bench) -> None:
    """The check that is first wrong about both ends says nothing once its verdicts are taken back."""
    check = f"test -e {bench.flag('wrong')} && exit 1; ! grep -qx item7 {{items}}"
    (bench.folder / "wrong").touch()
    assert bench.run("--check", check).returncode == 1
    (bench.folder / "wrong").unlink()
    assert bench.run("--check", check).returncode == 1
    assert bench.result()["status"] == "not-reproduced"
    unknown = bench.run("--check", check, "--forget", "99")
    assert unknown.returncode == 2
    assert "there is no probe 99" in unknown.stderr
    assert bench.run("--check", check, "--forget", bench.folders()[0]).returncode == 0
    assert bench.culprits() == [["item7"]]
    builds = bench.result()["builds"]
    assert bench.run("--check", check, "--forget", "verdicts").returncode == 0
    assert (bench.result()["builds"], bench.result()["reused"]) == (builds, 0)
    process = bench.start("--check", f"{check}; sleep 600", "--forget", "1", "--forget=2")
    until(lambda: bench.events()[-1]["event"] == "start")
    process.send_signal(signal.SIGINT)
    assert "--forget" not in process.communicate(timeout=DEADLINE)[1]


def test_events_are_printed_as_their_schema_says(bench: Bench) -> None:
    """One verdict is forgotten; an event with another field, or without one, is none; runs of 0.2.0 have no parts."""
    check = bad_if("item7")
    assert bench.run("--check", check).returncode == 0
    assert bench.run("--check", check, "--forget", "2").returncode == 0
    done = run_in_process(["bisect", "log", "out", "--json"], bench.folder)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert {event["event"] for event in events} == {"run", "start", "end", "forget"}
    for event in events:
        assert problems(event) == []
        assert problems({**event, "no field": 1})
        for key in event.keys() - {"kind", "parts"}:
            assert problems({other: value for other, value in event.items() if other != key}), key


@pytest.mark.slow
@pytest.mark.parametrize(("culprits", "builds"), [((0, 1, 4), 18), ((1, 4), 18)])
def test_builds_are_all_builds_second_looks_too(bench: Bench, culprits: tuple[int, ...], builds: int) -> None:
    (bench.folder / "items.txt").write_text("".join(f"item{number}\n" for number in range(10)))
    good = " || ".join(f"! grep -qx item{culprit} {{engine}}" for culprit in culprits)
    done = bench.run("--build", "echo {probe} >> built; cp {items} {engine}", "--check", good)
    assert done.returncode == 0
    assert bench.result()["builds"] == builds
    assert len((bench.folder / "built").read_text().splitlines()) == builds


@pytest.mark.slow
def test_a_check_is_another_one_in_another_folder_or_with_another_script(bench: Bench) -> None:
    other = bench.folder / "other"
    other.mkdir()
    for folder, item in ((bench.folder, "item7"), (other, "item8")):
        (folder / "works.sh").write_text(f"! grep -qx {item} $1\n")
    (other / "items.txt").write_text((bench.folder / "items.txt").read_text())
    assert bench.run("--check", "sh works.sh {items}").returncode == 0
    assert bench.culprits() == [["item7"]]
    line = bench.command("--check", "sh works.sh {items}", "--artifacts-dir", str(bench.out))
    subprocess.run(line, cwd=other, capture_output=True, timeout=DEADLINE, check=True)
    assert bench.culprits() == [["item8"]]
    (bench.folder / "works.sh").write_text("! grep -qx item9 $1\n")
    assert bench.run("--check", "sh works.sh {items}").returncode == 0
    assert bench.culprits() == [["item9"]]


@pytest.mark.slow
def test_another_build_script_or_its_folder_is_another_job(bench: Bench) -> None:
    (bench.folder / "build.sh").write_text("exit 0\n")
    line = ("--build", "sh build.sh", "--check", bad_if("item7"))
    assert bench.run(*line).returncode == 0
    other = bench.folder / "other"
    other.mkdir()
    moved = bench.command(*line, "--artifacts-dir", str(bench.out))
    moved[moved.index("items.txt")] = str(bench.folder / "items.txt")
    done = subprocess.run(moved, cwd=other, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert (done.returncode, "another working directory of its build" in done.stderr) == (2, True)
    (bench.folder / "build.sh").write_text("exit 1\n")
    refused = bench.run(*line)
    assert (refused.returncode, "(build.sh of its build command changed)" in refused.stderr) == (2, True)


def test_without_the_check_failed_builds_are_judged_by_their_exit_status(bench: Bench) -> None:
    build = ("--build", f"echo >> {bench.folder}/builds; ! grep -qx item7 {{items}}")
    assert bench.run(*build, "--check", "true").returncode == 1
    builds = bench.count("builds")
    assert bench.run(*build).returncode == 0
    assert bench.culprits() == [["item7"]]
    assert bench.count("builds") - builds == bench.result()["builds"] - bench.result()["reused"]
    assert bench.result()["reused"] == builds


@pytest.mark.slow
def test_an_engine_that_went_is_built_again_for_a_check_of_its_folder(bench: Bench) -> None:
    """Judged in an empty folder, every probe would be bad."""
    build = ("--build", "cp {items} {engine}")
    assert bench.run(*build, "--check", "! grep -qx item7 {dir}/engine").returncode == 0
    assert bench.run(*build, "--check", "test -e {dir}/engine && ! grep -qx item8 {dir}/engine").returncode == 0
    assert bench.culprits() == [["item8"]]


def test_names_of_any_bytes(bench: Bench) -> None:
    """Items that are no UTF-8, a leading dash, a line separator, and a folder of 255 bytes with all of that."""
    names = [b"-x", b"\xff\xfe", "a\u2028b".encode(), b"z" * 255]
    (bench.folder / "items.txt").write_bytes(b"\n".join(names))
    out = os.fsdecode(b"-o\xff \xe2\x80\xa8'" + b"d" * 246)
    check = os.fsdecode(b"printf '\xff\n' > {dir}/x; ! grep -aqxF -- '\xff\xfe' {items}")
    done = bench.run("--check", check, f"--artifacts-dir={out}")
    assert done.returncode == 0, done.stderr
    document = json.loads((bench.folder / out / "result.json").read_bytes())
    assert [[member["item"] for member in found] for found in document["culprits"]] == [["\udcff\udcfe"]]
    assert (bench.folder / out / "fixed" / "items.txt").read_bytes().split(b"\n")[:3] == [names[0], names[2], names[3]]
    log = [*COMMAND, "bisect", "log", "--", out]
    assert subprocess.run(log, cwd=bench.folder, capture_output=True, timeout=DEADLINE, check=True).stdout


@pytest.mark.slow
def test_nohup_stays_in_force(bench: Bench) -> None:
    line = bench.command("--build", "touch up; while ! test -e go; do sleep 0.05; done", "--check", "true")
    process = subprocess.Popen(
        ["/usr/bin/env", "nohup", *line],
        cwd=bench.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until((bench.folder / "up").exists)
    process.send_signal(signal.SIGHUP)
    (bench.folder / "go").touch()
    assert process.wait(DEADLINE) == 1
    assert bench.result()["status"] == "not-reproduced"


@pytest.mark.slow
def test_a_pause_stops_the_build_and_does_not_count(bench: Bench) -> None:
    """The clock of the build's own loop stands still while the run is stopped for longer than the timeout."""
    build = "touch up; n=0; while test $n -lt 12; do n=$((n+1)); echo $n > ticks; sleep 0.1; done"
    line = bench.command("--build", build, "--timeout", "6", "--max-builds", "1")
    process = subprocess.Popen(line, cwd=bench.folder, stderr=subprocess.DEVNULL, preexec_fn=os.setpgrp)  # noqa: PLW1509 - as a shell's job
    until(lambda: (bench.folder / "ticks").exists() and int((bench.folder / "ticks").read_text() or 0) > 2)
    process.send_signal(signal.SIGTSTP)
    until(lambda: "T" in Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0])
    before = (bench.folder / "ticks").read_text()
    time.sleep(7)
    assert (bench.folder / "ticks").read_text() == before
    process.send_signal(signal.SIGCONT)
    process.wait(DEADLINE)
    assert bench.result()["probes"][0]["verdict"] == "good"


@pytest.mark.slow
def test_a_paused_directory_keeps_every_run_waiting_until_it_goes_on(bench: Bench) -> None:
    """What runs ends and nothing else starts; signals end the run; the next one waits too, and says how it goes on."""
    waits = "until out/paused is removed, also by P in `trtforensics tui`"
    check = f"touch up; while ! test -e {bench.flag('go')}; do sleep 0.05; done; {bad_if('item7')}"
    process = bench.start("--check", check)
    until((bench.folder / "up").exists)
    set_paused(bench.out, paused=True)
    (bench.folder / "go").touch()
    until(lambda: bench.events()[-1]["event"] == "end")
    time.sleep(2.5)
    assert bench.count_of("start") == 1
    for number in (signal.SIGINT, signal.SIGTERM):
        process.send_signal(number)
        errors = process.communicate(timeout=10)[1]
        assert process.returncode == 130
        assert f"the next run waits {waits}" in errors
        assert "To go on where it stopped" in errors
        process = bench.start("--check", check)
        assert process.stderr is not None
        assert process.stderr.readline() == f"trtforensics: this run waits {waits}\n"
    assert process.stderr is not None
    assert process.stderr.readline().startswith("trtforensics: paused until out/paused is removed; builds done 0")
    assert bench.count_of("start") == 1
    set_paused(bench.out, paused=False)
    process.communicate(timeout=DEADLINE)
    assert bench.culprits() == [["item7"]]
    assert bench.result()["reused"] == 1
    assert not is_paused(bench.out)


@pytest.mark.slow
def test_sigquit_says_where_it_stands_and_the_run_goes_on(bench: Bench) -> None:
    before = signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # a shell in the background has its jobs ignore it
    process = bench.start("--check", "touch up; while ! test -e go; do sleep 0.05; done", "--quiet")
    signal.signal(signal.SIGQUIT, before)
    until((bench.folder / "up").exists)
    process.send_signal(signal.SIGQUIT)
    assert process.stderr is not None
    first, second = process.stderr.readline(), process.stderr.readline()
    assert first.startswith("trtforensics: builds done 0, running 1")
    assert second.startswith(f"  {bench.folders()[0]}, for ")
    (bench.folder / "go").touch()
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 1


@pytest.mark.slow
def test_what_a_killed_run_and_its_killed_watchdog_leave_is_ended_by_the_next(bench: Bench) -> None:
    build = (
        f"if test -e {bench.flag('stay')}; then touch up; (setsid sleep 600 &); sleep 600; echo late > {{engine}}; fi"
    )
    (bench.folder / "stay").touch()
    process = bench.start("--build", build, "--check", bad_if("item7"))
    until((bench.folder / "up").exists)
    for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        if b"watchdog.py" in Path(f"/proc/{child}/cmdline").read_bytes():
            os.kill(int(child), signal.SIGKILL)
    process.kill()
    process.communicate()
    assert len(running_in(bench.folder)) >= 2
    (bench.folder / "stay").unlink()
    assert bench.run("--build", build, "--check", bad_if("item7")).returncode == 0
    assert not running_in(bench.folder)
    assert bench.culprits() == [["item7"]]


def test_too_little_room_ends_the_run_before_a_probe(bench: Bench) -> None:
    done = bench.run("--check", bad_if("item7"), "--need-free", "9000000G")
    assert done.returncode == 2
    assert "MiB free before a probe" in done.stderr
    assert [event["event"] for event in bench.events()] == ["run"]
    assert bench.run("--check", bad_if("item7"), "--need-free", "0").returncode == 0


@pytest.mark.parametrize("times", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_ctrl_c_ends_the_probe_and_says_how_to_go_on(bench: Bench, times: int) -> None:
    """A build that traps SIGINT and SIGTERM gets its grace at the first Ctrl-C, and none at the second."""
    traps = f"trap 'echo >> {bench.folder}/warned' TERM; "
    if times == 2:
        traps += f"trap 'echo >> {bench.folder}/interrupted' INT; "
    build = f"{traps}echo >> {bench.folder}/started; while :; do sleep 0.1; done"
    process = bench.start("--build", f"test -e go && exit 0; {build}", "--check", bad_if("item7"))
    until(lambda: bench.count("started"))
    process.send_signal(signal.SIGINT)
    if times == 2:
        until(lambda: bench.count("interrupted"))
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    assert not bench.count("warned")
    assert "To go on where it stopped, run `trtforensics bisect items" in errors
    assert [event["event"] for event in bench.events()] == ["run", "start", "stopped"]
    assert json.loads((bench.out / "result.json").read_text())["status"] == "inconclusive"
    (bench.folder / "go").touch()


@pytest.mark.slow
def test_jobs_run_at_once_in_few_rounds(bench: Bench) -> None:
    """Four at once: a round for both ends, log5 40 rounded up to narrow, and one for the certificate.

    So no chain of builds, each begun after the end of the one before, is longer than half of them; a slow machine may
    need a round or two more than those five.
    """
    done = bench.run("--jobs", "4", "--build", "sleep 0.5", "--check", bad_if("item23"))
    assert done.returncode == 0
    assert bench.culprits() == [["item23"]]
    rounds: dict[int, int] = {}
    ended = 0
    for event in bench.events():
        if event["event"] == "start":
            rounds[event["probe"]] = ended + 1
        elif event["event"] == "end":
            ended = max(ended, rounds[event["probe"]])
    assert max(rounds.values()) <= len(rounds) / 2, rounds


@pytest.mark.slow
def test_gpus_are_shared_out(bench: Bench) -> None:
    build = f"echo $CUDA_VISIBLE_DEVICES >> {bench.folder}/gpus; sleep 0.1"
    assert bench.run("--gpus", "0,3", "--build", build, "--check", bad_if("item7")).returncode == 0
    assert set((bench.folder / "gpus").read_text().split()) == {"0", "3"}
    refused = bench.run("--gpus", "0", "--jobs", "2", "--check", "true")
    assert refused.returncode == 2


def test_repeated_checks_that_disagree_are_unresolved(bench: Bench) -> None:
    flip = f"echo >> {bench.folder}/n; test $(($(wc -l < {bench.folder}/n) % 2)) = 0"
    done = bench.run("--check", flip, "--repeat", "3")
    assert done.returncode == 1
    assert "flaky" in bench.result()["probes"][0]["reason"]
    assert bench.run("--check", flip, "--repeat", "3", "--confidence", "0.9").returncode == 2


def test_max_builds_stops_and_more_go_on(bench: Bench) -> None:
    done = bench.run("--check", bad_if("item7"), "--max-builds", "4")
    assert done.returncode == 1
    assert bench.result()["status"] == "inconclusive"
    assert bench.result()["builds"] == 4
    assert "item7" in bench.result()["suspects"]
    assert bench.run("--check", bad_if("item7")).returncode == 0
    assert bench.result()["reused"] == 4


def test_a_dry_run_runs_nothing(bench: Bench) -> None:
    done = bench.run("--check", "touch ran", "--dry-run", "--json")
    forecast = json.loads(done.stdout)
    assert done.returncode == 0
    assert forecast["items"] == [f"item{n}" for n in range(40)]
    assert 0 < forecast["expected_builds"] <= forecast["worst_builds"]
    assert not bench.out.exists()
    assert not (bench.folder / "ran").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "--build"),
        (("--check", "x {replay}"), "{replay}"),
        (("--check", "true", "--timeout", "-1"), "--timeout"),
        (("--check", "true", "--confidence", "2"), "--confidence"),
        (("--check", "true", "--executor", "ray://x"), "--executor"),
    ],
)
def test_bad_usage_is_said(bench: Bench, arguments: tuple[str, ...], says: str) -> None:
    done = bench.run(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert not bench.out.exists()


def test_an_unwritable_place_is_said(bench: Bench) -> None:
    (bench.folder / "file").touch()
    done = bench.run("--check", "true", "--artifacts-dir", "file/out")
    assert done.returncode == 2
    assert "not a directory" in done.stderr


@pytest.mark.slow
def test_a_full_disk_stops_the_run_without_a_verdict(bench: Bench) -> None:
    """A limit on the size of files stands in for the disk: the build's output meets it."""
    build = f"test -e {bench.flag('small')} || head -c 5000000 /dev/zero; true"
    limited = ["/bin/sh", "-c", 'ulimit -f 4000; exec "$@"', "sh"]
    line = [*limited, *bench.command("--build", build, "--check", bad_if("item7"))]
    done = subprocess.run(line, cwd=bench.folder, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert [event["event"] for event in bench.events()] == ["run", "start", "stopped"]
    (bench.folder / "small").touch()
    assert bench.run("--build", build, "--check", bad_if("item7")).returncode == 0


def test_collect_sorts_builds_and_goes_on(bench: Bench) -> None:
    build = f"echo >> {bench.folder}/n; wc -l < {bench.folder}/n > {{replay}}"
    check = "test $(cat {dir}/replay.json) != 3"
    done = bench.run("--until", "3", "--build", build, "--check", check, mode="collect")
    assert done.returncode == 0, done.stderr
    assert len(list((bench.out / "good").iterdir())) == 2
    assert [path.name for path in (bench.out / "bad").iterdir()] == [f"{bench.folders()[2]}.json"]
    done = bench.run("--until", "5", "--build", build, "--check", check, "--json", mode="collect")
    document = json.loads(done.stdout)
    assert (document["builds"], document["reused"], bench.count("n")) == (5, 3, 5)
    assert bench.run("--until", "bad", "--build", build, "--check", check, mode="collect").returncode == 0
    assert bench.count("n") == 5


def write_replays(folder: Path, count: int) -> None:
    """Write a good and a bad replay that differ in every layer."""
    tensor = ReplayTensor("HALF", None, (8, 1), -1, 1)
    for side, tactic in (("good", 1), ("bad", 2)):
        span = SourceSpan("x", 1, 0)
        entries = [ReplayEntry(f"layer {n}", 9, tactic, (tensor,), (tensor,), span) for n in range(count)]
        (folder / f"{side}.json").write_text(to_text(entries))


TACTICS = ("--good", "good.json", "--bad", "bad.json")
READ = (
    "import json, sys; replay = json.load(open(sys.argv[1]))['replay']\n"
    "tactics = {layer: entry['tactic'] for layer, entry in replay.items()}; sys.exit("
)


@pytest.mark.slow
def test_tactics_that_are_bad_together(bench: Bench) -> None:
    write_replays(bench.folder, 60)
    (bench.folder / "check.py").write_text(f"{READ}tactics['layer 8'] == 2 == tactics['layer 41'])")
    arguments = ("--build", "cp {replay} {engine}", "--check", f"{sys.executable} check.py {{engine}}")
    done = bench.run(*TACTICS, *arguments, mode="tactics")
    assert done.returncode == 0, done.stderr
    assert bench.culprits() == [["layer 8", "layer 41"]]
    assert len(bench.folders()) <= 2 + 1 + 2 * (6 + 1) + 4  # second looks: alone, without each member, the rest
    fixed = load_replay(str(bench.out / "fixed" / "replay.json"))
    assert sorted(entry.layer for entry in fixed.entries if entry.tactic == 1) == ["layer 41", "layer 8"]
    for side in ("good", "bad"):
        assert load_side(str(bench.out), side, max_bytes=1 << 20).skipped == ()
    onward = bench.run("--good", "out", "--bad", "out", *arguments, "--artifacts-dir", "again", mode="tactics")
    assert onward.returncode == 0, onward.stderr
    assert "differ in the fewest layers" in onward.stderr


@pytest.mark.slow
def test_a_mix_that_is_refused_is_no_vote(bench: Bench) -> None:
    """Layers 10 and 11 must come from one side; layer 11 alone is what is bad."""
    write_replays(bench.folder, 30)
    (bench.folder / "build.py").write_text(f"{READ}99 if tactics['layer 10'] != tactics['layer 11'] else 0)")
    (bench.folder / "check.py").write_text(f"{READ}tactics['layer 11'] == 2)")
    python = sys.executable
    build, check = f"{python} build.py {{replay}}", f"{python} check.py {{replay}}"
    done = bench.run(*TACTICS, "--build", build, "--check", check, mode="tactics")
    assert bench.result()["unresolved"], done.stderr
    named = {name for found in bench.culprits() for name in found} | set(bench.result()["suspects"])
    assert named == {"layer 10", "layer 11"}


@pytest.mark.slow
def test_what_could_not_be_judged_is_built_again_if_asked_for(bench: Bench) -> None:
    commands = ("--build", f"test -e {bench.flag('ok')} || exit 9", "--check", "! grep -qx item3 {items}")
    bench.run(*commands)
    assert bench.result()["status"] == "inconclusive"
    assert "--retry-unresolved" in bench.result()["why"]
    (bench.folder / "ok").touch()
    bench.run(*commands)
    assert bench.result()["status"] == "inconclusive"
    assert bench.run(*commands, "--retry-unresolved").returncode == 0
    assert bench.culprits() == [["item3"]]


def test_a_broken_link_for_a_directory_is_refused_and_a_good_one_goes_on(bench: Bench) -> None:
    (bench.folder / "out").symlink_to(bench.folder / "away" / "real")
    refused = bench.run("--check", bad_if("item7"))
    assert refused.returncode == 2
    assert "broken link" in refused.stderr
    assert refused.stderr.count("\n") == 1
    (bench.folder / "away" / "real").mkdir(parents=True)
    assert bench.run("--check", bad_if("item7")).returncode == 0
    builds = len(bench.events())
    (bench.folder / "away").rename(bench.folder / "moved")
    (bench.folder / "out").unlink()
    (bench.folder / "out").symlink_to("moved/../moved/real")
    assert bench.run("--check", bad_if("item7")).returncode == 0
    assert bench.culprits() == [["item7"]]
    assert len(bench.events()) == builds + 1


SLOW_SEARCH = """
import pathlib, sys
from trtforensics.bisection.search import Search
from trtforensics.cli import main

def planning(self):
    pathlib.Path("planning").touch()
    while True:
        sum(range(1000))
    yield

Search._look_at_rest = planning
sys.exit(main(sys.argv[1:]))
"""
"""The command with a search that computes without end before it asks for the rest."""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_search_that_computes(bench: Bench, number: signal.Signals) -> None:
    _, _, *arguments = bench.command("--check", bad_if("item7"))[1:]
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_SEARCH, *arguments], cwd=bench.folder, stderr=subprocess.PIPE, text=True
    )
    until((bench.folder / "planning").exists)
    process.send_signal(number)
    _, errors = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130, errors
    assert "To go on where it stopped, run `trtforensics bisect items" in errors
    assert (bench.result()["status"], bench.result()["why"]) == ("inconclusive", "the search has not ended")
    asked = {probe["probe"] for probe in bench.result()["probes"]}
    assert bench.run("--check", bad_if("item7")).returncode == 0
    assert bench.culprits() == [["item7"]]
    assert bench.result()["reused"] == len(asked)
