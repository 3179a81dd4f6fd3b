"""The matrix products and convolutions of a build, with what the tactics offered for each tell of their arithmetic."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trtforensics.model.kernel import KernelFacts
from trtforensics.model.log import Build, BuildLog
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import NO_TACTIC, Candidate, TimedTactics
from trtforensics.parsers.builds.views import Spans
from trtforensics.parsers.notation.kernels import read_kernel, read_tactic

_AT_ONCE = 4096
"""Sums that are judged together: several arrays of all timings of a large log would fill the memory."""


@dataclass(frozen=True, slots=True)
class SumTactic:
    """A tactic timed for a sum: its time in ms, what its kernel's name tells, and its line."""

    tactic: int | None
    time_ms: float | None
    facts: KernelFacts
    span: SourceSpan


class _Offers(NamedTuple):
    """The tactics timed for a layer, or for an operation inside a ForeignNode, and the one that was chosen.

    ``used`` is False where the log does not tell that the engine uses the choice.
    """

    name: str
    nodes: tuple[str, ...]
    tactic: int | None
    timed: TimedTactics
    outputs: tuple[str, ...]
    used: bool

    def read(self, candidate: Candidate, spans: Spans) -> SumTactic:
        facts = read_tactic(candidate.kernel, candidate.splits, self.outputs)
        return SumTactic(candidate.tactic, candidate.time_ms, facts, spans.of(candidate.line))


@dataclass(frozen=True, slots=True)
class TunedSum:
    """A layer, or an operation inside a ForeignNode, whose chosen kernel tells the type of its sums.

    ``rival_accumulators`` are the types in which the other tactics accumulate, None among them where a kernel does not
    tell.
    """

    offers: _Offers
    chosen: SumTactic
    rival_accumulators: frozenset[str | None]
    spans: Spans

    @property
    def name(self) -> str:
        """The layer or the operation."""
        return self.offers.name

    def rivals(self) -> Iterator[SumTactic]:
        """Give the other tactics of the same formats, fastest first and untimed ones last."""
        others = (candidate for candidate in self.offers.timed if candidate.tactic != self.chosen.tactic)
        return (self.offers.read(candidate, self.spans) for candidate in others)


def sums_of(build: Build, log: BuildLog) -> list[TunedSum]:
    """Return the sums that the engine runs, or may run where the log does not tell, in the log's order."""
    spans = Spans(log.source, log.line_starts)
    products = [*_sums([*_layers(build)], spans), *_sums([*_operations(build)], spans)]
    return sorted(products, key=lambda product: product.chosen.span.line)


def _layers(build: Build) -> Iterator[_Offers]:
    for choice in build.choices:
        if choice.final is not False and build.may_be_in_engine(choice.pass_index):
            timed = TimedTactics(build.timings, choice.rows(build.timings))
            yield _Offers(choice.layer, (), choice.tactic, timed, choice.outputs, choice.final is True)


def _operations(build: Build) -> Iterator[_Offers]:
    blocks = {choice.layer: choice for choice in build.choices if choice.final}
    for operation in build.myelin_operations:
        block, timed = blocks.get(operation.foreign_node), operation.candidates
        inside = block is not None and block.first_line <= operation.span.line <= block.span.line
        if (
            (block is None or inside)
            and build.may_be_in_engine(operation.pass_index)
            and isinstance(timed, TimedTactics)
        ):
            yield _Offers(operation.op, operation.onnx_nodes, operation.selected, timed, (), inside)


def _sums(offers: Sequence[_Offers], spans: Spans) -> Iterator[TunedSum]:
    """Give the sums of layers, or of operations, where the chosen tactic's kernel tells its type."""
    for begin in range(0, len(offers), _AT_ONCE):
        some = offers[begin : begin + _AT_ONCE]
        for each, row, rivals in zip(some, *_raced(some), strict=True):
            chosen = each.read(each.timed.timings.candidate(row), spans) if row >= 0 else None
            if chosen is not None and chosen.facts.accumulator is not None:
                yield TunedSum(each, chosen, rivals, spans)


def _raced(offers: Sequence[_Offers]) -> tuple[list[int], list[frozenset[str | None]]]:
    """Return the row of each chosen tactic, the fastest of several (-1: none was timed), and what its rivals sum in."""
    timings = offers[0].timed.timings
    begins, sizes = np.array([(each.timed.unsorted.start, len(each.timed)) for each in offers]).T
    ends = np.cumsum(sizes)
    offer = np.repeat(np.arange(len(offers)), sizes)
    row = np.arange(len(offer)) + np.repeat(begins - ends + sizes, sizes)
    tactics = np.array([NO_TACTIC if each.tactic is None else each.tactic for each in offers], np.uint64)
    is_chosen = timings.tactic[row] == tactics[offer]
    hits = np.flatnonzero(is_chosen)
    hits = hits[np.lexsort((timings.ms[row[hits]], offer[hits]))[::-1]]  # of several for one offer the last stays
    chosen = np.full(len(offers), -1)
    chosen[offer[hits]] = row[hits]
    kernels = timings.kernel[row] + 1
    used = np.flatnonzero(np.bincount(kernels)).tolist()
    sums = [read_kernel(timings.texts[kernel - 1] if kernel else "").accumulator for kernel in used]
    known = list(dict.fromkeys(sums))
    of_kernel = np.zeros(max(used, default=0) + 1, np.int64)
    of_kernel[used] = [1 << known.index(each) for each in sums]
    some, codes = np.flatnonzero(sizes), np.zeros(len(offers), np.int64)
    if len(some):
        codes[some] = np.bitwise_or.reduceat(np.where(is_chosen, 0, of_kernel[kernels]), (ends - sizes)[some])
    sets = {code: frozenset(each for at, each in enumerate(known) if code >> at & 1) for code in {*codes.tolist()}}
    return chosen.tolist(), [sets[code] for code in codes.tolist()]
