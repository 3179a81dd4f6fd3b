"""A chain of nodes without any model, and a driver that answers a search for repairs over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisection.precision.items import PrecisionItem
from trtforensics.bisection.search import Ask, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from trtforensics.bisection.search import ProbeSearch

    Passes = Callable[[frozenset[str]], bool | None]

NODES = [f"n{index}" for index in range(40)]
ATOMS = {node: frozenset({node}) for node in NODES}
CHAIN = [PrecisionItem((f"t{index}",), frozenset(NODES[index : index + 2]), 1.0, "") for index in range(39)]
"""Tensors of a chain: each is written by one node and read by the next."""


def drive(search: ProbeSearch, passes: Passes, nodes: Collection[str] = NODES, jobs: int = 1) -> list[Ask]:
    """Answer a plan until it is done; return what it asked."""
    asked = []
    while not search.done:
        asks = search.asks(jobs)
        assert asks
        for ask in asks:
            asked.append(ask)
            keep = frozenset(node for index, node in enumerate(nodes) if index not in ask.active)
            verdict = {True: Verdict.GOOD, False: Verdict.BAD, None: Verdict.UNRESOLVED}[passes(keep)]
            search.tell(ask, verdict)
    return asked
