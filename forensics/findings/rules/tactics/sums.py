"""The matrix products and convolutions of a build, with what the tactics offered for each tell of their arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.engines.membership import in_engine
from trtforensics.parsers.builds.views import Spans
from trtforensics.parsers.notation.kernels import read_tactic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trtforensics.model.kernel import KernelFacts
    from trtforensics.model.log import Build, BuildLog
    from trtforensics.model.span import SourceSpan
    from trtforensics.model.timings import Candidate


@dataclass(frozen=True, slots=True)
class SumTactic:
    """A tactic timed for a sum: its time in ms, what its kernel's name tells, and its line."""

    tactic: int | None
    time_ms: float | None
    facts: KernelFacts
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class TunedSum:
    """A layer, or an operation inside a ForeignNode, whose chosen kernel tells in what it accumulates.

    ``rivals`` are the other tactics of the same formats, fastest first. ``used`` is False where the log does not tell
    that the engine uses the choice.
    """

    name: str
    nodes: tuple[str, ...]
    chosen: SumTactic
    rivals: tuple[SumTactic, ...]
    used: bool


def sums_of(build: Build, log: BuildLog) -> list[TunedSum]:
    """Return the sums that the engine runs, or may run where the log does not tell, in the log's order."""
    spans = Spans(log.source, log.line_starts)
    found = [*_layers(build, spans), *_operations(build, spans)]
    return sorted(found, key=lambda one: one.chosen.span.line)


def _layers(build: Build, spans: Spans) -> Iterator[TunedSum]:
    for choice in build.choices:
        if choice.final is not False and in_engine(build, choice.pass_index):
            offers = _read(build.candidates(choice), spans, choice.outputs)
            yield from _sum(choice.layer, (), choice.tactic, offers, used=choice.final is True)


def _operations(build: Build, spans: Spans) -> Iterator[TunedSum]:
    blocks = {one.layer: one for one in build.choices if one.final}
    for operation in build.myelin_operations:
        block = blocks.get(operation.foreign_node)
        inside = block is not None and block.first_line <= operation.span.line <= block.span.line
        if (block is None or inside) and in_engine(build, operation.pass_index):
            offers = _read(operation.candidates, spans)
            yield from _sum(operation.op, operation.onnx_nodes, operation.selected, offers, used=inside)


def _read(offers: Iterable[Candidate], spans: Spans, outputs: tuple[str, ...] = ()) -> list[SumTactic]:
    return [
        SumTactic(one.tactic, one.time_ms, read_tactic(one.kernel, one.splits, outputs), spans.of(one.line))
        for one in offers
    ]


def _sum(
    name: str, nodes: tuple[str, ...], tactic: int | None, offers: Sequence[SumTactic], *, used: bool
) -> Iterator[TunedSum]:
    """Give the sum, where the chosen tactic's kernel tells in what it accumulates."""
    chosen = next((one for one in offers if one.tactic == tactic), None)
    if chosen is not None and chosen.facts.accumulator is not None:
        yield TunedSum(name, nodes, chosen, tuple(one for one in offers if one.tactic != tactic), used)
