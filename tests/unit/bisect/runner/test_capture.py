"""What is kept of the output of a command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trtforensics.bisect.runner.capture import TAIL, Capture

if TYPE_CHECKING:
    from pathlib import Path


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
