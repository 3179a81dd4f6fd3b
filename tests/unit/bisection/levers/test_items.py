"""Items of a file as a lever."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtforensics.bisection.levers.items import read_items
from trtforensics.errors import ForensicsError, SourceError, UsageError

MAX = 1 << 20


def test_items_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "items"
    path.write_bytes(b"\xef\xbb\xbf# switches\r\n\r\n  one two \r\n#no\r\n-x=\xc3\xa9\r\n")
    lever = read_items(str(path), max_bytes=MAX)
    assert [item.name for item in lever.items] == ["one two", "-x=é"]
    assert lever.prepare(frozenset({1}), tmp_path)["items"].read_text(encoding="utf-8") == "-x=é\n"


NAMES = st.binary(min_size=1, max_size=300).filter(
    lambda name: not {0, 10}.intersection(name) and name.strip(b" \t\r") == name and not name.startswith(b"#")
)


@given(st.lists(NAMES, min_size=1, max_size=5, unique=True))
def test_names_of_any_bytes_come_out_as_they_went_in(names: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "items")
        path.write_bytes(b"".join(b"%s\n" % name for name in [b"x" * 301, *names]))
        lever = read_items(str(path), max_bytes=MAX)
        written = lever.prepare(frozenset(range(1, len(names) + 1)), Path(folder))["items"]
        assert written.read_bytes() == b"".join(b"%s\n" % name for name in names)


@pytest.mark.parametrize(
    ("data", "error", "says"),
    [
        (b"# only\n\n", UsageError, "no items"),
        (b"a\nb\na\n", UsageError, "'a' more than once"),
        (b"{a}\nb\n{a}\n", UsageError, "'{a}' more than once"),
        (b'{\n"a":\n{\n"b": 1\n}\n}\n', UsageError, "is JSON, no list of names"),
        (b"a\nb\0\n", SourceError, r"UTF-8 \(byte 3 is zero\)"),
    ],
)
def test_bad_item_files(tmp_path: Path, data: bytes, error: type[ForensicsError], says: str) -> None:
    (tmp_path / "items").write_bytes(data)
    with pytest.raises(error, match=says):
        read_items(str(tmp_path / "items"), max_bytes=MAX)
