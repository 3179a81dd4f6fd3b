"""What must hold for any bytes: one sentence or a whole result, and counts that add up."""

from __future__ import annotations

import io
import json
import os
import signal
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trtforensics.errors import ForensicsError
from trtforensics.graph.build import build_graph
from trtforensics.graph.drawing import Drawing, drawn
from trtforensics.graph.export import DATA_FORMS, export, without_secrets
from trtforensics.graph.netron import to_onnx
from trtforensics.graph.views import View, viewed
from trtforensics.parsers.lines.scanner import Scanner
from trtforensics.parsers.text.source import open_source
from trtforensics.render.log_json import to_json
from trtforensics.render.log_text import summarise
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from trtforensics.model.log import BuildLog

PATIENCE_S = 10
"""More than any input of a fuzzer takes, even on a machine that is busy with other things."""


class HungError(AssertionError):
    """An input took longer than the patience."""


def check(data: bytes) -> str:
    """Take some bytes the whole way; return ``refused`` or ``read``.

    Raises:
        AssertionError: something that must hold does not, or it takes too long.
        Exception: whatever a bug raises.
    """
    with tempfile.NamedTemporaryFile(suffix=".log") as file, patience():
        file.write(data)
        file.flush()
        _same_without_bulk(file.name)
        try:
            log = load_build_log([file.name])
        except ForensicsError:
            return "refused"
        assert log.source.bytes == len(data)
        _adds_up(log)
        _renders(log)
    return "read"


def _adds_up(log: BuildLog) -> None:
    assert log.lines.total == log.source.lines == len(log.line_starts)
    first_lines = [build.first_line for build in log.builds]
    assert first_lines == [1, *(build.last_line + 1 for build in log.builds[:-1])]
    assert log.builds[-1].last_line == log.source.lines


def _renders(log: BuildLog) -> None:
    _strict(to_json(log))
    assert not any(ord(c) < ord(" ") and c != "\n" for c in summarise(log))
    for build in log.builds:
        graph = build_graph(build)
        for form in DATA_FORMS:
            assert b"".join(export(graph.graph, form))
        if graph.engine_layers():
            to_onnx(graph)
            drawn(without_secrets(viewed(graph, View.ENGINE)), Drawing())


def _strict(text: str) -> None:
    def refuse(constant: str) -> float:
        raise AssertionError(f"{constant} is no JSON")

    json.load(io.StringIO(text), parse_constant=refuse)


def _same_without_bulk(path: str) -> None:
    """Hold reading in bulk equal to the regex a line."""
    scanners = Scanner(), Scanner(bulk=False)
    for scanner in scanners:
        with open_source(path) as source:
            try:
                for window in source.windows():
                    scanner.feed(window)
            except ForensicsError:
                return  # damaged as a whole: an encoding that breaks off
    bulk, alone = (scanner.scanned for scanner in scanners)
    assert bulk.counts == alone.counts
    assert bulk.events.sizes() == alone.events.sizes()


@contextmanager
def patience() -> Iterator[None]:
    def give_up(_: int, __: FrameType | None) -> None:
        raise HungError(f"not done after {PATIENCE_S} s (process {os.getpid()})")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
