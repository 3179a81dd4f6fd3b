"""Pieces of rows: texts fitted to a width, bars, durations, sizes."""

from __future__ import annotations

import re

from rich.cells import cell_len

from tests.support.for_each import for_each
from trtforensics.console.terminal import visible
from trtforensics.tui.rows.pieces import Piece, Role, bar, broken, clip, fit, flush, size


def test_a_long_text_loses_its_middle() -> None:
    assert clip("abcdefghij", 5) == "ab…ij"
    assert clip("abc", 3) == "abc"
    assert clip("abc", 0) == ""


def test_a_line_breaks_at_its_blanks_and_keeps_its_roles() -> None:
    line = (Piece(" ✔ in the engine", Role.GOOD), Piece("  28 tactics timed", Role.DIM))
    assert broken(line, 40) == [tuple(Piece(w, p.role) for p in line for w in re.findall(r"\s*\S+", p.text))]
    lines = ["".join(piece.text for piece in one) for one in broken(line, 20)]
    assert lines == [" ✔ in the engine  28", "   tactics timed"]
    assert broken(line, 20)[1][0] == Piece("   tactics", Role.DIM)
    assert [len(one) for one in broken(line, 1)] == [1] * 7, "a word is never broken"


@for_each("width", range(8))
@for_each("text", ["", "abc", "漢字漢字漢字", "a漢b字c", "abcdefghij"])
def test_fitted_text_has_exactly_the_width_asked_for(text: str, width: int) -> None:
    assert cell_len(fit(text, width)) == width
    assert cell_len(flush(text, width)) == width


def test_bars_grow_by_eighths_and_the_least_is_seen() -> None:
    assert [bar(f, 2) for f in (0, 0.0001, 0.25, 0.5, 0.75, 1, 7)] == ["  ", "▏ ", "▌ ", "█ ", "█▌", "██", "██"]


def test_sizes_are_binary() -> None:
    assert [size(n) for n in (0, 1023, 1024, 5 << 20, 3 << 30)] == ["0 B", "1023 B", "1.0 KiB", "5.0 MiB", "3.0 GiB"]


def test_a_secret_is_masked_before_a_text_is_cut() -> None:
    assert clip(f"{'x' * 20} password=hunter2", 12) == "xxxxxx…cret]"


def test_a_joined_emoji_takes_the_cells_in_which_it_is_painted() -> None:
    joined = "st\N{MAN}\N{ZERO WIDTH JOINER}\N{GIRL}m/pool"
    assert [cell_len(visible(fit(joined, width))) for width in (8, 20)] == [8, 20]
