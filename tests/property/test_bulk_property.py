"""Bulk reading gives what judging each line by its regex gives: on real lines, on generated and on mutated ones."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.grammar_rules import rules_of
from tests.support.property_settings import examples
from trtforensics.parsers.lines.events import KEPT
from trtforensics.parsers.lines.scanner import Scanner
from trtforensics.parsers.text.windows import WindowCutter

_LOGS = sorted((Path(__file__).parents[2] / "testdata" / "logs").glob("*.log"))


def _scan(text: bytes, *, bulk: bool, block: int = 1 << 20) -> Scanner:
    scanner = Scanner(bulk=bulk)
    for window in WindowCutter().windows(text[i : i + block] for i in range(0, len(text), block)):
        scanner.feed(window)
    return scanner


def _content(scanner: Scanner) -> dict[str, object]:
    """Everything a scanner found, texts resolved."""
    tables = {}
    for kind in KEPT:
        rows = scanner.scanned.events[kind]
        span = range(len(rows.lines))
        tables[kind] = (rows.lines.tolist(), {name: rows.values(name, span) for name in rows.names})
    return {
        "tables": tables,
        "counts": scanner.scanned.counts,
        "recognised": scanner.scanned.recognised,
        "unknown": scanner.scanned.drift.samples(),
        "starts": scanner.scanned.line_starts.tolist(),
    }


def _assert_equal(text: bytes, *, block: int = 1 << 20) -> None:
    assert _content(_scan(text, bulk=True, block=block)) == _content(_scan(text, bulk=False))


@pytest.mark.parametrize("log", _LOGS, ids=lambda log: log.stem)
def test_both_read_the_same_from_our_own_logs(log: Path) -> None:
    _assert_equal(log.read_bytes())


@pytest.mark.corpus
@pytest.mark.slow
def test_both_read_the_same_from_every_corpus_log(corpus: Path) -> None:
    for log in sorted((corpus / "buildlog").iterdir()):
        _assert_equal(log.read_bytes())


@pytest.mark.parametrize("block", [61, 4096, 100_003])
def test_where_windows_are_cut_does_not_matter(block: int) -> None:
    text = _LOGS[0].read_bytes()[:60_000]
    _assert_equal(text, block=block)


@pytest.mark.parametrize(
    "form",
    [
        b" (foreignNode) Autotuning op /block.%d/Conv(key: 0x%032x):",
        b" (foreignNode) Autotuning op /block.%d/Conv: [ONNX Layer: /block.%d/Conv]",
        b"--------------- Timing Runner: /block.%d/Conv (CaskConvolution[0x8%07x])",
        b"/block.%d/Conv Set Tactic Name: sm80_xmma_%d Tactic: 0x1",
        b"/block.%d/Conv [Float(%d,1) -> Float(1,1)] got cached result: CaskConvolution, tactic 0x1, 0.5 ms",
    ],
)
def test_what_is_new_in_every_window_is_kept_apart(form: bytes) -> None:
    rows = [form % (number // 2, number // 3) for number in range(1500)]
    _assert_equal(b"".join(b"[V] [TRT] " + row + b"\n" for row in rows), block=30_000)


def _lines() -> list[bytes]:
    rng = random.Random(7)  # noqa: S311 - a sample of lines, not a secret
    lines = {line for log in _LOGS for line in log.read_bytes().split(b"\n")}
    return rng.sample(sorted(lines), 1500)


def _literals() -> list[bytes]:
    literals = {part.literal.encode() for rule in rules_of() for parts in rule.alternatives for part in parts}
    return sorted(literals - {b""})


_line = st.deferred(lambda: st.sampled_from(_lines()))
_inserted = st.deferred(lambda: st.sampled_from(_literals())) | st.sampled_from(
    [
        b" ",
        b"\x1e",
        b"\x1f",
        b"\xff",
        b"\t",
        b"0x",
        b".",
        b".0",
        b"..",
        b"  ",
        b" -> ",
        b" Time: ",
        b"]",
        b"(",
        b"\r",
        b"\x1b[1m",
    ]
)


@st.composite
def _mutated(draw: st.DrawFn) -> bytes:
    """A line, cut, spliced with another, with bytes put in or a piece of it doubled."""
    line = draw(_line)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(line)))
        match draw(st.integers(0, 4)):
            case 0:
                line = line[:at]
            case 1:
                line = line[:at] + draw(_inserted) + line[at:]
            case 2:
                line = line[:at] + draw(_line)[at:]
            case 3:
                line = line[:at] + line[max(0, at - draw(st.integers(1, 12))) :]
            case _:
                line = line[: max(0, at - draw(st.integers(1, 4)))] + line[at:]
    return line


@examples(300)
@given(st.lists(_mutated(), min_size=1, max_size=60), st.booleans())
def test_both_read_the_same_from_mutated_lines(lines: list[bytes], ended: bool) -> None:  # noqa: FBT001
    _assert_equal(b"\n".join(lines) + (b"\n" if ended else b""))


@examples(200)
@given(st.binary(max_size=400))
def test_both_read_the_same_from_any_bytes(text: bytes) -> None:
    _assert_equal(text)
