"""The search for the smallest model that still fails: pure, deterministic, with few probes.

Items are nodes, in an order in which each stands behind what it reads, then simplifications; active ones are as in the
original. Nodes that the failure's log names are tried alone, then with more and more of what leads to them. Else a
halving finds the last node that is needed, then the first; what is not connected to them goes in one probe each. What
is left is reduced chunk by chunk, and cuts take along what they cut off. At the end every node was left out.

A probe without any item is the control, which cannot have the failure: a check that fails there too fails always. A
check may miss failures, so that a pass that decides is looked at again until a miss of all looks is unlikely.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from math import ceil, log, log2

from trtforensics.bisection.search import AGAIN, Result, Status, Verdict
from trtforensics.bisection.search.ledger import Steps, Wish, bits, items_of, mask_of, neighbours, union
from trtforensics.bisection.search.minimising import Proposals, chunk_deletion, leaving_one_out, minimised
from trtforensics.bisection.search.probing import SubsetSearch

Items = frozenset[int]

ALONE = "the answer"
BUT_ONE = "the answer without one node"
CONTROL = "the control"
FAILS_ALWAYS = (
    "this check fails on everything that was tried: is the command right? "
    "If it fails on any Identity, name a model that passes by --control"
)
_NOT_JUDGED = f"the original cannot be judged; {AGAIN}, or give a check that crashes or hangs as --build"
_WHOLE = "the original"
_REWRITTEN = "the original, rewritten"
_NAMED = "nodes that the failure names"
_LAST = "find the last node"
_FIRST = "find the first node"
_CONNECTED = "what is connected to it"
_FEWER = "leave out nodes"
_SIMPLER = "simplify"
_FEW = 6
"""Nodes that deleting chunks takes as quickly as halving."""
_PASSED = "does it pass again"
_WITNESSES = 3
"""Passes that are looked at again where they contradict what is left."""
_LOOKS, _MOST_LOOKS = 2, 8
"""Looks, at least and at most, at what decides."""
_MISSED = 0.0005
"""The probability allowed that all looks at a probe miss its failure."""
_RATE = 0.2
"""The share of failures that a check may miss, as long as it is not seen to miss more."""
_FARTHEST = 16
"""Steps upstream of a named node; farther than that, halving needs fewer probes."""


class ReductionSearch(SubsetSearch):
    """The search over a model; its result's one set is what the failure needs.

    ``reads`` has the nodes whose results each node reads. ``relevant`` returns the simplifications that change a model
    of some nodes, ``hints`` the nodes that the original's failure names, the likeliest first. ``rewritings`` are the
    last of the simplifications, first the file itself: only the original has all; ``rewriting`` says what goes without.
    ``limit`` is how many probes may be asked for.
    """

    def __init__(  # noqa: PLR0913 - all but the first are for models that have more than nodes
        self,
        reads: Sequence[Items],
        *,
        simplifications: int = 0,
        relevant: Callable[[Items], Items] = lambda _: frozenset(),
        hints: Callable[[], Sequence[int]] = lambda: (),
        rewritings: int = 0,
        rewriting: str = "",
        limit: int | None = None,
    ) -> None:
        super().__init__(len(reads), limit)
        self._reads, self._relevant, self._hints, self._rewriting = reads, relevant, hints, rewriting
        end = len(reads) + simplifications
        self._of_file = range(end - rewritings, end)
        """The items that are rewritings."""
        self._left = self._everything = (1 << end) - 1

    @property
    def smallest(self) -> Items:
        """The smallest set of items that was seen to fail."""
        return items_of(self._left)

    @property
    def undecided(self) -> Items:
        """The nodes of the smallest set without which it was not seen to pass, once each was left out."""
        masks = self._without_one() if self._nodes.bit_count() > 1 else ()
        unresolved = (mask for mask in masks if Verdict.UNRESOLVED in self._ledger.looks(mask))
        return frozenset().union(*(items_of(self._left & ~mask) for mask in unresolved))

    @property
    def control(self) -> int | None:
        """The probe that was seen to pass for certain, as a mask: the control, else any other; None: there is none."""
        passed = [mask for mask, verdict in self._ledger.log if verdict is Verdict.GOOD]
        return 0 if 0 in passed else passed[0] if passed else None

    @property
    def misses(self) -> tuple[int, int]:
        """How often models with all that is left, which fails, were seen to pass, and to fail.

        Passes count as missed failures once one of them was seen not to come again: they may come from cuts.
        """
        looks = [self._ledger.looks(mask) for mask, _ in self._ledger.log if not self._left & ~mask]
        missed = any(Verdict.GOOD in each and Verdict.BAD in each for each in looks)
        passed = sum(each.count(Verdict.GOOD) for each in looks) if missed else 0
        return passed, sum(each.count(Verdict.BAD) for each in looks)

    def _suspected(self) -> int:
        return 0 if self.answer else self._nodes

    def _ended(self, status: Status, why: str) -> Result:
        reproduced = self._ledger.seen(self._everything) is Verdict.BAD and status is not Status.NOT_REPRODUCED
        sets = (items_of(self._left),) if reproduced and self._left else ()
        without = self._without_one() if sets else []
        roles = {**dict.fromkeys(without, BUT_ONE), self._left: ALONE, 0: CONTROL, self._everything: _WHOLE}
        minimal = (status is Status.CERTIFIED,) if sets else ()
        bound = ceil(log2(max(1, len(self._reads))))
        return Result(status, why, sets, frozenset(), 1.0, bound, self._ledger.evidence(roles), minimal)

    @property
    def _nodes(self) -> int:
        return self._left & self._all

    @property
    def _simplifications(self) -> int:
        return self._left & ~self._all

    def _without_one(self) -> list[int]:
        """Return the smallest set without each of its nodes; without its only one it is the control."""
        return [wish.mask for wish in self._lacking(neighbours(self._nodes))]

    def _lacking(self, subsets: Sequence[int]) -> list[Wish]:
        """Return the probes of what is left without nodes; of no node, that of the control."""
        masks = [nodes | self._simplifications if nodes else self.control for nodes in subsets]
        return [Wish(mask, BUT_ONE if mask else CONTROL) for mask in masks if mask is not None]

    def _run(self) -> Steps[Result]:
        (verdict,) = yield from self._ledger.whole((Wish(self._everything, _WHOLE),))
        if verdict is Verdict.GOOD:
            return self._ended(Status.NOT_REPRODUCED, "the original does not fail")
        if verdict is Verdict.UNRESOLVED:
            return self._ended(Status.INCONCLUSIVE, _NOT_JUDGED)
        lost = yield from self._rewritten()
        if lost is not None:
            return lost
        if (yield from self._fails_always()):
            self._left = 0
            return self._ended(Status.INCONCLUSIVE, FAILS_ALWAYS)
        yield from self._from_hints()
        if self._nodes.bit_count() > _FEW:
            yield from self._outer()
        nodes = [1 << index for index in bits(self._nodes)]
        yield from minimised(chunk_deletion(nodes, self._connected), self._without_nodes)
        yield from self._simplified()
        nodes = [1 << index for index in bits(self._nodes)]
        yield from minimised(leaving_one_out(nodes), self._needless)
        yield from self._looked_at_answer()
        return self._concluded()

    def _rewritten(self) -> Steps[Result | None]:
        """Go on from the rewritten file, or from as much of the rewriting as fails; return the answer if none does."""
        # where it does not fail alike, a second look at the original shows what differs from run to run
        file, *parts = [1 << index for index in self._of_file] or [0]
        if not file:
            return None
        rest = self._everything & ~union((file, *parts))
        (verdict,) = yield from self._ledger.whole((Wish(rest, _REWRITTEN),))
        if verdict is not Verdict.BAD:
            (again,) = yield from self._ledger.whole((Wish(self._everything, _WHOLE, build=1),))
            if again is not Verdict.BAD:
                return self._ended(Status.INCONCLUSIVE, f"the original failed once, and run again it was {again}")
            (verdict,) = yield from self._ledger.whole((Wish(rest, _REWRITTEN, build=1),))
        if verdict is Verdict.BAD:
            self._left = rest
        elif parts and (yield from self._fails(Wish(self._everything & ~file, _REWRITTEN))):
            yield from self._fewer(parts, _REWRITTEN)
        elif verdict is Verdict.GOOD:
            return self._ended(Status.NOT_REPRODUCED, f"the failure is lost by rewriting: {self._rewriting}")
        else:
            self._left = 0
            why = f"rewritten, the model fails otherwise or was not judged: {self._rewriting}"
            return self._ended(Status.INCONCLUSIVE, why)
        return None

    def _fails_always(self) -> Steps[bool]:
        for build in range(_LOOKS):
            (verdict,) = yield from self._ledger.whole((Wish(0, CONTROL, build=build),))
            if verdict is not Verdict.BAD:
                return False
        return True

    def _wish(self, nodes: int, purpose: str) -> Wish:
        return Wish(nodes | self._simplifications, purpose)

    def _fails(self, wish: Wish, ahead: Sequence[Wish] = ()) -> Steps[bool]:
        """Return whether a smaller set fails, and go on from it if it does."""
        failing = yield from self._ledger.first((wish,), Verdict.BAD, tuple(ahead))
        if failing is not None:
            self._left = failing.mask
        return failing is not None

    def _from_hints(self) -> Steps[None]:
        """Try the nodes that the failure names, alone, together, and with what leads to them."""
        named = [index for index in self._hints() if index < len(self._reads)]
        tries = [1 << index for index in named]
        tries += [mask_of(named)] if len(named) > 1 else []
        readers = [node for node, reads in enumerate(self._reads) if not reads.isdisjoint(named)]
        tries += [mask_of((*named, *readers))] if named and readers else []
        distance = 1
        while named and distance <= _FARTHEST and 2 * tries[-1].bit_count() < len(self._reads):
            ball = self._upstream(named, self._all, distance)
            tries += [ball] if ball not in tries else []
            distance *= 2
        for nodes in tries:
            if (yield from self._fails(self._wish(nodes, _NAMED))):
                return

    def _upstream(self, nodes: Collection[int], within: int, distance: int | None = None) -> int:
        """Return nodes with what leads to them, at most so many steps away."""
        inside = items_of(within)
        reached, edge, steps = set(nodes), set(nodes), 0
        while edge and (distance is None or steps < distance):
            edge = ({read for index in edge for read in self._reads[index]} & inside) - reached
            reached |= edge
            steps += 1
        return mask_of(reached)

    def _downstream(self, index: int, within: int) -> int:
        reached = {index}
        for node in bits(within):
            if not reached.isdisjoint(self._reads[node]):
                reached.add(node)
        return mask_of(reached)

    def _outer(self) -> Steps[None]:
        nodes = bits(self._nodes)
        end = yield from self._halved(len(nodes), lambda size: nodes[:size], _LAST)
        yield from self._only(self._upstream([nodes[end - 1]], self._nodes))
        nodes = bits(self._nodes)
        size = yield from self._galloped(len(nodes), lambda size: nodes[len(nodes) - size :], _FIRST)
        yield from self._only(self._downstream(nodes[-size], self._nodes))

    def _only(self, nodes: int) -> Steps[None]:
        if nodes != self._nodes:
            yield from self._fails(self._wish(nodes, _CONNECTED))

    def _galloped(self, whole: int, part: Callable[[int], Sequence[int]], purpose: str) -> Steps[int]:
        """Return what :meth:`_halved` does, in fewer probes where it is small: sizes are doubled until one fails."""
        low, high = 0, 1
        while high < whole:
            ahead = [self._wish(mask_of(part(2 * high)), purpose)] if 2 * high < whole else []
            if (yield from self._fails(self._wish(mask_of(part(high)), purpose), ahead)):
                return (yield from self._halved(high, part, purpose, low))
            low, high = high, 2 * high
        return (yield from self._halved(whole, part, purpose, low))

    def _halved(self, whole: int, part: Callable[[int], Sequence[int]], purpose: str, low: int = 0) -> Steps[int]:
        """Return the smallest size of a part that fails, as far as smaller ones do not; ``low`` does not."""
        high = whole
        while high - low > 1:
            middle = (low + high) // 2
            following = {(low + middle) // 2, (middle + high) // 2} - {low, middle, high}
            ahead = [self._wish(mask_of(part(size)), purpose) for size in sorted(following)]
            if (yield from self._fails(self._wish(mask_of(part(middle)), purpose), ahead)):
                high = middle
            else:
                low = middle
        return high

    def _without_nodes(self, proposals: Proposals) -> Steps[int | None]:
        """Try to leave out a chunk of nodes, and what is no longer connected then."""
        (nodes,) = proposals.subsets
        if not nodes or nodes == self._nodes:
            return None
        ahead = [self._wish(each, _FEWER) for each in proposals.ahead if each and each != self._nodes]
        if not (yield from self._fails(self._wish(nodes, _FEWER), ahead)):
            return None
        yield from self._only(self._connected(self._nodes))
        return self._nodes

    def _connected(self, rest: int) -> int:
        return self._upstream([rest.bit_length() - 1], rest) if rest else rest

    def _simplified(self) -> Steps[None]:
        """Leave out simplifications that the failure does not need: all, then halves, down to single ones."""
        rewritings = items_of(self._left).intersection(self._of_file)
        needed = sorted(self._relevant(items_of(self._nodes)) | rewritings)
        self._left = self._nodes | mask_of(needed)
        if needed and not (yield from self._fails(Wish(self._nodes, _SIMPLER))):
            yield from self._fewer([1 << index for index in needed], _SIMPLER)

    def _fewer(self, masks: Sequence[int], purpose: str) -> Steps[None]:
        """Leave out chunks of some items, down to single ones, as long as the rest fails."""
        others = ~union(masks)

        def fails(proposals: Proposals) -> Steps[int | None]:
            (kept,) = proposals.subsets
            fewer = self._left & others | kept
            return kept if fewer != self._left and (yield from self._fails(Wish(fewer, purpose))) else None

        yield from minimised(chunk_deletion(masks), fails)

    def _needless(self, proposals: Proposals) -> Steps[int | None]:
        """Leave out each node in turn, and look again; return what is left without the first that was not needed."""
        # second looks at probes that passed although all that is left, and fails, was in them
        log = self._ledger.log
        passed = [mask for mask, verdict in log if verdict is Verdict.GOOD and not self._left & ~mask]
        yield from self._ledger.whole(tuple(Wish(mask, _PASSED, build=1) for mask in passed[-_WITNESSES:]))
        yield from self._looked_at_answer()
        wishes = self._lacking(proposals.subsets)
        look = 0
        while look < (enough(*self.misses) if len(proposals.subsets) > 1 else _LOOKS):
            verdicts = yield from self._ledger.whole(tuple(replace(wish, build=look) for wish in wishes))
            if Verdict.BAD in verdicts:
                mask = wishes[verdicts.index(Verdict.BAD)].mask
                if mask & ~self._left or mask in {0, self._left}:  # what stands for the control
                    return None
                self._left = mask
                return self._nodes
            wishes = [wish for wish, verdict in zip(wishes, verdicts, strict=True) if verdict is Verdict.GOOD]
            look += 1
        return None

    def _looked_at_answer(self) -> Steps[None]:
        """Look at what is left until it failed twice more often than it passed, a look was not judged, or most are."""
        while -1 < self._lead() < _LOOKS and (look := len(self._ledger.looks(self._left))) < _MOST_LOOKS:
            yield from self._ledger.whole((Wish(self._left, ALONE, build=look),))

    def _concluded(self) -> Result:
        """Certify the answer, or name it where something is not seen."""
        if self._lead() < _LOOKS:
            looks = ", ".join(self._ledger.looks(self._left))
            return self._ended(Status.INCONCLUSIVE, f"the answer does not fail each time it is built: {looks}")
        if self.undecided:
            some, all_of_them = len(self.undecided), self._nodes.bit_count()
            what = f"without {some} of its {all_of_them} nodes the model fails otherwise or was not judged"
            return self._ended(Status.NAMED, what)
        if any({*self._ledger.looks(mask)} != {Verdict.GOOD} for mask in self._without_one() or (self._left,)):
            return self._ended(Status.NAMED, "nothing was seen to pass for certain, the control included")
        return self._ended(Status.CERTIFIED, "")

    def _lead(self) -> int:
        """Return how much oftener the answer failed than it passed; below 0 where a look could not be judged."""
        looks = self._ledger.looks(self._left)
        return -1 if Verdict.UNRESOLVED in looks else looks.count(Verdict.BAD) - looks.count(Verdict.GOOD)


def enough(missed: int, failed: int) -> int:
    """Return how many looks at a pass are enough: one failure in five is missed, or more by Laplace's rule.

    As long as no miss was seen, so many failures in a row make such a check the less likely.
    """
    unseen = 1.0 if missed else (1 - _RATE) ** failed
    rate = max(_RATE, (missed + 1) / (missed + failed + 2)) if missed else _RATE
    return max(_LOOKS, ceil(log(_MISSED / unseen) / log(rate)))
