"""What is known of a set around items that may not be built without others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from trtforensics.bisection.search import Verdict
from trtforensics.bisection.search.minimal import bad_around

if TYPE_CHECKING:
    from collections.abc import Generator


class _Finder:
    """Settles each subset at once, as good unless it is said to be bad."""

    def __init__(self, *bad: int) -> None:
        self._bad = bad

    def settle(self, mask: int, *_: object) -> Generator[None, None, Verdict]:
        yield from ()
        return Verdict.BAD if mask in self._bad else Verdict.GOOD


@pytest.mark.parametrize(("bad", "around"), [((), 0b1111), ((0b0001,), 0b0001), ((0b0101,), 0b0101)])
def test_the_smallest_bad_set_around_a_refused_one_is_one_that_was_seen(bad: tuple[int, ...], around: int) -> None:
    finder: Any = _Finder(*bad)
    company: Any = [SimpleNamespace(mask=0b0010), SimpleNamespace(mask=0b0100)]
    with pytest.raises(StopIteration) as end:
        next(bad_around(finder, 0b0001, company, 0b1111))
    assert end.value.value == around
