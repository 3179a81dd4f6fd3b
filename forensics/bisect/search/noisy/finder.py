"""Finds members when outcomes may be wrong: Bayesian search to a stated confidence.

A build is first checked until its own outcome is settled; whether that outcome means what it says is then weighed
against everything else that was built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trtforensics.bisect.search.basis.chain import Chain
from trtforensics.bisect.search.basis.finder import SetMember
from trtforensics.bisect.search.basis.model import BAD_END, GOOD_END, Verdict
from trtforensics.bisect.search.noisy.checks import Checks
from trtforensics.bisect.search.noisy.noise import BEFORE, likelihood
from trtforensics.bisect.search.noisy.posterior import Posterior

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.bisect.search.basis.ledger import Ledger, Steps, Wish, Wishes
    from trtforensics.bisect.search.basis.space import Atom, Space
    from trtforensics.bisect.search.noisy.noise import Array

_EXPECTED = 0.9
"""The prior probability of the expected outcome of a subset."""
_ENDPOINT_EXPECTED = 0.995
_DECISIONS = 5
"""Decisions that a single culprit takes: two endpoints, member, alone, rest. They share 3/4 of the allowed doubt."""
_PREFER_ALONE = 0.9
"""A build of the top suspect alone is preferred if it tells nearly as much as the best cut: it is needed anyway."""
_LEAST_GAIN = 1e-6
"""A build that would tell less than this, in bits, is not worth it."""
_MOST_REFUSALS = 2


class NoisyFinder:
    """Chooses the most informative build, until the answer has the stated confidence."""

    def __init__(self, ledger: Ledger, space: Space, confidence: float) -> None:
        self._ledger = ledger
        self._space = space
        self._allowed = 1 - confidence
        self._decided = 0
        self._checks = Checks(ledger)
        self._known: dict[int, bool] = {}
        self._posterior: Posterior | None = None
        self._chain = Chain(ledger, 0, space.atoms)
        self.confidence = 1.0

    @property
    def suspects(self) -> int:
        """The items that the member being sought hides among, all but the allowed doubt."""
        if self._posterior is None:
            return self._space.all
        return sum(self._chain.atoms[place].mask for place in self._likely(self._posterior.of_atoms()))

    def unsettled(self, within: int) -> int:
        """Return the items of a bad subset that a whole set of it hides among: further members come before the last."""
        if self._posterior is None or self._chain.links[-1] & ~within:
            return within
        return self._chain.links[self._likely(self._posterior.of_atoms())[-1] + 1]

    @property
    def left(self) -> tuple[float, int]:
        """Builds expected, and at worst, until that member is known, at the information that the next build carries."""
        if self._posterior is None:
            bits, gain = float(np.log2(max(1, len(self._space.atoms)))), 1.0
        else:
            share = self._posterior.of_atoms()
            bits = float(-(share * np.log2(np.maximum(share, 1e-300))).sum())
            gain = max(0.05, float(self._posterior.gain_of_cuts().max()))
        return bits / gain, int(np.ceil(2 * bits / gain))

    def tell(self, wish: Wish, verdict: Verdict) -> None:
        """Record one check of one build."""
        self._checks.tell(wish, verdict)

    def endpoints(self) -> Steps[tuple[Verdict, Verdict]]:
        """Build everything from good and everything from bad; return the two verdicts."""
        good = yield from self._decide(0, Verdict.GOOD, GOOD_END, _ENDPOINT_EXPECTED)
        if good is not Verdict.GOOD:
            return good, Verdict.UNRESOLVED
        return good, (yield from self._decide(self._space.all, Verdict.BAD, BAD_END, _ENDPOINT_EXPECTED))

    def settle(self, mask: int, expected: Verdict, purpose: str, *, again: bool = False) -> Steps[Verdict]:
        """Build a subset until it is sure enough whether a culprit is active in it; ``expected`` is the likelier."""
        del again
        known = self._ledger.seen(mask)
        return known if known is not None else (yield from self._decide(mask, expected, purpose, _EXPECTED))

    def confirm(self, masks: Sequence[int], purpose: str, *, anew: bool = False) -> Steps[bool]:
        """Return True: subsets were looked at until their verdicts are sure enough."""
        del masks, purpose, anew
        yield from ()
        return True

    def _decide(self, mask: int, expected: Verdict, purpose: str, likely: float) -> Steps[Verdict]:
        before = likely if expected is Verdict.BAD else 1 - likely
        while True:
            outcomes = [verdict for built, verdict in self._checks.outcomes if built == mask]
            if outcomes.count(Verdict.UNRESOLVED) >= _MOST_REFUSALS:
                self._ledger.record(mask, Verdict.UNRESOLVED)
                return Verdict.UNRESOLVED
            noise = self._noise(besides=mask)
            active, quiet = noise * before, noise * (1 - before)
            for verdict in outcomes:
                if verdict is not Verdict.UNRESOLVED:
                    active = active * likelihood(active=True, bad=verdict is Verdict.BAD)
                    quiet = quiet * likelihood(active=False, bad=verdict is Verdict.BAD)
            bad = float(active.sum() / (active.sum() + quiet.sum()))
            if outcomes and max(bad, 1 - bad) >= 1 - self._doubt:
                return self._conclude(mask, bad=bad)
            yield from self._another([mask], purpose)

    @property
    def _doubt(self) -> float:
        """The allowed doubt of the next decision; decisions beyond those of a single culprit get ever less."""
        further = self._decided - _DECISIONS
        return self._allowed * (0.75 / _DECISIONS if further < 0 else 0.125 * 0.5**further)

    def _conclude(self, mask: int, *, bad: float) -> Verdict:
        self.confidence *= max(bad, 1 - bad)
        self._decided += 1
        self._known[mask] = bad > 1 - bad
        verdict = Verdict.BAD if self._known[mask] else Verdict.GOOD
        self._ledger.record(mask, verdict)
        return verdict

    def _noise(self, besides: int | None = None) -> Array:
        """Return what the builds of subsets of known state say about the noise."""
        noise = BEFORE.copy()
        for mask, verdict in self._checks.outcomes:
            active = self._known.get(mask)
            if active is not None and mask != besides and verdict is not Verdict.UNRESOLVED:
                noise *= likelihood(active=active, bad=verdict is Verdict.BAD)
        noise /= noise.sum()
        return noise

    def member(self, kept: int, pool: Sequence[Atom]) -> Steps[SetMember]:
        """Find one member of a minimal bad set inside ``kept`` and ``pool``, which are bad together."""
        self._chain = chain = Chain(self._ledger, kept, pool)
        self._posterior = posterior = Posterior(chain, self._noise())
        read = 0
        while True:
            for mask, verdict in self._checks.outcomes[read:]:
                self._weigh(posterior, chain, mask, verdict)
            read = len(self._checks.outcomes)
            share = posterior.of_atoms()
            top = int(share.argmax())
            alone = kept | chain.atoms[top].mask
            if share[top] >= 1 - self._doubt:
                complete = posterior.complete(top) >= 1 - self._doubt and (alone, Verdict.BAD) in self._checks.outcomes
                self.confidence *= float(share[top])
                self._decided += 1
                if complete:
                    self._known[alone] = True
                    self._ledger.record(alone, Verdict.BAD)
                return SetMember(chain.atoms[top].mask, pool[:top], complete)
            choices = self._choices(posterior, chain, top)
            if not choices:
                return SetMember(0, doubt=sum(chain.atoms[place].mask for place in self._likely(share)))
            yield from self._another(choices, "narrow")

    def _weigh(self, posterior: Posterior, chain: Chain, mask: int, verdict: Verdict) -> None:
        """Apply one outcome, unless its cause may lie outside the chain or the state of its subset is known already."""
        if verdict is Verdict.UNRESOLVED:
            self._ledger.record(mask, verdict)
            chain.refuse(mask)
        elif mask not in self._known and not mask & ~chain.links[-1]:
            posterior.see(mask, bad=verdict is Verdict.BAD)

    def _choices(self, posterior: Posterior, chain: Chain, top: int) -> list[int]:
        """Return the subsets whose builds are informative, the most informative first."""
        alone = chain.links[0] | chain.atoms[top].mask
        gains = posterior.gain_of_cuts()
        gains[list(chain.refused)] = 0.0
        order = [int(link) for link in np.argsort(-gains, kind="stable") if gains[link] >= _LEAST_GAIN]
        spread = self._spread(posterior.of_atoms(), set(order))
        cuts = [chain.links[link] for link in dict.fromkeys((*spread, *order))]
        alone_gain = posterior.gain_of_alone(top) if self._ledger.seen(alone) is None else 0.0
        if alone_gain >= max(_LEAST_GAIN, _PREFER_ALONE * float(gains.max())):
            return [alone, *(cut for cut in cuts if cut != alone)]
        return cuts

    def _spread(self, share: Array, useful: set[int]) -> list[int]:
        """Return cuts that divide the probability into equal shares, for several builds at once."""
        room = self._ledger.room
        if room == 1:
            return []
        marks = np.arange(1, room + 1) / (room + 1)
        links = (int(link) for link in np.searchsorted(np.cumsum(share), marks) + 1)
        return [link for link in links if link in useful]

    def _likely(self, share: Array) -> list[int]:
        order = np.argsort(-share, kind="stable")
        count = int(np.searchsorted(np.cumsum(share[order]), 1 - self._doubt)) + 1
        return sorted(int(place) for place in order[:count])

    def _another(self, masks: list[int], purpose: str) -> Steps[None]:
        """Wait until one more build is settled; builds that have begun are checked to their end before others start."""
        before = len(self._checks.outcomes)
        while len(self._checks.outcomes) == before:
            begun = [wish for wish in self._checks.unfinished() if wish.key not in self._ledger.asked]
            room = self._ledger.room - len(begun)
            fresh: Wishes = ()
            if room > 0 and (not self._ledger.pending or self._ledger.room > 1):
                fresh = tuple(self._checks.next_build(mask, purpose) for mask in masks[:room])
            yield (*begun, *fresh)
