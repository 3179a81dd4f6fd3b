"""What must hold for any bytes: one sentence or a whole result, and counts that add up."""

from __future__ import annotations

import io
import json
import os
import signal
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trtforensics.engines.facts import EngineFacts
from trtforensics.errors import ForensicsError
from trtforensics.graphs.build import BuildGraph
from trtforensics.graphs.drawing import Colouring, drawn
from trtforensics.graphs.export import GraphForm, export, without_secrets
from trtforensics.graphs.netron import to_onnx
from trtforensics.graphs.views import View, viewed
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
"""Processor seconds, more than any input of a fuzzer takes; a machine that is busy with other things adds none."""

STUCK_S = 120
"""Seconds after which an input hangs that takes no processor."""


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
        graph = BuildGraph(EngineFacts(build))
        for form in (GraphForm.JSON, GraphForm.GRAPHML, GraphForm.DOT):
            assert b"".join(export(graph.graph, form))
        if graph.layers_by_node:
            to_onnx(graph)
            drawn(without_secrets(viewed(graph, View.ENGINE)), Colouring.PRECISION, "")


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
    def give_up(number: int, _: FrameType | None) -> None:
        limit = f"{PATIENCE_S} processor seconds" if number == signal.SIGPROF else f"{STUCK_S} s"
        raise HungError(f"not done after {limit} (process {os.getpid()})")

    limits = (signal.SIGPROF, signal.ITIMER_PROF, PATIENCE_S), (signal.SIGALRM, signal.ITIMER_REAL, STUCK_S)
    before = [signal.signal(number, give_up) for number, _, _ in limits]
    for _, timer, limit in limits:
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for (number, timer, _), handler in zip(limits, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)
