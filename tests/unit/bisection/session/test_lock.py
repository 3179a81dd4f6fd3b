"""The lock of an artifacts directory: one process holds it, and none after a crash."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from trtforensics.bisection.session.artifacts import holder_of, locked
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_lock_is_held_by_one_and_by_nobody_after_a_crash(tmp_path: Path) -> None:
    script = (
        "import os, pathlib, sys; from trtforensics.bisection.session.artifacts import locked\n"
        "with locked(pathlib.Path(sys.argv[1])): print('held', flush=True); sys.stdin.read(1); os._exit(9)"
    )
    line = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        assert holder_of(tmp_path).startswith(f"process {other.pid} on ")
        with pytest.raises(UsageError, match=f"in use by process {other.pid}"), locked(tmp_path):
            pass
        other.communicate(b"x")
    assert (tmp_path / ".lock").read_text()  # it crashed: its name is still there, its lock is not
    assert holder_of(tmp_path) == ""
    with locked(tmp_path):
        assert holder_of(tmp_path).startswith(f"process {os.getpid()} on ")
    assert holder_of(tmp_path) == ""
