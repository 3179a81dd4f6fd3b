"""Finds members when outcomes may be wrong: Bayesian search to a stated confidence.

A build is checked until its own outcome is settled; that is then weighed against everything else that was built.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, exp, log

import numpy as np

from trtforensics.bisection.search import rates
from trtforensics.bisection.search.chain import Atom, Chain, Space
from trtforensics.bisection.search.ledger import Ledger, Steps, Wish, Wishes
from trtforensics.bisection.search.minimal import Finder, SetMember, TooNoisyError
from trtforensics.bisection.search.model import Purpose, Verdict

_EXPECTED = 0.9
"""The prior probability of the expected outcome of a subset."""
_DIFFER = 0.99
"""The prior probability that bad's end is bad more often than good's."""
_HALF = 0.5
_ENOUGH = 4
"""Builds of one subset after which the ends are built too, half as often: they tell how noisy builds are."""
_DECISIONS = 5
"""Decisions that a single culprit takes: two endpoints, member, alone, rest. They share 3/4 of the allowed doubt."""
_PREFER_ALONE = 0.9
"""A build of the top suspect alone is preferred if it tells nearly as much as the best cut: it is needed anyway."""
_LEAST_GAIN = 1e-6
"""A build that would tell less than this, in bits, is not worth it."""
_MOST_REFUSALS = 2
_RIGHT_BEFORE, _WRONG_BEFORE = 15.0, 1.0
"""The prior: as if 1 of 16 checks had been wrong."""
_MOST_WRONG = 0.3
_MISJUDGED = 1e-4
"""The allowed probability of a wrong outcome when the checks of a build end."""
_MOST_CHECKS = 60


@dataclass(slots=True)
class _Build:
    good: int = 0
    bad: int = 0
    settled: bool = False


class Checks:
    """The checks of builds, each until one outcome leads by enough; ``outcomes`` are those settled, in that order."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._builds: dict[tuple[int, int], _Build] = {}
        self._right = _RIGHT_BEFORE
        self._wrong = _WRONG_BEFORE
        self.outcomes: list[tuple[int, Verdict]] = []

    def tell(self, wish: Wish, verdict: Verdict) -> None:
        """Record one check; an unresolved one settles its build as unresolved."""
        build = self._builds.setdefault((wish.mask, wish.build), _Build())
        if build.settled:
            return
        if verdict is Verdict.UNRESOLVED:
            self._settle(wish.mask, build, verdict)
            return
        build.good += verdict is Verdict.GOOD
        build.bad += verdict is Verdict.BAD
        if abs(build.good - build.bad) >= self._lead() or build.good + build.bad >= _MOST_CHECKS:
            self._settle(wish.mask, build, Verdict.GOOD if build.good > build.bad else Verdict.BAD)

    def _settle(self, mask: int, build: _Build, verdict: Verdict) -> None:
        build.settled = True
        self._right += max(build.good, build.bad)
        self._wrong += min(build.good, build.bad)
        self.outcomes.append((mask, verdict))

    def _lead(self) -> int:
        wrong = min(_MOST_WRONG, self._wrong / (self._wrong + self._right))
        return ceil(log(1 / _MISJUDGED) / log((1 - wrong) / wrong))

    def unfinished(self) -> list[Wish]:
        """Return the next check of every build that is not settled."""
        begun = ((key, build.good + build.bad) for key, build in self._builds.items() if not build.settled)
        return [Wish(mask, "check again", number, checks) for (mask, number), checks in begun]

    def next_build(self, mask: int, purpose: str) -> Wish:
        """Return the first check of one more build of a subset."""
        number = 0
        while (mask, number, 0) in self._ledger.asked:
            number += 1
        return Wish(mask, purpose, number)


class NoisyFinder(Finder):
    """Chooses the most informative build, until the answer has the stated confidence."""

    def __init__(self, ledger: Ledger, space: Space, confidence: float) -> None:
        super().__init__(ledger, space)
        self._allowed = 1 - confidence
        self._decided = 0
        self._checks = Checks(ledger)
        self._known: dict[int, bool] = {}
        self._follows: dict[int, bool] = {}
        self._posterior: rates.Posterior | None = None

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
        """Build both ends until it is sure enough whether bad's end is bad more often than good's; return verdicts."""
        ends = [(0, Purpose.GOOD_END), (self._space.all, Purpose.BAD_END)]
        while True:
            outcomes = [[verdict for mask, verdict in self._checks.outcomes if mask == end] for end, _ in ends]
            refused = [verdicts.count(Verdict.UNRESOLVED) >= _MOST_REFUSALS for verdicts in outcomes]
            if any(refused):
                return Verdict.UNRESOLVED if refused[0] else Verdict.GOOD, Verdict.UNRESOLVED
            good, bad = (
                [each is Verdict.BAD for each in verdicts if each is not Verdict.UNRESOLVED] for verdicts in outcomes
            )
            differ = _differ(good, bad)
            if good and bad and max(differ, 1 - differ) >= 1 - 2 * self._doubt:
                return self._ends_concluded(differ, (sum(good) + sum(bad)) / (len(good) + len(bad)))
            first, second = ends if len(good) <= len(bad) else reversed(ends)
            yield from self._another([first[0], second[0]], first[1])

    def _ends_concluded(self, differ: float, rate: float) -> tuple[Verdict, Verdict]:
        if differ > 1 - differ:
            self._conclude(0, bad=(1 - differ) / 2)
            return Verdict.GOOD, self._conclude(self._space.all, bad=(1 + differ) / 2)
        self.confidence *= 1 - differ
        return (Verdict.BAD, Verdict.BAD) if rate > _HALF else (Verdict.GOOD, Verdict.GOOD)

    def settle(self, mask: int, expected: Verdict, purpose: str, ahead: int = 0) -> Steps[Verdict]:
        """Build a subset until it is sure enough whether a culprit is active in it; ``expected`` is the likelier."""
        del ahead
        known = self._ledger.seen(mask)
        return known if known is not None else (yield from self._decide(mask, expected, purpose))

    def confirm(self, masks: Sequence[int], purpose: str) -> Steps[bool]:
        """Return True: subsets were looked at until their verdicts are sure enough."""
        del masks, purpose
        yield from ()
        return True

    def _decide(self, mask: int, expected: Verdict, purpose: str) -> Steps[Verdict]:
        before = _EXPECTED if expected is Verdict.BAD else 1 - _EXPECTED
        while True:
            outcomes = [verdict for subset, verdict in self._checks.outcomes if subset == mask]
            if outcomes.count(Verdict.UNRESOLVED) >= _MOST_REFUSALS:
                self._ledger.record(mask, Verdict.UNRESOLVED)
                return Verdict.UNRESOLVED
            resolved = [(mask, verdict is Verdict.BAD) for verdict in outcomes if verdict is not Verdict.UNRESOLVED]
            known = self._of_known_state(besides=mask.__eq__)
            bad, evidence = _active(known, [each for _, each in resolved], before)
            rates.require_fit([*((other, each) for other, _, each in known), *resolved], evidence)
            if outcomes and max(bad, 1 - bad) >= 1 - self._doubt:
                return self._conclude(mask, bad=bad)
            yield from self._another(*self._most_telling(mask, purpose, len(outcomes)))

    def _most_telling(self, mask: int, purpose: str, builds: int) -> tuple[list[int], str]:
        """Return what to build to decide on a subset: after some builds of it, the rates of the ends tell more."""
        ends = {0: Purpose.GOOD_END, self._space.all: Purpose.BAD_END}
        counts = Counter(subset for subset, _ in self._checks.outcomes)
        lacking = min(ends, key=lambda end: counts[end])
        if builds >= _ENOUGH and counts[lacking] < builds // 2 and mask not in ends:
            return [lacking], ends[lacking]
        return [mask], purpose

    @property
    def _doubt(self) -> float:
        """The allowed doubt of the next decision; decisions beyond those of a single culprit get ever less."""
        further = self._decided - _DECISIONS
        return self._allowed * (0.75 / _DECISIONS if further < 0 else 0.25 / ((further + 1) * (further + 2)))

    def _conclude(self, mask: int, *, bad: float) -> Verdict:
        self.confidence *= max(bad, 1 - bad)
        self._decided += 1
        self._known[mask] = bad > 1 - bad
        verdict = Verdict.BAD if self._known[mask] else Verdict.GOOD
        self._ledger.record(mask, verdict)
        self._require_one_rate()
        return verdict

    def _require_one_rate(self) -> None:
        known = self._of_known_state(besides=lambda _: False)
        rates.require_one_rate(known, rates.normalised(_log_noise(known))[1])
        rates.require_apart(known)

    def _of_known_state(self, besides: Callable[[int], bool]) -> list[tuple[int, bool, bool]]:
        """Return the builds of subsets of known state: subset, whether a culprit is active, whether it was bad."""
        # without states that only follow from the members, of subsets that ``besides`` holds for
        states = {mask: active for mask, active in self._follows.items() if not besides(mask)} | self._known
        return [
            (mask, states[mask], verdict is Verdict.BAD)
            for mask, verdict in self._checks.outcomes
            if mask in states and verdict is not Verdict.UNRESOLVED
        ]

    def member(self, kept: int, pool: Sequence[Atom]) -> Steps[SetMember]:
        """Find one member of a minimal bad set inside ``kept`` and ``pool``, which are bad together."""
        self._chain = chain = Chain(self._ledger, kept, pool)
        known = self._of_known_state(besides=lambda mask: not mask & ~chain.links[-1])
        noise, evidence = rates.normalised(_log_noise(known))
        weighed = [(mask, bad) for mask, _, bad in known]
        self._posterior = posterior = rates.Posterior(chain, noise)
        read = 0
        while True:
            for mask, verdict in self._checks.outcomes[read:]:
                weighed += self._weigh(posterior, chain, mask, verdict)
            read = len(self._checks.outcomes)
            rates.require_fit(weighed, evidence + posterior.evidence)
            share = posterior.of_atoms()
            top = int(share.argmax())
            alone = kept | chain.atoms[top].mask
            if share[top] >= 1 - self._doubt:
                complete = posterior.complete(top) >= 1 - self._doubt and (alone, Verdict.BAD) in self._checks.outcomes
                self.confidence *= float(share[top])
                self._decided += 1
                self._follows |= posterior.states({mask for mask, _ in weighed}, top, complete=complete)
                if complete:
                    self._known[alone] = True
                    self._ledger.record(alone, Verdict.BAD)
                self._require_one_rate()
                return SetMember(chain.atoms[top].mask, pool[:top], complete)
            choices = self._choices(posterior, chain, top)
            if not choices:
                return SetMember(0, doubt=sum(chain.atoms[place].mask for place in self._likely(share)))
            yield from self._another(choices, "narrow")

    def _weigh(self, posterior: rates.Posterior, chain: Chain, mask: int, verdict: Verdict) -> list[tuple[int, bool]]:
        """Apply and return one outcome, unless its cause may lie outside the chain or its state is known already."""
        if verdict is Verdict.UNRESOLVED:
            self._ledger.record(mask, verdict)
            chain.refuse(mask)
        elif mask not in self._known and not mask & ~chain.links[-1]:
            posterior.see(mask, bad=verdict is Verdict.BAD)
            return [(mask, verdict is Verdict.BAD)]
        return []

    def _choices(self, posterior: rates.Posterior, chain: Chain, top: int) -> list[int]:
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

    def _spread(self, share: rates.Array, useful: set[int]) -> list[int]:
        """Return cuts that divide the probability into equal shares, for several builds at once."""
        room = self._ledger.room
        if room == 1:
            return []
        marks = np.arange(1, room + 1) / (room + 1)
        links = (int(link) for link in np.searchsorted(np.cumsum(share), marks) + 1)
        return [link for link in links if link in useful]

    def _likely(self, share: rates.Array) -> list[int]:
        order = np.argsort(-share, kind="stable")
        count = int(np.searchsorted(np.cumsum(share[order]), 1 - self._doubt)) + 1
        return sorted(int(place) for place in order[:count])

    def _another(self, masks: list[int], purpose: str) -> Steps[None]:
        """Wait until one more build is settled; builds that have begun are checked to their end before others start."""
        before = len(self._checks.outcomes)
        judged = sum(verdict is not Verdict.UNRESOLVED for _, verdict in self._checks.outcomes)
        if judged >= (self._decided + 1) * rates.most_builds(len(self._space.atoms), self._doubt):
            raise TooNoisyError(judged)
        while len(self._checks.outcomes) == before:
            begun = [wish for wish in self._checks.unfinished() if wish.key not in self._ledger.asked]
            room = self._ledger.room - len(begun)
            fresh: Wishes = ()
            if room > 0 and (not self._ledger.pending or self._ledger.room > 1):
                fresh = tuple(self._checks.next_build(mask, purpose) for mask in masks[:room])
            yield (*begun, *fresh)


def _log_noise(known: Sequence[tuple[int, bool, bool]]) -> rates.Array:
    """Return the log weight of each point of the grid of rates after builds of subsets of known state."""
    counts = Counter((active, bad) for _, active, bad in known)
    logs = np.log(rates.BEFORE)
    for (active, bad), count in counts.items():
        logs += count * np.log(rates.likelihood(active=active, bad=bad))
    return logs


def _differ(good: Sequence[bool], bad: Sequence[bool]) -> float:
    """Return the probability that bad's end, by whether its builds were bad, has another rate than good's."""
    _, apart = rates.normalised(_log_noise([*((0, False, each) for each in good), *((0, True, each) for each in bad)]))
    together = rates.any_rate(len(good) + len(bad) - sum(good) - sum(bad), sum(good) + sum(bad))
    return 1 / (1 + exp(together - apart) * (1 - _DIFFER) / _DIFFER)


def _active(known: Sequence[tuple[int, bool, bool]], outcomes: Sequence[bool], before: float) -> tuple[float, float]:
    """Return the probability that a culprit is active in a subset, and the log probability of all these outcomes."""
    logs = [
        _log_noise([*known, *((0, active, bad) for bad in outcomes)]) + log(share)
        for active, share in ((True, before), (False, 1 - before))
    ]
    weights, evidence = rates.normalised(np.concatenate(logs))
    return float(weights[: len(logs[0])].sum()), evidence
