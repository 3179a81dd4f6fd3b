"""Mutations of excerpts keep the lines that are needed, and are the same for the same seed."""

from __future__ import annotations

import random

from tests.cases.mutations import mutated

LINES = [f"line {number} of the paste" for number in range(1, 13)]


def test_the_needed_lines_stay() -> None:
    for lines in mutated(LINES, {5, 7}, 50, random.Random(1)):
        text = "\n".join(lines)
        assert all(f"line {number} of" in text for number in (4, 5, 6, 7, 8))


def test_the_same_seed_gives_the_same_mutations() -> None:
    assert list(mutated(LINES, {5}, 9, random.Random(2))) == list(mutated(LINES, {5}, 9, random.Random(2)))
    assert len({tuple(lines) for lines in mutated(LINES, {5}, 50, random.Random(2))}) > 40
