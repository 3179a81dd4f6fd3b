"""Unknown lines are counted by shape, in bounded memory."""

from __future__ import annotations

from trtforensics.model.span import UnknownShape
from trtforensics.parsers.lines.unread import MAX_SAMPLES, Drift


def noted(*bodies: bytes) -> Drift:
    drift = Drift()
    for line, body in enumerate(bodies, 1):
        drift.add(line, body)
    return drift


def test_lines_that_differ_in_numbers_ids_and_names_are_one_shape() -> None:
    drift = noted(
        b"step 1 of 0x1f took 2.5e-05 on 'conv 1' \"a\" {ForeignNode[a...b]}",
        b"step 22 of 0xffff took 3 on 'relu' \"b c\" {ForeignNode[c...d]}",
    )
    assert len(drift) == 1
    (sample,) = drift.samples()
    assert (sample.line, sample.count) == (1, 2)
    assert sample.text.startswith("step 1 of 0x1f")


def test_samples_come_most_frequent_first_then_by_line() -> None:
    drift = noted(b"a", b"b", b"c", b"b")
    assert drift.samples() == (UnknownShape(2, "b", 2), UnknownShape(1, "a", 1), UnknownShape(3, "c", 1))


def test_no_more_than_twenty_samples_are_given() -> None:
    shapes = [b"x" * size for size in range(1, 30)]
    assert len(noted(*shapes)) == 29
    assert len(noted(*shapes).samples()) == MAX_SAMPLES == 20


def test_shapes_beyond_the_limit_share_one_entry_and_every_line_counts() -> None:
    bodies = [b"-".join([b"ab"[bit : bit + 1] for bit in map(int, f"{n:013b}")]) for n in range(5000)]
    drift = noted(*bodies)
    assert len(drift) == 4097
    assert drift.samples()[0].count == 5000 - 4096


def test_a_long_line_is_kept_in_part_and_undecodable_bytes_are_replaced() -> None:
    (sample,) = noted(b"\xff" + b"y" * 10_000).samples()
    assert sample.text == "\N{REPLACEMENT CHARACTER}" + "y" * 499
