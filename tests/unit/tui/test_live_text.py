"""A text that another process still writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trtforensics.tui.live_text import LiveText

if TYPE_CHECKING:
    from pathlib import Path


def lines(text: LiveText) -> list[str]:
    return [text.line(number) for number in range(1, len(text) + 1)]


def test_it_reads_on_where_the_file_grew(tmp_path: Path) -> None:
    path = tmp_path / "build.log"
    path.write_bytes(b"one\r\ntwo\nthr")
    text = LiveText(path)
    assert text.update()
    assert lines(text) == ["one", "two", "thr"]
    assert not text.update()
    with path.open("ab") as stream:
        stream.write(b"ee\nfour\n")
    assert text.update()
    assert lines(text) == ["one", "two", "three", "four"]


def test_a_shorter_or_another_file_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "build.log"
    path.write_bytes(b"one\ntwo\n")
    text = LiveText(path)
    text.update()
    path.write_bytes(b"new\n")
    assert text.update()
    assert lines(text) == ["new"]
    other = tmp_path / "other"
    other.write_bytes(b"another\nfile\n")
    other.replace(path)
    assert text.update()
    assert lines(text) == ["another", "file"]


def test_a_file_that_is_gone_keeps_its_lines_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "build.log"
    path.write_bytes(b"one\n")
    text = LiveText(path)
    text.update()
    path.unlink()
    assert text.update()
    assert text.state == "the file is gone; these are its last lines"
    assert lines(text) == ["one"]
    assert not text.update()


def test_no_symbolic_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret\n")
    (tmp_path / "build.log").symlink_to(tmp_path / "secret")
    text = LiveText(tmp_path / "build.log")
    text.update()
    assert lines(text) == []
    assert text.state


def test_a_missing_line_is_an_error(tmp_path: Path) -> None:
    text = LiveText(tmp_path / "none")
    with pytest.raises(IndexError):
        text.line(1)


def test_find_looks_in_the_last_line_too(tmp_path: Path) -> None:
    path = tmp_path / "build.log"
    path.write_bytes(b"needle\nhay\nthe Needle")
    text = LiveText(path)
    text.update()
    assert text.find("needle", 2) == 3
    assert text.find("needle", 3, backwards=True) == 3
    assert text.find("needle", 2, backwards=True) == 1
    assert text.find("needle", 1) == 1
    assert text.find("NEEDLE", 1) is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(st.binary(max_size=12).map(lambda data: data.replace(b"\x1b", b"\n")), max_size=8))
def test_it_does_not_matter_in_which_parts_a_file_came(tmp_path: Path, parts: list[bytes]) -> None:
    path = tmp_path / "build.log"
    path.write_bytes(b"")
    text = LiveText(path)
    for part in parts:
        with path.open("ab") as stream:
            stream.write(part)
        text.update()
    whole = LiveText(path)
    whole.update()
    assert lines(text) == lines(whole)
