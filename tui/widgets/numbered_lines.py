"""What :class:`~trtforensics.tui.widgets.log_view.LogView` shows: lines by number.

Real texts are :class:`~trtforensics.parsers.text.text.LogText`. The interface keeps NumPy, which that class needs, out
of the imports before the first picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    import numpy.typing as npt

    from trtforensics.parsers.text.matching import LineMatcher


class NumberedLines(Protocol):
    """Lines of text, counted from 1. Another thread may append lines meanwhile."""

    def __len__(self) -> int:
        """Return how many lines can be shown now."""
        ...

    def line(self, number: int) -> str:
        """Return a line without its ending, control characters included."""
        ...

    def find(self, needle: str, start: int, *, backwards: bool = False) -> int | None:
        """Return the first line from ``start`` on (included) that holds ``needle``, or None; it never wraps.

        Case counts only where the needle has a capital letter. Called in a thread.
        """
        ...

    def matches(self, matcher: LineMatcher) -> Iterable[Sequence[int] | npt.NDArray[np.int64]]:
        """Yield the numbers of the lines that match, in order, some at once. Called in a thread."""
        ...


class NoLines:
    """An empty text, shown before a file is opened."""

    def __len__(self) -> int:
        """Return 0."""
        return 0

    def line(self, number: int) -> str:
        """Raise IndexError: there is no line."""
        raise IndexError(number)

    def find(self, needle: str, start: int, *, backwards: bool = False) -> int | None:  # noqa: ARG002 - as in NumberedLines
        """Return None: no line holds the needle."""
        return None

    def matches(self, matcher: LineMatcher) -> Iterable[Sequence[int]]:  # noqa: ARG002 - as in NumberedLines
        """Return nothing: there is no line."""
        return ()
