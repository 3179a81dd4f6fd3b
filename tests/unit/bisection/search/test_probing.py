"""What all searches have in common: which probes are asked for, and when a search ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisection.search import Ask, Result, Status, Verdict
from trtforensics.bisection.search.ledger import Wish
from trtforensics.bisection.search.probing import SubsetSearch

if TYPE_CHECKING:
    from trtforensics.bisection.search.ledger import Steps

ONE, TWO, THREE = (Ask(frozenset({index})) for index in (1, 2, 3))


class TwoRounds(SubsetSearch):
    """Asks for one and two, with three ahead, then for three."""

    def __init__(self, *, whole: bool = False, limit: int | None = None) -> None:
        super().__init__(4, limit)
        self._whole = whole

    def _run(self) -> Steps[Result]:
        one, two, three = (Wish(1 << index, "") for index in (1, 2, 3))
        if self._whole:
            yield from self._ledger.whole((one, two))
        else:
            yield from self._ledger.first((one, two), Verdict.BAD, (three,))
        yield from self._ledger.first((three,), Verdict.BAD)
        return self._ended(Status.CERTIFIED, "")

    def _suspected(self) -> int:
        return self._all

    def _ended(self, status: Status, why: str) -> Result:
        return Result(status, why, (), frozenset(), 1.0, 0, (), ())


def test_what_stands_behind_the_decider_is_not_asked_for() -> None:
    search = TwoRounds()
    assert search.asks() == (ONE,)
    search.tell(ONE, Verdict.BAD)
    assert search.asks() == (THREE,)


def test_of_a_whole_round_everything_is_asked_for() -> None:
    search = TwoRounds(whole=True)
    search.tell(ONE, Verdict.BAD)
    assert search.asks() == (TWO,)


def test_what_is_ahead_is_asked_for_where_there_is_room() -> None:
    search = TwoRounds()
    assert search.asks(2) == (ONE, TWO)
    assert search.asks(2) == (THREE,)
    search.tell(THREE, Verdict.GOOD)
    assert search.asks(2) == ()
    search.tell(ONE, Verdict.GOOD)
    assert not search.done
    search.tell(TWO, Verdict.GOOD)
    assert search.done
    assert search.result().status is Status.CERTIFIED


def test_a_limit_ends_it_once_what_is_under_way_has_ended() -> None:
    search = TwoRounds(limit=1)
    assert search.asks(5) == (ONE,)
    assert not search.done
    search.tell(ONE, Verdict.BAD)
    assert search.done
    assert search.result().why == "1 probes were not enough"


def test_an_outlook_counts_halvings() -> None:
    outlook = TwoRounds().outlook()
    assert (outlook.worst, outlook.suspects) == (4, frozenset(range(4)))


def test_a_search_that_is_stopped_computes_nothing_any_more() -> None:
    search = TwoRounds()
    assert search.asks() == (ONE,)
    search.stop()
    search.tell(ONE, Verdict.BAD)
    assert search.asks() == ()
    assert (search.done, search.result().status) == (False, Status.INCONCLUSIVE)
