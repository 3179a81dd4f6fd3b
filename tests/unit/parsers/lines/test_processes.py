"""Lines that another process scans."""

from __future__ import annotations

import io
import pickletools
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.repository import LOGS
from trtforensics.console.processes import StartedProcess
from trtforensics.errors import SourceError
from trtforensics.parsers.lines import processes
from trtforensics.parsers.lines.processes import scanning_process
from trtforensics.parsers.text.source import open_source
from trtforensics.parsers.text.windows import Window
from trtforensics.render.log_json import to_json
from trtforensics.sources.build_log import ReadingCancelled, read_build_log

if TYPE_CHECKING:
    from trtforensics.console.progress import Progress


NAMES = sorted(path.name for path in LOGS.glob("*.log"))


@pytest.mark.parametrize("name", [*NAMES[:2], *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[2:])])
def test_a_log_is_the_same_whichever_process_scans_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(LOGS / name)
    here = read_build_log(open_source(path))
    monkeypatch.setattr(processes, "LEAST_BYTES", 1)
    shown: list[int] = []
    progress: list[Progress] = []
    elsewhere = read_build_log(
        open_source(path, window_bytes=4096),
        on_window=lambda window: shown.append(window.count),
        on_progress=progress.append,
        responsive=True,
    )
    assert to_json(elsewhere) == to_json(here)
    assert sum(shown) == here.source.lines == progress[-1].lines
    assert progress[-1].bytes_done == here.source.bytes


def test_a_process_that_dies_is_an_error_of_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with (
        scanning_process("build.log") as process,
        pytest.raises(SourceError, match=r"build\.log: the process that reads it has ended too early"),
    ):
        process.feed(Window(1, 0, b"x\n" * 100_000))


def test_a_process_that_dies_at_the_end_is_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with scanning_process("build.log") as process, pytest.raises(SourceError, match="ended too early"):
        process.scanned()


def test_the_process_ends_where_the_reading_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Noted(StartedProcess):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)

    monkeypatch.setattr(processes, "LEAST_BYTES", 1)
    monkeypatch.setattr("trtforensics.console.processes.StartedProcess", Noted)
    with pytest.raises(ReadingCancelled):
        read_build_log(open_source(str(next(LOGS.glob("*.log")))), cancelled=lambda: True, responsive=True)
    assert [process.returncode is not None for process in started] == [True]


@pytest.mark.parametrize("least", [1, processes.LEAST_BYTES])
def test_a_log_that_is_being_put_together_can_be_cancelled(least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "LEAST_BYTES", least)
    windows: list[Window] = []
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(len(windows))
        return len(asked) > len(windows) + 5

    with pytest.raises(ReadingCancelled):
        read_build_log(
            open_source(str(next(LOGS.glob("*.log")))), on_window=windows.append, cancelled=cancelled, responsive=True
        )
    assert len(asked) == len(windows) + 6


def test_what_is_sent_is_remembered_on_neither_side() -> None:
    """Pickle's memo would keep a copy of each column, here and there, until the last is sent."""
    pipe = io.BytesIO()
    with open_source(str(min(LOGS.glob("*.log")))) as source:
        processes._send(source.windows(), pipe)
    assert not {code.name for code, *_ in pickletools.genops(pipe.getvalue())} & {"MEMOIZE", "BINPUT", "LONG_BINPUT"}
