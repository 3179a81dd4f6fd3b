"""Graphviz' ``dot``: where it is missing, fails or does its work."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from trtforensics.errors import OutputError
from trtforensics.graph.graphviz import rendered

if TYPE_CHECKING:
    from pathlib import Path


def put(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Put a stand-in for ``dot`` on the path."""
    program = folder / "dot"
    program.write_text(f"#!{sys.executable}\nimport sys\n{code}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_without_graphviz_one_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OutputError, match=r"a \.svg is drawn by Graphviz, whose program `dot` is not installed"):
        rendered(b"digraph {}", "svg", "x.svg")


def test_the_document_goes_in_and_the_picture_comes_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, monkeypatch, "print(sys.argv[1], sys.stdin.read())")
    assert rendered(b"digraph {}", "pdf", "x.pdf").split() == [b"-Tpdf", b"digraph", b"{}"]


def test_a_large_bitmap_has_fewer_dots_and_colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, monkeypatch, "sys.stdin.read(); print(*sys.argv[1:])")
    assert rendered(b"digraph {}", "png", "x.png") == b"-Tpng -Gdpi=110\n"
    assert rendered(b"digraph {}" + b" " * 300_000, "png", "x.png") == b"-Tpng:cairo:gd -Gdpi=72\n"


def test_a_large_bitmap_is_drawn_without_gd_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, monkeypatch, 'sys.stdin.read(); "gd" in sys.argv[1] and sys.exit("no gd"); print(sys.argv[1])')
    assert rendered(b"digraph {}" + b" " * 300_000, "png", "x.png") == b"-Tpng\n"


def test_what_graphviz_says_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, monkeypatch, "sys.exit('Error: bad node')")
    with pytest.raises(OutputError, match="Graphviz fails: Error: bad node"):
        rendered(b"digraph {}", "svg", "x.svg")
