"""A command is ended in time, and leaves no process."""

from __future__ import annotations

import errno
import inspect
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.faults import Refusals
from trtforensics.bisection.runner import command, leftovers
from trtforensics.bisection.runner.command import TAIL, Capture, Command, Urgency
from trtforensics.bisection.search import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trtforensics.bisection.runner.probe import ProbeOutcome

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="probes run on Linux only")


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


def test_a_full_disk_is_an_error_and_leaves_no_process(
    probe: Callable[..., ProbeOutcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`/dev/full` in place of the log: every write to it fails."""
    monkeypatch.setattr(command, "open_own", lambda _path, _flags: os.open("/dev/full", os.O_WRONLY))
    with pytest.raises(OSError, match="No space left"):
        probe("echo text; exec sleep 60", None)
    assert not [child for child in leftovers._children() if _cwd(child) == tmp_path]


def test_a_log_is_not_written_through_a_link(probe: Callable[..., ProbeOutcome], tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("precious")
    (tmp_path / "build.log").symlink_to("outside")
    with pytest.raises(OSError, match="symbolic link"):
        probe("echo text", None)
    assert (tmp_path / "outside").read_text() == "precious"


def test_whatever_call_is_refused_the_command_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leftovers.adopt_orphans()
    refusals, before = Refusals(monkeypatch), set(leftovers._children())
    line = Command("sleep 3; echo > late", str(tmp_path), os.environ, "A=1", tmp_path / "log", None, None, 1 << 20)
    refused: list[str] = []
    while True:
        with refusals.refuse(len(refused) + 1, errno.EIO):
            try:
                command.run(line, lambda: Urgency.NOW)
            except OSError:
                pass
            finally:
                count = refusals.count
        assert set(leftovers._children()) == before, refusals.refused
        assert not (tmp_path / "late").exists(), refusals.refused
        if count <= len(refused):
            break
        refused.append(refusals.refused)
    assert {"fork_exec", "read", "statvfs"} <= {*refused}


def test_a_command_whose_start_fails_after_all_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has begun and started another program when the call is refused that tells that it has begun."""
    leftovers.adopt_orphans()
    before, read = set(leftovers._children()), os.read

    def refused(descriptor: int, size: int) -> bytes:
        if command.__name__ in {frame.frame.f_globals["__name__"] for frame in inspect.stack()}:
            while not (tmp_path / "up").exists():
                time.sleep(0.01)
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return read(descriptor, size)

    monkeypatch.setattr(os, "read", refused)
    line = "sleep 60 & setsid sleep 60 & echo > up; wait"
    with pytest.raises(OSError, match="Input/output error"):
        command.run(
            Command(line, str(tmp_path), {**os.environ, "A": "1"}, "A=1", tmp_path / "log", None, None, 1 << 20),
            lambda: Urgency.GO_ON,
        )
    assert set(leftovers._children()) == before


def _cwd(process: int) -> Path | None:
    try:
        return Path(f"/proc/{process}/cwd").readlink()
    except OSError:
        return None


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
