"""Excerpts as other people would have pasted them: quoted, indented, numbered, behind a CI system's timestamps, cut."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Collection, Iterator

    Lines = list[str]

FRONTS: tuple[Callable[[str, int], str], ...] = (
    lambda line, _: f"> {line}",
    lambda line, _: f"| {line}",
    lambda line, _: f"- {line}",
    lambda line, _: f"    {line}",
    lambda line, _: f"2026-11-21T07:52:04.1234567Z {line}",
    lambda line, _: f"trt-1  | {line}",
    lambda line, _: f"Nov 21 07:52:04 host prog[12]: {line}",
    lambda line, _: f"#12 3.456 {line}",
    lambda line, number: f"{number}: {line}",
)


def mutated(lines: Lines, needed: Collection[int], count: int, seed: random.Random) -> Iterator[Lines]:
    """Give mutations of an excerpt. Lines (from 1) that stand more than one off all ``needed`` ones may be cut off."""
    first = max(0, min(needed, default=1) - 2)
    last = min(len(lines), max(needed, default=len(lines)) + 1)
    for _ in range(count):
        own = lines[seed.randint(0, first) : seed.randint(last, len(lines))]
        for front in seed.sample(FRONTS, seed.choice((1, 1, 2))):
            own = [front(line, number) for number, line in enumerate(own, 1)]
        if seed.random() < 1 / 3:
            own = [html.escape(line) for line in own]
        if seed.random() < 1 / 3:
            own = ["```", *own, "```"]
        if seed.random() < 1 / 3:
            own = [f"{line}\r" for line in own]
        yield own
