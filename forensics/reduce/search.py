"""The search for the smallest model that still fails: pure, deterministic, with few probes.

Items are nodes, in an order in which each stands behind what it reads, then simplifications; active ones are as in the
original. Nodes that the failure's log names are tried alone, then with more and more of what leads to them. Else a
halving finds the last node that is needed, then the first; what is not connected to them goes in one probe each. What
is left is reduced by delta debugging (after Zeller and Hildebrandt's ``ddmin``), whose cuts take along what they cut
off. At the end every node was left out once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, log2
from typing import TYPE_CHECKING

from trtforensics.bisect.search import AGAIN, Ask, Result, Round, RoundSearch, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Sequence

    from trtforensics.bisect.search.basis.rounds import Rounds

    Items = frozenset[int]

ALONE = "the answer"
BUT_ONE = "the answer without one node"
_WHOLE = "the original"
_NAMED = "nodes that the failure names"
_LAST = "find the last node"
_FIRST = "find the first node"
_CONNECTED = "what is connected to it"
_FEWER = "leave out nodes"
_SIMPLER = "simplify"
_FEW = 6
"""Nodes that delta debugging takes as quickly as halving."""
_FARTHEST = 16
"""Steps upstream of a named node; farther than that, halving needs fewer probes."""


@dataclass(frozen=True, slots=True)
class Terrain:
    """What the search knows of a model.

    ``reads`` has the nodes whose results each node reads. ``relevant`` returns the simplifications that change a model
    of some nodes, ``hints`` the nodes that the original's failure names, the likeliest first.
    """

    reads: Sequence[frozenset[int]]
    simplifications: int = 0
    relevant: Callable[[Items], Items] = field(default=lambda _: frozenset())
    hints: Callable[[], Sequence[int]] = field(default=lambda: ())

    @property
    def nodes(self) -> int:
        """How many nodes the model has."""
        return len(self.reads)


class ReductionSearch(RoundSearch):
    """The search over a terrain; its result's one set is what the failure needs.

    ``limit`` is how many probes may be asked for.
    """

    _closing = 2

    def __init__(self, terrain: Terrain, *, limit: int | None = None) -> None:
        self._terrain = terrain
        self._everything = frozenset(range(terrain.nodes + terrain.simplifications))
        self._left = self._everything
        super().__init__(terrain.nodes, Verdict.BAD, limit)

    @property
    def smallest(self) -> Items:
        """The smallest set of items that was seen to fail."""
        return self._left

    @property
    def undecided(self) -> Items:
        """The nodes of the smallest set without which it was not seen to pass, once each was left out."""
        verdicts = {self._left - mask: self._verdicts.get(Ask(mask)) for mask in self._without_one()}
        return frozenset[int]().union(*(one for one, verdict in verdicts.items() if verdict is Verdict.UNRESOLVED))

    def _suspected(self) -> Items:
        return frozenset() if self._result else self._left & self._all

    def _ended(self, status: Status, why: str) -> Result:
        reproduced = self._verdicts.get(Ask(self._everything)) is Verdict.BAD
        sets = (self._left,) if reproduced else ()
        proof = {Ask(self._left): ALONE, Ask(self._left, build=1): ALONE}
        proof |= {Ask(mask): BUT_ONE for mask in self._without_one()} if reproduced else {}
        proof |= {Ask(self._everything): _WHOLE}
        evidence = tuple(Ask(a.active, a.build, purpose=role) for a, role in proof.items() if a in self._verdicts)
        minimal = (status is Status.CERTIFIED,) if sets else ()
        return Result(status, why, sets, frozenset(), 1.0, self._bound(), evidence, minimal)

    def _bound(self) -> int:
        return ceil(log2(max(1, len(self._all))))

    def _without_one(self) -> list[Items]:
        """Return the smallest set without each of its nodes; an empty model cannot fail and is no probe."""
        nodes = self._left & self._all
        return [self._left - {index} for index in sorted(nodes)] if len(nodes) > 1 else []

    def _run(self) -> Rounds:
        yield Round((Ask(self._everything, purpose=_WHOLE),))
        verdict = self._verdicts[Ask(self._everything)]
        if verdict is Verdict.GOOD:
            return self._ended(Status.NOT_REPRODUCED, "the original does not fail")
        if verdict is Verdict.UNRESOLVED:
            return self._ended(Status.INCONCLUSIVE, f"the original cannot be judged; {AGAIN}")
        yield from self._from_hints()
        if len(self._nodes()) > _FEW:
            yield from self._outer()
        yield from self._inner()
        yield from self._simplified()
        while (yield from self._proved()):
            pass
        return (yield from self._concluded())

    def _nodes(self) -> list[int]:
        return sorted(self._left & self._all)

    def _simplifications(self) -> Items:
        return self._left - self._all

    def _take(self, ask: Ask | None) -> bool:
        if ask is not None:
            self._left = ask.active
        return ask is not None

    def _ask(self, nodes: Collection[int], purpose: str) -> Ask:
        return Ask(frozenset(nodes) | self._simplifications(), purpose=purpose)

    def _first_bad(self, asks: Sequence[Ask], ahead: Sequence[Ask] = ()) -> Generator[Round, None, Ask | None]:
        """Return the first ask that is bad."""
        yield Round(tuple(asks), ahead=tuple(ahead))
        return next((ask for ask in asks if self._verdicts.get(ask) is Verdict.BAD), None)

    def _from_hints(self) -> Generator[Round, None, None]:
        """Try the nodes that the failure names, alone, together, and with what leads to them."""
        named = [index for index in self._terrain.hints() if index in self._all]
        tries = [frozenset({index}) for index in named]
        tries += [frozenset(named)] if len(named) > 1 else []
        readers = {each for each in self._all if not self._terrain.reads[each].isdisjoint(named)}
        tries += [frozenset((*named, *readers))] if named and readers else []
        distance = 1
        while named and distance <= _FARTHEST and 2 * len(tries[-1]) < len(self._all):
            ball = self._upstream(named, distance)
            tries += [ball] if ball not in tries else []
            distance *= 2
        for nodes in tries:
            if self._take((yield from self._first_bad([self._ask(nodes, _NAMED)]))):
                return

    def _upstream(self, nodes: Collection[int], distance: int | None = None, within: Items | None = None) -> Items:
        """Return nodes with what leads to them, at most so many steps away."""
        reached, edge, steps = set(nodes), set(nodes), 0
        while edge and (distance is None or steps < distance):
            edge = {each for index in edge for each in self._terrain.reads[index]} - reached
            edge &= self._all if within is None else within
            reached |= edge
            steps += 1
        return frozenset(reached)

    def _downstream(self, index: int, within: Items) -> Items:
        """Return a node with all that it leads to."""
        reached = {index}
        for each in sorted(within):
            if each not in reached and not reached.isdisjoint(self._terrain.reads[each]):
                reached.add(each)
        return frozenset(reached)

    def _outer(self) -> Generator[Round, None, None]:
        """Cut from the outputs, then from the inputs."""
        nodes = self._nodes()
        end = yield from self._halved(len(nodes), lambda size: nodes[:size], _LAST)
        yield from self._only(self._upstream({nodes[end - 1]}, within=self._left & self._all))
        nodes = self._nodes()
        size = yield from self._galloped(len(nodes), lambda size: nodes[len(nodes) - size :], _FIRST)
        yield from self._only(self._downstream(nodes[-size], self._left & self._all))

    def _only(self, nodes: Items) -> Generator[Round, None, None]:
        if nodes < self._left & self._all:
            self._take((yield from self._first_bad([self._ask(nodes, _CONNECTED)])))

    def _galloped(self, whole: int, part: Callable[[int], Sequence[int]], purpose: str) -> Generator[Round, None, int]:
        """Return what :meth:`_halved` does, in fewer probes where it is small: sizes are doubled until one fails."""
        low, high = 0, 1
        while high < whole:
            ahead = [self._ask(part(2 * high), purpose)] if 2 * high < whole else []
            if self._take((yield from self._first_bad([self._ask(part(high), purpose)], ahead))):
                return (yield from self._halved(high, part, purpose, low))
            low, high = high, 2 * high
        return (yield from self._halved(whole, part, purpose, low))

    def _halved(
        self, whole: int, part: Callable[[int], Sequence[int]], purpose: str, low: int = 0
    ) -> Generator[Round, None, int]:
        """Return the smallest size of a part that fails, as far as smaller ones do not; ``low`` does not."""
        high = whole
        while high - low > 1:
            middle = (low + high) // 2
            next_ones = {(low + middle) // 2, (middle + high) // 2} - {low, middle, high}
            ahead = [self._ask(part(size), purpose) for size in sorted(next_ones)]
            if self._take((yield from self._first_bad([self._ask(part(middle), purpose)], ahead))):
                high = middle
            else:
                low = middle
        return high

    def _inner(self) -> Generator[Round, None, None]:
        """Leave out chunks of nodes, of half the size each round, until no single one can be left out."""
        size = max(1, len(self._nodes()) // 2)
        while len(self._nodes()) > 1:
            fewer = yield from self._without_chunks(size)
            if size == 1 and not fewer:
                return
            size = max(1, min(size, len(self._nodes())) // 2)

    def _without_chunks(self, size: int) -> Generator[Round, None, bool]:
        """Try to leave out each chunk of so many nodes; return whether one could be."""
        nodes, before = self._nodes(), self._left
        chunks = [frozenset(nodes[start : start + size]) for start in range(0, len(nodes), size)]
        for place, chunk in enumerate(chunks):
            ahead = self._cut(chunks[place + 1], size) if place + 1 < len(chunks) else []
            if self._take((yield from self._first_bad(self._cut(chunk, size), ahead))):
                yield from self._only(self._connected(self._left & self._all))
        return self._left != before

    def _cut(self, chunk: Items, size: int) -> list[Ask]:
        """Return the probe without a chunk, and without what it cuts off unless it is a single node."""
        rest = (self._left & self._all) - chunk
        rest = self._connected(rest) if size > 1 else rest
        return [self._ask(rest, _FEWER)] if rest and rest < self._left & self._all else []

    def _connected(self, rest: Items) -> Items:
        """Return the part of some nodes that still leads to the last of them, or is led to by it."""
        if not rest:
            return rest
        return self._upstream({max(rest)}, within=rest)

    def _simplified(self) -> Generator[Round, None, None]:
        """Leave out simplifications that the failure does not need: all, then halves, down to single ones."""
        nodes = frozenset(self._nodes())
        needed = sorted(self._terrain.relevant(nodes))
        self._left = nodes | frozenset(needed)
        if not needed or self._take((yield from self._first_bad([Ask(nodes, purpose=_SIMPLER)]))):
            return
        size = max(1, len(needed) // 2)
        while True:
            for start in range(0, len(needed), size):
                chunk = frozenset(needed[start : start + size])
                if chunk & self._left:
                    self._take((yield from self._first_bad([Ask(self._left - chunk, purpose=_SIMPLER)])))
            needed = sorted(self._left - self._all)
            if size == 1:
                return
            size = max(1, min(size, len(needed)) // 2)

    def _proved(self) -> Generator[Round, None, bool]:
        """Leave out each node in turn; return whether one was not needed."""
        asks = tuple(Ask(mask, purpose=BUT_ONE) for mask in self._without_one())
        yield Round(asks, whole=True)
        return self._take(next((ask for ask in asks if self._verdicts[ask] is Verdict.BAD), None))

    def _concluded(self) -> Rounds:
        again = Ask(self._left, build=1, purpose=ALONE)
        yield Round((again,))
        if self._verdicts[again] is not Verdict.BAD:
            return self._ended(
                Status.INCONCLUSIVE, f"the answer failed once, and built again it was {self._verdicts[again]}"
            )
        if self.undecided:
            some, all_of_them = len(self.undecided), len(self._nodes())
            what = f"without {some} of its {all_of_them} nodes the model fails otherwise or was not judged"
            return self._ended(Status.NAMED, what)
        return self._ended(Status.CERTIFIED, "")
