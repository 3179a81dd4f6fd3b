"""``report`` on excerpts: through a pipe, quoted, and texts that have nothing to do with TensorRT."""

from __future__ import annotations

import subprocess
import sys

QUOTED = """> [11/21/2026-07:52:04] [E] 1: Serialization (Size specified in header does not match archive size)
> [11/21/2026-07:52:05] [E] [runtime.cpp::deserializeCudaEngine::50] Internal Error (Engine deserialization failed.)
"""


def report(text: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "trtforensics", "report", "-v", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def test_a_quoted_paste_is_named_as_one_and_diagnosed() -> None:
    done = report(QUOTED)
    assert done.returncode == 0, done.stderr
    assert "read as an excerpt: quoted with >" in done.stdout
    assert "TF630" in done.stdout


def test_a_traceback_that_names_tensorrt_is_an_excerpt() -> None:
    done = report("Traceback (most recent call last):\nModuleNotFoundError: No module named 'tensorrt'\n")
    assert done.returncode == 0, done.stderr
    assert "TF657" in done.stdout


def test_a_text_without_anything_of_tensorrt_is_refused() -> None:
    done = report("Dear all,\nthe meeting is at nine. It was killed by the weather.\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
