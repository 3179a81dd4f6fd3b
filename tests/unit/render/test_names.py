"""Long names: what is cut, and where lines part."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trtforensics.render.names import in_two_lines, shortened


def test_only_the_middle_of_a_long_name_is_cut() -> None:
    assert shortened("conv1", 5) == "conv1"
    assert shortened("abcdefghij", 7) == "abc…hij"


def test_lines_part_after_a_separator_and_best_after_a_space() -> None:
    assert in_two_lines("conv1 + relu1", 20, 20) == ["conv1 + relu1"]
    assert in_two_lines("layer1/conv1 + layer1/relu1", 18, 18) == ["layer1/conv1 +", "layer1/relu1"]
    assert in_two_lines("backbone/layer1/conv1", 18, 18) == ["backbone/layer1/", "conv1"]
    assert in_two_lines("abcdefghij", 6, 6) == ["abcdef", "ghij"]
    assert in_two_lines("abcdef" + "g" * 20 + "xyz", 6, 7) == ["abcdef", "ggg…xyz"]


@given(st.text("ab/._ ", max_size=40), st.integers(4, 12), st.integers(4, 12))
def test_each_line_fits_and_nothing_is_lost_without_a_mark(name: str, first: int, second: int) -> None:
    lines = in_two_lines(name, first, second)
    assert len(lines) <= 2
    assert len(lines[0]) <= first
    assert len(lines[-1]) <= max(first if len(lines) == 1 else second, 0)
    if "…" not in lines[-1]:
        assert "".join(lines).replace(" ", "") == name.replace(" ", "")
