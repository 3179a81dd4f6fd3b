"""Line bodies, which are lines without their prefixes, many at once; and the rows that are read from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trtforensics.parsers.lines.interning import TextSpans

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from trtforensics.parsers.text.line_index import LineIndex

    Positions = npt.NDArray[np.int64]


class Bodies:
    """The bodies of a window's lines: where each begins and ends, and its separators."""

    def __init__(self, index: LineIndex, starts: Positions, separators_before: Positions) -> None:
        self.index = index
        self.starts = starts
        self.ends = index.ends
        self.first = index.first + separators_before
        self.last = index.last
        self.openings = index.words[starts]
        """The first eight bytes of each body, as a word."""

    def text(self, line: int) -> bytes:
        """Return a body."""
        return self.index.data[int(self.starts[line]) : int(self.ends[line])]

    def texts(self, lines: Positions) -> list[bytes]:
        """Return some bodies."""
        return self.spans(lines).texts(self.index.data)

    def spans(self, lines: Positions) -> TextSpans:
        """Return where some bodies are."""
        return TextSpans(lines, self.starts[lines], self.ends[lines])


class KindRows(NamedTuple):
    """Lines of one kind, and a column for each kept field; ``kind`` is None where no rule reads the lines."""

    kind: str | None
    lines: Positions
    columns: dict[str, npt.NDArray[Any]]


def grouped(numbers: npt.NDArray[Any], count: int) -> Iterator[tuple[int, Positions]]:
    """Give each number below ``count`` that occurs in an array, in order, with the places where it occurs."""
    order = numbers.argsort(kind="stable")
    limits = np.bincount(numbers, minlength=count).cumsum().tolist()
    for number, (low, high) in enumerate(zip([0, *limits], limits[:count], strict=False)):
        if high > low:
            yield number, order[low:high]
