"""A command is ended in time, and leaves no process."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trtforensics.bisect.runner import command, leftovers
from trtforensics.bisect.runner.command import Urgency
from trtforensics.bisect.search import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trtforensics.bisect.runner.probe import ProbeOutcome

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


def test_a_full_disk_is_an_error_and_leaves_no_process(probe: Callable[..., ProbeOutcome], tmp_path: Path) -> None:
    """`/dev/full` in place of the log: every write to it fails."""
    (tmp_path / "build.log").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        probe("echo text; exec sleep 60", None)
    assert not [child for child in leftovers._children() if _cwd(child) == tmp_path]


def _cwd(process: int) -> Path | None:
    try:
        return Path(f"/proc/{process}/cwd").readlink()
    except OSError:
        return None
