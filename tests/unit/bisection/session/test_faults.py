"""Each operation on files fails once, and with all that follow: the next run comes to the same answer, or refuses."""

from __future__ import annotations

import errno
import json
import random
import shutil
import sys
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.faults import Faults, first_and_last
from trtforensics.bisection.levers.items import ItemsLever
from trtforensics.bisection.runner.command import Ended
from trtforensics.bisection.runner.probe import ProbeOutcome
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.search import Search, Verdict
from trtforensics.bisection.session import session
from trtforensics.bisection.session.bisection import bisect
from trtforensics.errors import ForensicsError

if TYPE_CHECKING:
    from trtforensics.bisection.runner.command import Urgency
    from trtforensics.bisection.runner.probe import ProbeSpec
    from trtforensics.bisection.runner.run_options import KeepEngines

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="probes run on Linux only")

ITEMS = [f"item{number}" for number in range(6)]
OPERATIONS = 80
"""More than this many operations change files in a run: else the shim counts too few."""


class Builder:
    """An executor in this process: a build copies the active names into the engine, a check looks for one of them.

    ``builds`` are the folders that were built, in order.
    """

    room = 2

    def __init__(self, faults: Faults) -> None:
        self.builds: list[str] = []
        self._faults = faults

    def submit(self, spec: ProbeSpec, _judge: object) -> Future[ProbeOutcome]:
        """Build and check at once."""
        future: Future[ProbeOutcome] = Future()
        with self._faults.paused():
            future.set_result(self._run(spec))
        return future

    def _run(self, spec: ProbeSpec) -> ProbeOutcome:
        engine, built = Path(spec.values["engine"]), None
        if spec.build is not None:
            engine.write_bytes(Path(spec.values["items"]).read_bytes())
            self.builds.append(Path(spec.folder).name)
            built = Ended(0, 0.0, 0)
        bad = str(spec.check).split()[0] in engine.read_text().split()
        checks = (Ended(int(bad), 0.0, 0),)
        return ProbeOutcome(Verdict.BAD if bad else Verdict.GOOD, "check", built, checks)

    def halt(self, urgency: Urgency) -> None:
        """Do nothing: every probe has ended."""

    def signal(self, number: int) -> None:
        """Do nothing, as above."""

    def close(self) -> None:
        """Do nothing, as above."""


class Run:
    """Bisections of six items in a folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, error: int) -> None:
        self.folder = folder
        self.faults = Faults(monkeypatch, error)
        self.builder = Builder(self.faults)
        monkeypatch.setattr(session, "make_executor", lambda _options: self.builder)
        monkeypatch.setattr(session, "end_orphans", lambda _directory: [])

    def go(self, culprit: str, keep: KeepEngines) -> list[str]:
        """Bisect, and return the culprits; a check is its culprit's name."""
        lever = ItemsLever(ITEMS)
        options = RunOptions(build="build", check=f"{culprit} {{engine}}", keep_engines=keep, jobs=2)
        answer, _ = bisect(self.folder, lever, Search(lever.items), options, lambda _text: None)
        assert answer.certified
        return [member.item for members in answer.culprits for member in members]

    def missing_links(self) -> list[str]:
        """Return the judged probes that have no link in the folder of their verdict."""
        probes = json.loads((self.folder / "result.json").read_text())["probes"]
        links = [self.folder / probe["verdict"] / f"{Path(probe['folder']).name}.txt" for probe in probes]
        assert len(links) > len("ab")
        return [link.name for link in links if not link.exists()]


@pytest.mark.slow
@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize(("keep", "again"), [("none", False), ("bad", True)], ids=["first run", "another check"])
def test_whatever_fails_the_next_run_comes_to_the_same_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: KeepEngines, *, for_good: bool, again: bool
) -> None:
    """A run with another check builds most probes again: that is where an engine may be half-written."""
    run = Run(tmp_path / "out", monkeypatch, errno.ENOSPC if for_good else errno.EIO)
    if again:
        assert run.go("item5", keep) == ["item5"]
        shutil.copytree(run.folder, tmp_path / "before", symlinks=True)
    run.builder.builds.clear()
    with run.faults.armed():
        assert run.go("item2", keep) == ["item2"]
    builds = len(run.builder.builds)
    assert run.faults.count > OPERATIONS
    for number in first_and_last(run.faults.places):
        shutil.rmtree(run.folder)
        if again:
            shutil.copytree(tmp_path / "before", run.folder, symlinks=True)
        run.builder.builds.clear()
        with run.faults.armed(number, for_good=for_good), suppress(ForensicsError):
            assert run.go("item2", keep) == ["item2"]
        assert run.go("item2", keep) == ["item2"], number
        assert len(run.builder.builds) <= builds + Builder.room
        assert run.missing_links() == []
        assert not list(run.folder.rglob("*.tmp"))


@pytest.mark.slow
def test_200_changed_digits_give_no_wrong_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One digit of the journal, the job or the result is another: the same answer again, or one sentence."""
    run = Run(tmp_path / "out", monkeypatch, errno.EIO)
    run.go("item2", "all")
    before = tmp_path / "before"
    shutil.copytree(run.folder, before, symlinks=True)
    chance = random.Random(3)
    refused = 0
    for _ in range(200):
        name = chance.choice(("journal.jsonl", "journal.jsonl", "job.json", "result.json"))
        data = bytearray((before / name).read_bytes())
        place = chance.choice([place for place, byte in enumerate(data) if chr(byte).isdecimal()])
        data[place] = chance.choice([digit for digit in b"0123456789" if digit != data[place]])
        for file in ("journal.jsonl", "job.json", "result.json"):
            shutil.copyfile(before / file, run.folder / file)
        (run.folder / name).write_bytes(data)
        try:
            assert run.go("item2", "all") == ["item2"]
        except ForensicsError:
            refused += 1
            assert name != "result.json"
    assert refused > 100
