"""Simulated builds for the bisection benchmark: what a subset would show, and how many were asked for."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trtforensics.bisection.search import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.bisection.search import Ask

    Sets = tuple[frozenset[int], ...]


def disjoint_sets(seed: int, items: int, sizes: Iterable[int]) -> Sets:
    """Return culprit sets of these sizes, sampled without overlap."""
    sizes = list(sizes)
    drawn = iter(random.Random(seed).sample(range(items), sum(sizes)))
    return tuple(frozenset(next(drawn) for _ in range(size)) for size in sizes)


@dataclass
class Builds:
    """Deterministic builds: bad where a whole set is active. Every different subset costs one build, once."""

    items: int
    sets: Sets
    built: dict[frozenset[int], bool] = field(default_factory=dict)

    def bad(self, active: Iterable[int]) -> bool:
        """Build a subset."""
        subset = frozenset(active)
        if subset not in self.built:
            self.built[subset] = any(culprits <= subset for culprits in self.sets)
        return self.built[subset]

    def verdict(self, ask: Ask) -> Verdict:
        """Answer a probe."""
        return Verdict.BAD if self.bad(ask.active) else Verdict.GOOD


@dataclass
class NoisyBuilds:
    """Builds in which the culprit shows with probability ``shown``; each check of one is wrong with ``flip``."""

    seed: int
    culprit: int
    flip: float
    shown: float
    builds: int = 0
    checks: int = 0

    def verdict(self, ask: Ask) -> Verdict:
        """Answer a probe: the same build and check of the same subset always show the same."""
        return self.check(ask.active, ask.build, ask.check)

    def check(self, active: frozenset[int], build: int, check: int) -> Verdict:
        """Check one build of a subset."""
        self.builds += check == 0
        self.checks += 1
        name = f"{self.seed} {hash(active)} {build}"
        bad = self.culprit in active and random.Random(name).random() < self.shown
        flipped = random.Random(f"{name} {check}").random() < self.flip
        return Verdict.BAD if bad != flipped else Verdict.GOOD


@dataclass
class RefusingBuilds:
    """Builds with one culprit where a share of all mixes is refused, and so is every mix that splits a block.

    Blocks are neighbours that are coupled. Nothing is refused of the two endpoints.
    """

    seed: int
    items: int
    culprit: int
    refused: float
    blocks: tuple[frozenset[int], ...]
    builds: int = 0

    def verdict(self, ask: Ask) -> Verdict:
        """Answer a probe; a second look is not counted."""
        self.builds += ask.build == ask.check == 0
        mixed = 0 < len(ask.active) < self.items
        unlucky = random.Random(f"{self.seed} {hash(ask.active)}").random() < self.refused
        if mixed and (unlucky or any(0 < len(block & ask.active) < len(block) for block in self.blocks)):
            return Verdict.UNRESOLVED
        return Verdict.BAD if self.culprit in ask.active else Verdict.GOOD

    @property
    def block(self) -> frozenset[int]:
        """The block of the culprit, itself where it is not coupled."""
        return next((block for block in self.blocks if self.culprit in block), frozenset({self.culprit}))


def coupled_blocks(seed: int, items: int, share: float) -> tuple[frozenset[int], ...]:
    """Return blocks of two to four neighbours that cover about ``share`` of the items."""
    draw = random.Random(f"blocks {seed}")
    blocks: list[frozenset[int]] = []
    start = 0
    mean = 3
    while start < items - 4:
        if draw.random() < share / (mean - (mean - 1) * share):
            size = draw.randint(2, 4)
            blocks.append(frozenset(range(start, start + size)))
            start += size
        else:
            start += 1
    return tuple(blocks)
