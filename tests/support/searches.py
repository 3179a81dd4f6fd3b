"""Runs of a search against simulated builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisection.search import Item, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from trtforensics.bisection.search import Ask, Search


def items(count: int) -> list[Item]:
    """Return items of equal suspicion."""
    return [Item(str(index)) for index in range(count)]


def answered(search: Search, verdict: Callable[[Ask], Verdict], room: int = 1) -> tuple[list[Ask], int]:
    """Run a search to its end; return its probes and the rounds they took."""
    asked: list[Ask] = []
    rounds = 0
    while not search.done:
        asks = search.asks(room)
        assert asks
        rounds += 1
        for ask in asks:
            search.tell(ask, verdict(ask))
        asked += asks
    return asked, rounds


def builds(asked: Collection[Ask]) -> int:
    """Count the builds that search among probes: second looks are none."""
    return sum(ask.check == ask.build == 0 for ask in asked)


def bad_with(*sets: Collection[int]) -> Callable[[Ask], Verdict]:
    """Return builds that are bad where a whole set is active."""
    wanted = [frozenset(culprits) for culprits in sets]
    return lambda ask: Verdict.BAD if any(culprits <= ask.active for culprits in wanted) else Verdict.GOOD
