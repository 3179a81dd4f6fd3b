"""Items of a file as a lever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trtforensics.bisect.levers.items import read_items
from trtforensics.errors import ForensicsError, SourceError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

MAX = 1 << 20


def test_items_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "items"
    path.write_bytes(b"\xef\xbb\xbf# switches\r\n\r\n  one two \r\n#no\r\n-x=\xc3\xa9\r\n")
    lever = read_items(str(path), max_bytes=MAX)
    assert [item.name for item in lever.items] == ["one two", "-x=é"]
    assert lever.prepare(frozenset({1}), tmp_path)["items"].read_text(encoding="utf-8") == "-x=é\n"


@pytest.mark.parametrize(
    ("data", "error", "says"),
    [
        (b"# only\n\n", UsageError, "no items"),
        (b"a\nb\na\n", UsageError, "'a' more than once"),
        (b"a\n\xff\xfe\xfa\n", SourceError, "UTF-8"),
    ],
)
def test_bad_item_files(tmp_path: Path, data: bytes, error: type[ForensicsError], says: str) -> None:
    (tmp_path / "items").write_bytes(data)
    with pytest.raises(error, match=says):
        read_items(str(tmp_path / "items"), max_bytes=MAX)
