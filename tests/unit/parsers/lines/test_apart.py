"""Lines that another process scans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.repository import LOGS
from trtforensics.errors import SourceError
from trtforensics.parsers.lines import halves
from trtforensics.parsers.lines.apart import ScannerApart
from trtforensics.parsers.text.source import open_source
from trtforensics.parsers.text.windows import Window
from trtforensics.render.log_json import to_json
from trtforensics.sources.build_log import ReadingCancelled, read_build_log

if TYPE_CHECKING:
    from trtforensics.console.progress import Progress


@pytest.mark.parametrize("name", sorted(path.name for path in LOGS.glob("*.log")))
def test_a_log_is_the_same_whichever_process_scans_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(LOGS / name)
    here = read_build_log(open_source(path))
    monkeypatch.setattr(halves, "LEAST_BYTES", 1)
    shown: list[int] = []
    progress: list[Progress] = []
    apart = read_build_log(
        open_source(path, window_bytes=4096),
        on_window=lambda window: shown.append(window.count),
        on_progress=progress.append,
        apart=True,
    )
    assert to_json(apart) == to_json(here)
    assert sum(shown) == here.source.lines == progress[-1].lines
    assert progress[-1].bytes_done == here.source.bytes


def test_a_process_that_dies_is_an_error_of_the_source() -> None:
    with ScannerApart("build.log") as scanner:
        scanner._process.kill()
        scanner._process.wait()
        with pytest.raises(SourceError, match=r"build\.log: the process that reads it has ended too early"):
            scanner.feed(Window(1, 0, b"x\n" * 100_000))


def test_a_process_that_dies_at_the_end_is_one_too() -> None:
    with ScannerApart("build.log") as scanner:
        scanner._process.kill()
        scanner._process.wait()
        with pytest.raises(SourceError, match="ended too early"):
            scanner.scanned()


def test_the_process_ends_where_the_reading_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []
    leave = ScannerApart.__exit__

    def noted(self: ScannerApart, *how: object) -> None:
        leave(self, *how)
        ended.append(self._process.poll())

    monkeypatch.setattr(halves, "LEAST_BYTES", 1)
    monkeypatch.setattr(ScannerApart, "__exit__", noted)
    with pytest.raises(ReadingCancelled):
        read_build_log(open_source(str(next(LOGS.glob("*.log")))), cancelled=lambda: True, apart=True)
    assert ended[0] is not None
