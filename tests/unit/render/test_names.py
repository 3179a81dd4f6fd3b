"""Long names: what is cut, and where lines part."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trtforensics.render.names import by_options, in_two_lines, shortened


def test_only_the_middle_of_a_long_name_is_cut() -> None:
    assert shortened("conv1", 5) == "conv1"
    assert shortened("abcdefghij", 7) == "abc…hij"


def test_of_a_long_command_each_word_is_shortened_by_itself() -> None:
    command = f"trtexec --onnx=/models/{'a' * 40}.onnx --saveEngine=/plans/{'b' * 40}.plan --fp16 --batch -1"
    assert by_options(command, 200) == command
    program, onnx, engine, *rest = by_options(command, 120).split(" ")
    assert (program, rest) == ("trtexec", ["--fp16", "--batch", "-1"])
    assert onnx == "--onnx=/models…aaaaaaaaa.onnx"
    assert engine == "--saveEngine=/…bbbbbbbbb.plan"
    assert by_options("a" * 21, 11) == "aaaaa…aaaaa"


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
