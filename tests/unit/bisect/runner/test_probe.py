"""One probe: what its end says, what stays of its output, which words of a command are replaced."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trtforensics.bisect.runner import command, leftovers
from trtforensics.bisect.runner.capture import TAIL, Capture
from trtforensics.bisect.runner.command import Ended, Urgency
from trtforensics.bisect.runner.placeholders import fill, mentions, unknown
from trtforensics.bisect.runner.probe import ProbeOutcome, ProbeSpec, describe, judge_status, run_probe
from trtforensics.bisect.runner.watchdog import SESSION, carrying, guarded
from trtforensics.bisect.search import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="probes run on Linux only")


@pytest.fixture
def probe(tmp_path: Path) -> Callable[..., ProbeOutcome]:
    """Run a probe in a folder of its own."""

    def go(
        build: str | None, check: str | None, halt: Callable[[], Urgency] | None = None, **more: object
    ) -> ProbeOutcome:
        values = {"dir": str(tmp_path), "engine": str(tmp_path / "engine"), "items": str(tmp_path / "it's items")}
        spec = ProbeSpec(str(tmp_path), str(tmp_path), build, check, values, **more)  # type: ignore[arg-type]
        return run_probe(spec, halt or (lambda: Urgency.GO_ON))

    return go


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (0, Verdict.GOOD),
        (1, Verdict.BAD),
        (124, Verdict.BAD),
        (125, Verdict.UNRESOLVED),
        (126, Verdict.UNRESOLVED),
        (127, Verdict.UNRESOLVED),
        (128, Verdict.UNRESOLVED),
        (255, Verdict.UNRESOLVED),
        (-9, Verdict.UNRESOLVED),
    ],
)
def test_exit_statuses_and_signals(status: int, verdict: Verdict) -> None:
    assert judge_status(Ended(status, 1.0, 0))[0] is verdict


def test_a_check_that_ended_after_its_timeout_is_unresolved() -> None:
    assert judge_status(Ended(0, 1.0, 0, timed_out=True))[0] is Verdict.UNRESOLVED


def test_ends_in_words() -> None:
    assert describe(Ended(-11, 1.0, 0)) == "died by SIGSEGV"
    assert describe(Ended(139, 1.0, 0)) == "exit status 139 (SIGSEGV)"
    assert describe(Ended(255, 1.0, 0)) == "exit status 255 (signal 127)"
    assert describe(Ended(127, 1.0, 0)) == "exit status 127 (the command is not found)"


@pytest.mark.parametrize(
    ("build", "check", "bad", "verdict"),
    [
        ("true", None, False, Verdict.GOOD),
        ("exit 3", None, False, Verdict.BAD),
        ("kill -9 $$", None, False, Verdict.UNRESOLVED),
        ("kill -9 $$", None, True, Verdict.BAD),
        ("exit 3", "true", False, Verdict.UNRESOLVED),
        ("exit 3", "true", True, Verdict.BAD),
        ("true", "exit 3", True, Verdict.BAD),
        ("true", "ls {engine}", False, Verdict.UNRESOLVED),
        ("touch {engine}", "ls {engine}", False, Verdict.GOOD),
        (None, "exit 3", False, Verdict.BAD),
    ],
)
def test_build_and_check_together(
    probe: Callable[..., ProbeOutcome], build: str | None, check: str | None, *, bad: bool, verdict: Verdict
) -> None:
    assert probe(build, check, build_failure_is_bad=bad).verdict is verdict


def test_values_are_quoted_and_in_the_environment(probe: Callable[..., ProbeOutcome], tmp_path: Path) -> None:
    probe(None, 'printf "%s\\n" {items} "$TRTFORENSICS_ITEMS" {other} "${HOME+x}"')
    same = str(tmp_path / "it's items")
    assert (tmp_path / "check.log").read_text().splitlines() == [same, same, "{other}", "x"]


def test_which_placeholders_a_command_uses() -> None:
    assert fill("a {engine} {items} {}", {"engine": "/x y"}) == "a '/x y' {items} {}"
    assert mentions("run {engine}", "engine")
    assert mentions("run $TRTFORENSICS_ENGINE", "engine")
    assert not mentions("run engine $TRTFORENSICS_ENGINES", "engine")
    assert unknown("{replay} {items} {log} {replay} {nonsense}", frozenset({"items", "log"})) == ["replay"]


def test_checks_go_on_as_long_as_they_agree(probe: Callable[..., ProbeOutcome], tmp_path: Path) -> None:
    agree = probe("true", "true", checks=3)
    assert (agree.verdict, len(agree.checks)) == (Verdict.GOOD, 3)
    assert (tmp_path / "check-3.log").exists()
    flip = probe("true", "echo >> n; test $(wc -l < n) -ne 2", checks=5)
    assert (flip.verdict, len(flip.checks)) == (Verdict.UNRESOLVED, 2)
    assert flip.reason.startswith("flaky")


@pytest.fixture
def deaf() -> Iterator[None]:
    """Let processes ignore SIGINT and SIGTERM from their start on: they inherit that."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("deaf")
def test_one_who_will_not_end_is_killed(probe: Callable[..., ProbeOutcome], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "GRACE_S", 0.1)
    outcome = probe("exec sleep 600", None, timeout=0.1)
    assert outcome.build is not None
    assert outcome.build.status == -9
    assert outcome.timed_out
    assert outcome.verdict is Verdict.UNRESOLVED


@pytest.mark.parametrize(("urgency", "status"), [(Urgency.END, -2), (Urgency.NOW, -9)])
def test_a_stopped_probe_has_no_verdict(
    probe: Callable[..., ProbeOutcome], tmp_path: Path, urgency: Urgency, status: int
) -> None:
    up = tmp_path / "up"
    outcome = probe("echo > up; exec sleep 60", "true", lambda: urgency if up.exists() else Urgency.GO_ON)
    assert outcome.verdict is None
    assert outcome.build is not None
    assert outcome.build.status == status


def test_a_small_output_is_kept_whole(tmp_path: Path) -> None:
    capture = Capture(tmp_path / "log", TAIL + 100)
    pieces = [bytes([65 + n]) * 64 for n in range(3)]
    for piece in pieces:
        capture.write(piece)
    capture.finish()
    capture.close()
    assert (tmp_path / "log").read_bytes() == b"".join(pieces)


def test_of_a_large_output_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
    capture = Capture(tmp_path / "log", TAIL + 100)
    data = os.urandom(1000)
    for _ in range(5000):
        capture.write(data)
    capture.finish()
    capture.close()
    kept = (tmp_path / "log").read_bytes()
    head, _, tail = kept.partition(b"\n[trtforensics: ")
    count, _, tail = tail.partition(b" bytes of output left out here]\n")
    assert head == data[:100]
    assert (data * 5000).endswith(tail)
    assert len(tail) >= TAIL
    assert len(head) + len(tail) + int(count.replace(b",", b"")) == capture.bytes == 5_000_000


def test_a_full_disk_is_an_error_and_leaves_no_process(probe: Callable[..., ProbeOutcome], tmp_path: Path) -> None:
    """`/dev/full` in place of the log: every write to it fails."""
    (tmp_path / "build.log").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        probe("echo text; exec sleep 60", None)
    assert not [child for child in leftovers._children() if _cwd(child) == tmp_path]


def test_the_watchdog_ends_what_carries_the_token() -> None:
    with guarded() as token:
        child = os.posix_spawn("/bin/sleep", ["sleep", "60"], {SESSION: token})
        while carrying(token) != [child]:  # until it has become `sleep`
            time.sleep(0.01)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -9


def _cwd(process: int) -> Path | None:
    try:
        return Path(f"/proc/{process}/cwd").readlink()
    except OSError:
        return None
