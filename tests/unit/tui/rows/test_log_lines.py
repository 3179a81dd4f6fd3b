"""Lines of the raw log: severity, prefix, matches."""

from __future__ import annotations

from tests.support.for_each import for_each
from tests.support.screens import text_of
from trtforensics.parsers.text.text import LineMatcher
from trtforensics.tui.rows.log_lines import LONGEST, log_pieces
from trtforensics.tui.rows.pieces import Role, width_of


@for_each(
    ("line", "role"),
    [
        ("[08/17/2022-07:50:53] [W] [TRT] text", Role.WARNING),
        ("[08/17/2022-07:50:53] [E] Error[4]: text", Role.ERROR),
        ("[TRT] [V] ERROR is only a word here", Role.PLAIN),
        ("WARNING: [Torch-TensorRT] - text", Role.WARNING),
        ("ERROR: text", Role.ERROR),
        ("2023-01-01 [W:onnxruntime:Default, x.cc:1 f] text", Role.WARNING),
        ("plain", Role.PLAIN),
        (" " * 90 + "[E]", Role.PLAIN),
    ],
)
def test_severity_is_read_from_the_prefix_or_near_the_start(line: str, role: Role) -> None:
    assert log_pieces(line)[-1].role is role


def test_a_log_line_is_prefix_message_and_matches() -> None:
    line = log_pieces("[TRT] [V] x Foo y foo", LineMatcher("foo").pattern)
    assert [(p.text, p.role) for p in line] == [
        ("[TRT] [V] ", Role.DIM),
        ("x ", Role.PLAIN),
        ("Foo", Role.MATCH),
        (" y ", Role.PLAIN),
        ("foo", Role.MATCH),
        ("", Role.PLAIN),
    ]


def test_a_capital_in_the_needle_makes_case_count() -> None:
    assert [p.text for p in log_pieces("Foo foo", LineMatcher("Foo").pattern) if p.role is Role.MATCH] == ["Foo"]


def test_a_line_as_long_as_a_file_is_bounded() -> None:
    line = log_pieces("x" * (LONGEST + 1234))
    assert width_of(line) < LONGEST + 100
    assert text_of(line).endswith("1,234 more characters")


def test_a_match_beyond_the_longest_line_is_shown_with_its_place() -> None:
    text = f"{'x' * (LONGEST + 500)}\x1b[31mneedle{'y' * 5000}"
    line = log_pieces(text, LineMatcher("needle").pattern)
    assert [p.text for p in line if p.role is Role.MATCH] == ["needle"]
    assert f"at character {text.index('needle') + 1:,}: xxx" in text_of(line)
    assert "\x1b" not in text_of(line)
    assert width_of(line) < LONGEST + 300


def test_a_match_inside_a_secret_beyond_the_longest_line_does_not_show_it() -> None:
    token = f"ghp_{'aB3' * 12}"
    line = log_pieces(f"{'x' * (LONGEST + 500)} {token}", LineMatcher("aB3aB3aB3").pattern)
    assert "aB3" not in text_of(line)


def test_a_secret_is_masked_before_a_long_line_is_cut() -> None:
    token = f"ghp_{'aB3' * 12}"
    shown = "".join(piece.text for piece in log_pieces(f"{'x' * (LONGEST - 11)} {token}"))
    assert "ghp_" not in shown
