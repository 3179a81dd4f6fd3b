"""The search behind bisection: one minimal set of items that are bad together after another, until the rest is good."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import repeat
from math import ceil, comb, log2
from typing import Literal

from trtforensics.bisection.search import ledger, minimal
from trtforensics.bisection.search.chain import NotMonotoneError, Space
from trtforensics.bisection.search.model import AGAIN, Ask, Item, Outlook, Purpose, Result, Status, Verdict
from trtforensics.bisection.search.probing import ProbeSearch

_CERTIFICATE = 2
"""Builds that prove one culprit: it alone, and the rest. Each is built twice."""
_NOT_MONOTONE = (
    "outcomes are not monotone (an active item hides another), so each set was reduced until leaving out any one of "
    "its items was seen not to fail"
)
_MISFIT = (
    "builds disagree more than any single rate of noise explains: something besides the items decides; find what else "
    "changes from build to build or check to check (clocks, another load, another GPU, a seed), keep it fixed, and "
    "search again in a new directory"
)
_UNSEEN = "a second build of the certificate could not be judged"
_LEAST_SETS = 3
_QUIET = 3
"""Good groups in a row, each twice as large as the one before, after which the culprits are not close any more."""
_EVEN = 0.7
"""A group of this share of the mean gap between culprits is good about as often as bad."""


class Search(ProbeSearch):
    """The smallest sets of items that are bad together, with a certificate.

    ``find`` stops at one set or goes on until the rest is good. With ``confidence`` (above 0, below 1) outcomes may be
    wrong now and then, and probes are repeated until the answer is that sure; without it every outcome counts, and what
    decides is built a second time. ``edges`` are pairs of items, by index, that depend on each other.
    """

    def __init__(
        self,
        items: Sequence[Item],
        *,
        find: Literal["first", "all"] = "all",
        confidence: float | None = None,
        edges: Collection[tuple[int, int]] = (),
        max_builds: int | None = None,
    ) -> None:
        super().__init__(max_builds)
        self._exact = confidence is None
        self._space = Space(items, edges)
        self._finder: minimal.Finder = minimal.ExactFinder(self._ledger, self._space)
        if confidence is not None:
            from trtforensics.bisection.search.noisy import NoisyFinder  # noqa: PLC0415 - numpy is for these only

            self._finder = NoisyFinder(self._ledger, self._space, confidence)
        self._find = find
        self._sweep = Sweep(self._ledger, self._space)
        self._confirmed = 0
        self._harmless = 0
        self._sets: list[minimal.MinimalSet] = []
        self._reasons: list[str] = []
        self._status: Status | None = None
        self._rest = self._space.all
        self._doubted: int | None = None

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask or to wait for."""
        return super().done and not self._ledger.pending

    def _record(self, wish: ledger.Wish, verdict: Verdict) -> None:
        self._finder.tell(wish, verdict)

    def _halted(self, wishes: ledger.Wishes) -> bool:
        return super()._halted(wishes if self._exact else ())

    def _unfinished(self, why: str) -> Result:
        return super()._unfinished("the builds allowed are used up" if self._spent else why)

    def outlook(self) -> Outlook:
        """Return what is known and how many builds are left."""
        self._advance()
        expected, worst = self._finder.left
        ended = self._status is not None
        ends = (self._ledger.seen(0) is None) + (self._ledger.seen(self._space.all) is None)
        second = _CERTIFICATE if self._exact else 0
        fixed = ends + _CERTIFICATE + second
        return Outlook(
            0.0 if ended else expected + fixed,
            0 if ended else worst + fixed,
            frozenset() if ended else ledger.items_of(self._finder.suspects),
            self._culprits(),
            tuple(atom.items for atom in self._space.atoms),
            0 if ended else second,
        )

    def _ended(self, status: Status, why: str = "") -> Result:
        members = sum(bad_set.members.bit_count() for bad_set in self._sets)
        return Result(
            status,
            "; ".join((*self._reasons, why) if why else self._reasons),
            self._culprits(),
            ledger.items_of(self._suspects),
            self._finder.confidence,
            ceil(log2(comb(self._space.all.bit_count(), max(members, 1)))) if self._space.all else 0,
            self._evidence(),
            tuple(bad_set.minimal for bad_set in self._sets if not bad_set.doubt),
            ledger.items_of(0 if status is Status.NOT_REPRODUCED else self._rest & ~self._harmless & ~self._suspects),
        )

    def _culprits(self) -> tuple[frozenset[int], ...]:
        return tuple(ledger.items_of(bad_set.members) for bad_set in self._sets if not bad_set.doubt)

    def _evidence(self) -> tuple[Ask, ...]:
        roles = {self._doubted: "judged both ways"} if self._doubted is not None else {}
        for bad_set in self._sets:
            roles |= dict.fromkeys(ledger.neighbours(bad_set.members), Purpose.BUT_ONE)
            roles |= {bad_set.inside: Purpose.TOGETHER, bad_set.items: Purpose.TOGETHER, bad_set.members: Purpose.ALONE}
        roles |= {self._rest: Purpose.REST, 0: Purpose.GOOD_END, self._space.all: Purpose.BAD_END}
        return self._ledger.evidence(roles)

    @property
    def _suspects(self) -> int:
        """Items that a whole set hides among, of each set that is not known for certain."""
        doubtful = 0
        for bad_set in self._sets:
            doubtful |= bad_set.inside if bad_set.inside != bad_set.members else 0
        if self._status is None:
            return doubtful | self._finder.unsettled(self._rest)
        return self._rest if self._status is Status.INCONCLUSIVE and not doubtful else doubtful

    def _run(self) -> ledger.Steps[Result]:
        try:
            self._status = yield from self._all_sets()
        except ledger.FlakyError as error:
            self._doubted = error.mask
            del self._sets[self._confirmed :]
            self._status = self._give_up(f"{error}: use --confidence")
        except minimal.MisfitError:
            self._status = self._give_up(_MISFIT)
        except minimal.TooNoisyError as error:
            self._status = self._give_up(str(error))
        return self._ended(self._status)

    def _give_up(self, reason: str) -> Status:
        """End where verdicts cannot be what they are taken for: all that is not of a confirmed set stays suspected."""
        self._rest = self._space.all & ~sum(bad_set.items for bad_set in self._sets)
        self._harmless = 0
        self._reasons.append(reason)
        return Status.INCONCLUSIVE

    def _all_sets(self) -> ledger.Steps[Status]:
        refuted = yield from self._endpoints()
        if refuted is not None:
            return refuted
        within = self._rest
        while True:
            yield from self._one_set(within)
            first, verdict, within = yield from self._look_at_rest()
            if verdict is Verdict.BAD and self._find == "all" and (yield from self._swept()):
                first, verdict, within = yield from self._look_at_rest()
            if verdict is not Verdict.BAD:
                self._harmless = self._rest if first is Verdict.GOOD else 0
                return (yield from self._verdict_on(first))
            if self._find == "first":
                self._reasons.append("what is left fails too: there are other sets")
                return Status.NAMED

    def _endpoints(self) -> ledger.Steps[Status | None]:
        good, bad = yield from self._finder.endpoints()
        if good is Verdict.GOOD and bad is Verdict.BAD:
            return None
        side, outcome = ("good", good) if good is not Verdict.GOOD else ("bad", bad)
        reason = f"with everything taken from {side} the outcome is {outcome}"
        self._reasons.append(f"{reason}{f'; {AGAIN}' if outcome is Verdict.UNRESOLVED else ''}")
        return Status.INCONCLUSIVE if outcome is Verdict.UNRESOLVED else Status.NOT_REPRODUCED

    def _one_set(self, within: int) -> ledger.Steps[None]:
        """Find a set inside a bad subset, and see that each of its members is needed."""
        try:
            bad_set = yield from minimal.minimal_set(self._finder, self._space, within, self._rest)
        except NotMonotoneError:
            yield from self._contradiction()
            bad_set = yield from self._reduced(self._finder.unsettled(within))
        bad_set = yield from self._needed(bad_set)
        yield from self._contradiction()
        self._note(bad_set)

    def _needed(self, bad_set: minimal.MinimalSet) -> ledger.Steps[minimal.MinimalSet]:
        """Leave out each member in turn; reduce the set where one is not needed."""
        while bad_set.alone:
            smaller = ledger.neighbours(bad_set.members)
            settling = [self._finder.settle(mask, Verdict.GOOD, Purpose.BUT_ONE) for mask in smaller]
            verdicts = yield from ledger.each(settling)
            if Verdict.BAD not in verdicts:
                return replace(bad_set, minimal=Verdict.UNRESOLVED not in verdicts)
            yield from self._contradiction()
            bad_set = yield from self._reduced(smaller[verdicts.index(Verdict.BAD)])
        return bad_set

    def _reduced(self, mask: int) -> ledger.Steps[minimal.MinimalSet]:
        atoms = [atom.mask for atom in self._space.atoms_of(mask)]
        members = sum((yield from minimal.reduced(self._finder, 0, atoms)))
        return minimal.MinimalSet(members, members)

    def _contradiction(self) -> ledger.Steps[None]:
        """Build the two subsets of the first contradiction anew: if both verdicts come again, it is no flakiness."""
        if self._ledger.contradiction is not None and _NOT_MONOTONE not in self._reasons:
            yield from self._finder.confirm(self._ledger.contradiction, "does it come again")
            self._reasons.append(_NOT_MONOTONE)

    def _note(self, bad_set: minimal.MinimalSet) -> None:
        self._sets.append(bad_set)
        self._rest &= ~bad_set.items
        self._finder.sets += 1
        self._finder.members += bad_set.members.bit_count()
        if bad_set.doubt:
            count = bad_set.doubt.bit_count()
            alike = f"one of {count} items, which no build could tell apart"
            self._reasons.append(f"{alike}: every mix of them was refused")
        elif not bad_set.alone:
            self._reasons.append("the build of the culprits alone was refused")
        elif not bad_set.minimal:
            self._reasons.append("a build of the culprits without one of them was refused, so it may not be needed")

    def _look_at_rest(self) -> ledger.Steps[tuple[Verdict, Verdict, int]]:
        """Build the rest, look at the newest sets again; return the rest's verdict, that on it, what showed that."""
        # what shows it may be a similar subset
        rest = self._finder.settle(self._rest, Verdict.GOOD, Purpose.REST)
        first, _ = yield from ledger.each([rest, self._confirm()])
        if first is not Verdict.UNRESOLVED:
            return first, first, self._rest
        self._reasons.append("the build of everything but the culprits was refused")
        return first, *(yield from minimal.rest_by_proxy(self._finder, self._rest, self._space.atoms_of(self._rest)))

    def _confirm(self) -> ledger.Steps[Verdict]:
        """Look again at the sets not yet confirmed: each alone, and without each of its members; at a good rest too."""
        masks = [self._rest] if self._ledger.seen(self._rest) is Verdict.GOOD else []
        for bad_set in self._sets[self._confirmed :]:
            if bad_set.alone:
                smaller = ledger.neighbours(bad_set.members)
                masks += [bad_set.members, *(smaller if len(smaller) > 1 else ())]
        again = yield from self._finder.confirm(masks, Purpose.BUILT_AGAIN)
        self._confirmed = len(self._sets)
        return self._looked_twice(again=again)

    def _looked_twice(self, *, again: bool) -> Verdict:
        if not again and _UNSEEN not in self._reasons:
            self._reasons.append(_UNSEEN)
        return Verdict.GOOD if again else Verdict.UNRESOLVED

    def _swept(self) -> ledger.Steps[bool]:
        """Where sets of one item lie close together, look for the next ones in small groups; return whether any was."""
        before = len(self._sets)
        while groups := self._sweep.groups(self._sets, self._rest):
            purposes = [Purpose.ALONE if mask.bit_count() == 1 else "a few items alone" for mask in groups]
            settling = map(self._finder.settle, groups, repeat(Verdict.BAD), purposes)
            _, *verdicts = yield from ledger.each([self._confirm(), *settling])
            for mask, verdict in zip(groups, verdicts, strict=True):
                self._sweep.note(mask, verdict)
                if verdict is Verdict.BAD:
                    yield from self._one_set(mask)
        return len(self._sets) > before

    def _verdict_on(self, rest: Verdict) -> ledger.Steps[Status]:
        if rest is Verdict.GOOD:
            self._looked_twice(again=(yield from self._finder.confirm([self._rest], Purpose.BUILT_AGAIN)))
        yield from self._contradiction()
        if any(bad_set.doubt for bad_set in self._sets):
            return Status.INCONCLUSIVE
        proven = all(bad_set.alone and bad_set.minimal for bad_set in self._sets)
        certified = rest is Verdict.GOOD and proven and _UNSEEN not in self._reasons
        return Status.CERTIFIED if certified else Status.NAMED


class Sweep:
    """The groups to build next, where the square of twice the mean gap between sets is less than what is left."""

    def __init__(self, verdicts: ledger.Ledger, space: Space) -> None:
        self._ledger = verdicts
        self._space = space
        self._passed = 0
        self._quiet = 0
        self._running = False

    def groups(self, sets: Sequence[minimal.MinimalSet], rest: int) -> list[int]:
        """Return the next groups of a round; none: the round is over."""
        singles = [bad_set for bad_set in sets if bad_set.alone and bad_set.members.bit_count() == 1]
        for bad_set in singles:
            self._passed |= bad_set.passed
        gap = 1 + (self._passed & rest).bit_count() / max(len(singles), 1)
        fresh = self._space.atoms_of(rest & ~self._passed)
        dense = len(singles) >= _LEAST_SETS and (2 * gap) ** 2 <= len(fresh)
        if not fresh or self._quiet == _QUIET or not (self._running or dense):
            self._running, self._quiet = False, 0
            return []
        self._running = True
        size = 1 << int(log2(max(_EVEN * gap, 1))) << self._quiet
        starts = range(0, len(fresh), size)[: self._ledger.most_room]
        return [sum(atom.mask for atom in fresh[start : start + size]) for start in starts]

    def note(self, mask: int, verdict: Verdict) -> None:
        """Take the verdict of a group."""
        if verdict is Verdict.BAD:
            self._quiet = 0
        else:
            self._passed |= mask
            self._quiet = min(self._quiet + 1, _QUIET)
