"""Verdicts of earlier runs: a search that goes on while its check changes comes to what a new one comes to."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.property_settings import examples
from trtforensics.bisection.levers.items import ItemsLever
from trtforensics.bisection.runner.command import Ended
from trtforensics.bisection.runner.probe import ProbeOutcome
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.search import Search, Verdict
from trtforensics.bisection.session import session
from trtforensics.bisection.session.bisection import bisect
from trtforensics.bisection.session.history import History, JobKey
from trtforensics.bisection.session.job import digest, key_of, read_job
from trtforensics.bisection.session.journal import Journal, read_events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.bisection.runner.command import Urgency
    from trtforensics.bisection.runner.probe import ProbeSpec
    from trtforensics.bisection.session.answer import SearchAnswer

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="probes run on Linux only")

COUNT = 8
FILES = ("check.sh", "golden.txt", "samples/0")
CHECK = "sh check.sh --golden=golden.txt samples $LIMIT {engine}"


class Checks:
    """An executor in this process: the item is bad whose number is the sum of all that the check reads.

    ``wrote`` are the files that each probe changes, ``edits`` those that a user rewrites while a probe runs; ``ran``
    counts the checks.
    """

    room = 1

    def __init__(self) -> None:
        self.ran = 0
        self.built = 0
        self.wrote: tuple[Path, ...] = ()
        self.edits: dict[int, tuple[str, str]] = {}

    def submit(self, spec: ProbeSpec, _judge: object) -> Future[ProbeOutcome]:
        """Build and check at once."""
        future: Future[ProbeOutcome] = Future()
        self.ran += 1
        if spec.build is not None:
            self.built += 1
            Path(spec.values["engine"]).write_text(Path(spec.values["items"]).read_text())
        if self.ran in self.edits:
            name, text = self.edits[self.ran]
            Path(name).write_text(text)
        for path in self.wrote:
            path.write_text(f"{path.read_text()}+")
        bad = f"item{culprit()}" in Path(spec.values["engine"]).read_text().split()
        ended = Ended(int(bad), 0.0, 0)
        built = None if spec.build is None else Ended(0, 0.0, 0)
        future.set_result(ProbeOutcome(Verdict.BAD if bad else Verdict.GOOD, "check", built, (ended,)))
        return future

    def halt(self, urgency: Urgency) -> None:
        """Do nothing: every probe has ended."""

    def signal(self, number: int) -> None:
        """Do nothing, as above."""

    def close(self) -> None:
        """Do nothing, as above."""


def culprit() -> int:
    return (sum(int(Path(name).read_text()) for name in FILES) + int(os.environ["LIMIT"])) % COUNT


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Checks:
    executor = Checks()

    def made(_options: RunOptions) -> Checks:
        return executor

    monkeypatch.setattr(session, "make_executor", made)
    return executor


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    before = Path.cwd()
    begin(tmp_path)
    yield tmp_path
    os.chdir(before)
    del os.environ["LIMIT"]


def begin(folder: Path) -> None:
    """Go into a folder, and write what the check reads."""
    os.chdir(folder)
    for name in FILES:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("0")
    os.environ["LIMIT"] = "0"


OPTIONS = RunOptions(build="make", check=CHECK)


def search(out: str, options: RunOptions = OPTIONS) -> SearchAnswer:
    lever = ItemsLever([f"item{number}" for number in range(COUNT)])
    plan = Search(lever.items, max_builds=options.max_builds)
    return bisect(Path(out), lever, plan, options, lambda _: None)[0]


CHANGES = st.sampled_from([*FILES, "$LIMIT", "--repeat", "nothing"])
STEPS = st.lists(st.tuples(CHANGES, st.integers(0, 3), st.integers(1, 20)), min_size=1, max_size=6)


@examples(20)
@given(steps=STEPS, keep=st.booleans())
def test_going_on_comes_to_what_a_new_search_comes_to(steps: list[tuple[str, int, int]], *, keep: bool) -> None:
    """Between runs that end early anything changes, back to an earlier content too."""
    patch = pytest.MonkeyPatch()
    executor = Checks()
    patch.setattr(session, "make_executor", lambda _: executor)
    for name in ("fsync", "fdatasync"):  # nothing is killed here
        patch.setattr(os, name, lambda _: None)
    options = replace(OPTIONS, keep_engines="all" if keep else "none")
    with tempfile.TemporaryDirectory() as scratch, patch.context():
        begin(Path(scratch))
        for change, value, builds in steps:
            if change in FILES:
                Path(change).write_text(str(value))
            elif change == "$LIMIT":
                os.environ["LIMIT"] = str(value)
            elif change == "--repeat":
                options = replace(options, repeat=value + 1)
            search("out", replace(options, max_builds=builds))
        resumed, new = search("out", options), search("new", options)
        assert (resumed.status, resumed.culprits) == (new.status, new.culprits)
        assert [member.item for members in new.culprits for member in members] == [f"item{culprit()}"]
        before = executor.ran
        again = search("out", options)
        assert (executor.ran, again.verdicts.again, again.verdicts.reused) == (before, (), len(again.probes))
    patch.undo()


def test_a_file_that_each_probe_changes_is_theirs(checks: Checks) -> None:
    """A build's and a check's own notes make neither another job nor another check; one change is no such note."""
    options = replace(OPTIONS, build="make notes.txt", check=f"{CHECK} log.txt")
    for name in ("notes.txt", "log.txt"):
        Path(name).write_text("")
    checks.wrote = (Path("notes.txt"), Path("log.txt"))
    first = search("out", options)
    ran = checks.ran
    again = search("out", options)
    assert (checks.ran, again.verdicts.reused) == (ran, len(first.probes))
    checks.wrote = ()
    Path("golden.txt").write_text("1")
    assert search("out", options).culprits != first.culprits
    Path("log.txt").write_text("edited")
    why = [each.why for each in search("out", options).verdicts.again]
    assert why == ["log.txt of the check changed"]  # the probes of the second run left it as it was


def test_what_was_edited_while_probes_ran_is_not_known_to_have_judged_them(checks: Checks) -> None:
    """The content that the run began with comes back, so that nothing but the edit itself tells of it."""
    checks.edits = {3: ("golden.txt", "12")}
    search("out")
    Path("golden.txt").write_text("0")
    again = search("out")
    assert again.culprits == search("new").culprits
    assert [each.why for each in again.verdicts.again] == ["golden.txt changed, or could not be read, while probes ran"]
    assert again.verdicts.reused == 2


def test_a_directory_of_an_earlier_version_goes_on(checks: Checks) -> None:
    """It notes neither what its verdicts depend on nor which files its builds read: all is built once more."""
    Path("model.onnx").write_text("weights")
    options = replace(OPTIONS, build="make model.onnx", keep_engines="all")
    first = search("out", options)
    as_of_0_2_0(Path("out"))
    ran, built = checks.ran, checks.built
    again = search("out", options)
    assert (again.status, again.culprits) == (first.status, first.culprits)
    assert (checks.ran - ran, checks.built - built) == (len(first.probes), len(first.probes))
    assert [each.why for each in again.verdicts.again] == ["they are of an earlier version of trtforensics"]
    ran = checks.ran
    assert search("out", options).verdicts.again == ()
    assert checks.ran == ran


def test_kept_builds_of_an_earlier_version_are_checked_alone_where_their_files_are_known(checks: Checks) -> None:
    options = replace(OPTIONS, keep_engines="all")
    first = search("out", options)
    as_of_0_2_0(Path("out"))
    built = checks.built
    again = search("out", options)
    assert (again.culprits, checks.built) == (first.culprits, built)
    assert again.verdicts.reused == 0


def as_of_0_2_0(out: Path) -> None:
    """Write a directory as that version did: programs alone, and no parts of judgements."""
    job = read_job(out)
    events = list(read_events(out, key_of(job)))
    del job["build_inputs"]
    job |= {"schema": 2, "build_programs": {}}
    (out / "job.json").write_text(json.dumps({**job, "sum": digest(job)[:16]}))
    (out / "journal.jsonl").unlink()
    with Journal(out, JobKey(str(job["fingerprint"]), COUNT)) as journal:
        for event in events:
            kept = {
                name: value for name, value in event.items() if name not in {"line", "job", "at", "parts", "inputs"}
            }
            judged = {"judge": "0123456789abcdef"} if "judge" in kept else {}
            journal.write(**{**kept, **judged})  # type: ignore[arg-type]
        assert isinstance(journal.history, History)
