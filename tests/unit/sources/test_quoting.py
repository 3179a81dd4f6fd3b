"""Lines of a file, read again to be quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trtforensics.sources.quoting import quote_file

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("end", ["", "\n"])
def test_the_last_line_is_quoted_with_and_without_a_line_feed(end: str, tmp_path: Path) -> None:
    (tmp_path / "build.log").write_text(f"first\nsecond\nlast{end}", encoding="utf-8")
    assert quote_file(str(tmp_path / "build.log"), {1, 3}) == {1: "first", 3: "last"}


def test_a_byte_that_is_no_text_is_quoted_as_the_sign_for_it(tmp_path: Path) -> None:
    (tmp_path / "build.log").write_bytes(b"first\nsize 3\xd7224\n")
    assert quote_file(str(tmp_path / "build.log"), {2}) == {2: "size 3\ufffd224"}
