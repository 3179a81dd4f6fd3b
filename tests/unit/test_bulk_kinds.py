"""The kinds that fill logs are read in bulk: a slow path would give the same events and nobody would notice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trtforensics.parsers.bulk import BulkReader
from trtforensics.parsers.scanner import Scanner
from trtforensics.parsers.source import open_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from trtforensics.parsers.bulk import Found


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("emulated-trtexec-8.6.log", ("tactic_named", "tactic_timed", "timing_runner", "node_inputs", "layer_short")),
        ("emulated-trtexec-10.16-three-passes.log", ("tactic_named", "tactic_timed", "timing_runner", "myelin_row")),
    ],
)
def test_nearly_all_rows_of_a_bulk_kind_are_read_in_bulk(
    name: str, kinds: tuple[str, ...], samples: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = BulkReader.read
    found: dict[str, int] = {}

    def counted(reader: BulkReader, *arguments: object) -> Iterator[Found]:
        for one in read(reader, *arguments):  # type: ignore[arg-type]
            found[one.kind] = found.get(one.kind, 0) + len(one.lines)
            yield one

    monkeypatch.setattr(BulkReader, "read", counted)
    scanner = Scanner()
    with open_source(str(next(path for path in samples if path.name == name))) as source:
        for window in source.windows():
            scanner.feed(window)
    for kind in kinds:
        assert found.get(kind, 0) > 0.9 * scanner.events.sizes()[kind] > 0, kind
