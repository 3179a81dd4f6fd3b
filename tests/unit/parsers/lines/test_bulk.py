"""The kinds that fill logs are read in bulk: a slow path would give the same events and nobody would notice."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from trtforensics.parsers.lines.bulk import BulkReader
from trtforensics.parsers.lines.scanner import Scanner
from trtforensics.parsers.text.source import open_source
from trtforensics.parsers.text.windows import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from trtforensics.parsers.lines.prefixes import KindRows

    _Stage = Callable[..., Iterator[KindRows]]


def _counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str | None]:
    """Count what is read in bulk from now on, by kind."""
    found: Counter[str | None] = Counter()

    def counting(stage: _Stage) -> _Stage:
        def counted(*arguments: object) -> Iterator[KindRows]:
            for one in stage(*arguments):
                found[one.kind] += len(one.lines)
                yield one

        return counted

    for stage in (BulkReader.read_opened, BulkReader.read_free):
        monkeypatch.setattr(BulkReader, stage.__name__, counting(stage))
    return found


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("emulated-trtexec-8.6.log", ("tactic_timed", "timing_runner", "node_inputs", "layer_short")),
        ("emulated-trtexec-10.16-three-passes.log", ("tactic_timed", "timing_runner", "myelin_row")),
    ],
)
def test_nearly_all_rows_of_a_bulk_kind_are_read_in_bulk(
    name: str, kinds: tuple[str, ...], samples: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _counted(monkeypatch)
    scanner = Scanner()
    with open_source(str(next(path for path in samples if path.name == name))) as source:
        for window in source.windows():
            scanner.feed(window)
    for kind in kinds:
        assert found[kind] > 0.9 * scanner.scanned.events.sizes()[kind] > 0, kind


_CACHED = "%s [%s -> Float(1,2)] got cached result: Reformat, tactic 0x{0:016x}, 0.{0} ms"


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("cached_result", _CACHED % ("(Unnamed Layer* {0}) [Shuffle]", "Float(2,1)")),
        ("cached_result", _CACHED % ("Reformat(x_{0} -> [y])", "Float((# 1 (SHAPE x)),1)")),
    ],
)
def test_no_line_of_a_bulk_kind_is_left_for_its_regex(kind: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _counted(monkeypatch)
    scanner = Scanner()
    text = "".join(f"[V] [TRT] {line.format(number)}\n" for number in range(20))
    scanner.feed(Window(1, 0, text.encode()))
    assert found == {kind: 20}
    assert scanner.scanned.counts.unknown == 0
