"""A helper is ended where its start is refused, where it takes too long, and where reading it fails."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.faults import Refusals
from trtforensics.console.processes import completed

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="children are listed as Linux does it")


@pytest.fixture(autouse=True)
def no_child_is_left() -> Iterator[None]:
    before = _children()
    yield
    assert _children() == before


def test_a_helper_reads_its_input_and_its_output_comes_back() -> None:
    done = completed(["/bin/sh", "-c", "cat; echo more >&2; exit 3"], b"text")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"text", b"more\n")
    assert completed(["/bin/cat"]).stdout == b""


def test_a_helper_that_takes_too_long_is_ended() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        completed(["/bin/sleep", "60"], timeout=0.05)


def test_whatever_call_is_refused_a_helper_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _children()
    refusals = Refusals(monkeypatch)
    refused: list[str] = []
    while True:
        with refusals.refuse(len(refused) + 1, errno.EIO):
            try:
                completed(["/bin/sh", "-c", "read line; echo >&1; exec sleep 60 >&-"], b"x\n", timeout=0.05)
            except (OSError, subprocess.TimeoutExpired):
                pass
            finally:
                count = refusals.count
        assert _children() == before, refusals.refused
        if count <= len(refused):
            break
        refused.append(refusals.refused)
    assert {"pipe", "fork_exec", "read"} <= {*refused}


def _children() -> list[int]:
    threads = Path("/proc/self/task").iterdir()
    return [int(child) for thread in threads for child in (thread / "children").read_text().split()]
