"""The matrix products and convolutions of a build, with what the tactics offered for each tell of their arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from trtforensics.model.timings import Candidate, TimedTactics
from trtforensics.parsers.builds.views import Spans
from trtforensics.parsers.notation.kernels import read_kernel, read_tactic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.model.kernel import KernelFacts
    from trtforensics.model.log import Build, BuildLog
    from trtforensics.model.span import SourceSpan


@dataclass(frozen=True, slots=True)
class SumTactic:
    """A tactic timed for a sum: its time in ms, what its kernel's name tells, and its line."""

    tactic: int | None
    time_ms: float | None
    facts: KernelFacts
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class _Offers:
    """The tactics timed for a sum, fastest first, read one by one: a build may have timed a million."""

    timed: Sequence[Candidate]
    spans: Spans
    outputs: tuple[str, ...] = ()

    def chosen(self, tactic: int | None) -> SumTactic | None:
        """Return the chosen tactic; None where it is not among those timed."""
        if isinstance(self.timed, TimedTactics):
            candidate = self.timed.fastest(tactic)
        else:
            candidate = next((candidate for candidate in self.timed if candidate.tactic == tactic), None)
        return None if candidate is None else self._read(candidate)

    def without(self, tactic: int | None) -> Iterator[SumTactic]:
        """Give all tactics but one."""
        return (self._read(candidate) for candidate in self.timed if candidate.tactic != tactic)

    def accumulators(self, tactic: int | None) -> set[str | None]:
        """Return the types in which all tactics but one accumulate, None among them where a kernel does not tell."""
        timed = self.timed
        if isinstance(timed, TimedTactics):
            kernels = timed.kernels_beside(tactic)
        else:
            kernels = {candidate.kernel for candidate in timed if candidate.tactic != tactic}
        return {read_kernel(kernel).accumulator for kernel in kernels}

    def _read(self, candidate: Candidate) -> SumTactic:
        facts = read_tactic(candidate.kernel, candidate.splits, self.outputs)
        return SumTactic(candidate.tactic, candidate.time_ms, facts, self.spans.of(candidate.line))


@dataclass(frozen=True)
class TunedSum:
    """A layer, or an operation inside a ForeignNode, whose chosen kernel tells the type of its sums.

    ``used`` is False where the log does not tell that the engine uses the choice.
    """

    name: str
    nodes: tuple[str, ...]
    chosen: SumTactic
    offers: _Offers
    used: bool

    def rivals(self) -> Iterator[SumTactic]:
        """Give the other tactics of the same formats, fastest first and untimed ones last."""
        return self.offers.without(self.chosen.tactic)

    @cached_property
    def rival_accumulators(self) -> set[str | None]:
        """Return the types in which the rivals accumulate, None among them where a kernel does not tell."""
        return self.offers.accumulators(self.chosen.tactic)


def sums_of(build: Build, log: BuildLog) -> list[TunedSum]:
    """Return the sums that the engine runs, or may run where the log does not tell, in the log's order."""
    spans = Spans(log.source, log.line_starts)
    products = [*_layers(build, spans), *_operations(build, spans)]
    return sorted(products, key=lambda product: product.chosen.span.line)


def _layers(build: Build, spans: Spans) -> Iterator[TunedSum]:
    for choice in build.choices:
        if choice.final is not False and build.may_be_in_engine(choice.pass_index):
            timed = TimedTactics(build.timings, choice.rows(build.timings))
            offers = _Offers(timed, spans, choice.outputs)
            yield from _sum(choice.layer, (), choice.tactic, offers, used=choice.final is True)


def _operations(build: Build, spans: Spans) -> Iterator[TunedSum]:
    blocks = {choice.layer: choice for choice in build.choices if choice.final}
    for operation in build.myelin_operations:
        block = blocks.get(operation.foreign_node)
        inside = block is not None and block.first_line <= operation.span.line <= block.span.line
        if (block is None or inside) and build.may_be_in_engine(operation.pass_index):
            offers = _Offers(operation.candidates, spans)
            yield from _sum(operation.op, operation.onnx_nodes, operation.selected, offers, used=inside)


def _sum(name: str, nodes: tuple[str, ...], tactic: int | None, offers: _Offers, *, used: bool) -> Iterator[TunedSum]:
    """Give the sum, where the chosen tactic's kernel tells its type."""
    chosen = offers.chosen(tactic)
    if chosen is not None and chosen.facts.accumulator is not None:
        yield TunedSum(name, nodes, chosen, offers, used)
