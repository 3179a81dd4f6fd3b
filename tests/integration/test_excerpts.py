"""``report`` on excerpts: through a pipe, quoted, and texts that have nothing to do with TensorRT."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., subprocess.CompletedProcess[str]]

QUOTED = """> [11/21/2026-07:52:04] [E] 1: Serialization (Size specified in header does not match archive size)
> [11/21/2026-07:52:05] [E] [runtime.cpp::deserializeCudaEngine::50] Internal Error (Engine deserialization failed.)
"""


def of_file(text: str, run: Run, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "paste.txt"
    path.write_text(text, encoding="utf-8")
    return run("report", "-v", path)


def report(text: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "trtforensics", "report", "-v", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def test_a_quoted_paste_is_named_as_one_and_diagnosed() -> None:
    done = report(QUOTED)
    assert done.returncode == 0, done.stderr
    assert "read as an excerpt: quoted with >" in done.stdout
    assert "TF630" in done.stdout


def test_a_traceback_that_names_tensorrt_is_an_excerpt(run: Run, tmp_path: Path) -> None:
    done = of_file(
        "Traceback (most recent call last):\nModuleNotFoundError: No module named 'tensorrt'\n", run, tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "TF657" in done.stdout


def test_a_text_without_anything_of_tensorrt_is_refused(run: Run, tmp_path: Path) -> None:
    done = of_file("Dear all,\nthe meeting is at nine. It was killed by the weather.\n", run, tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
