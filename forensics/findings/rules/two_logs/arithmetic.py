"""How the arithmetic of two builds' kernels differs: what sums accumulate in, split-K, tensor cores."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.findings.case import Need
from trtforensics.findings.finding import Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import listed
from trtforensics.findings.rule import rule
from trtforensics.findings.sums import sums_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.findings.sums import TunedSum

_FACTS = {"accumulator": "accumulator", "split_k": "split-K", "tensor_core": "use of tensor cores"}


@rule(
    "TF906",
    Severity.WARNING,
    "Two builds of one model sum differently",
    cause="The kernels of a layer accumulate in another type, split the reduction, or use tensor cores in one build "
    "only: the same inputs give other sums, though types and formats of the tensors are equal.",
    confirm="trtforensics diff FIRST SECOND prints both kernels.",
    fixes=(
        Fix("Pin what the good build chose: trtforensics pin BAD.log --same-as GOOD.log.", "8.6"),
        "Find out which layer matters: trtforensics bisect tactics (or cache) --good pin:same-as=GOOD.log.",
    ),
    sources=("the words of kernel names: grammar/kernels.lark",),
    needs=(Need.OTHER_LOG,),
)
def arithmetic(case: Case) -> Iterator[Observation]:
    """Name the layers whose chosen kernels differ in one of these, each fact with its own observation."""
    before = {one.name: one for one in sums_of(case.the_baseline.build, case.the_baseline.log)}
    pairs = [(before[one.name], one) for one in case.sums if one.name in before]
    first, second = (shlex.quote(log.source.path) for log in (case.the_baseline.log, case.log))
    step = Step("Pin what the first build chose", f"trtforensics pin {second} --same-as {first} -o pinned.json")
    for name, word in _FACTS.items():
        found = [pair for pair in pairs if _differs(*pair, name)]
        if found:
            names = list(dict.fromkeys(one.name for one, _ in found))
            yield Observation(
                f"{counted(len(names), 'layer')} with another {word}: {_pairs(found, name, names)}",
                [one.chosen.span for pair in found for one in pair],
                layers=names,
                steps=(step,),
                same_as=f"sums {name}",
            )


def _differs(one: TunedSum, other: TunedSum, fact: str) -> bool:
    """Whether both names tell a fact, and differently; of split-K, that one tells it and the other does not."""
    values = [getattr(tactic.chosen.facts, fact) for tactic in (one, other)]
    if fact == "split_k":
        return bool(values[0]) != bool(values[1])
    return values[0] != values[1] and None not in values


def _pairs(found: list[tuple[TunedSum, TunedSum]], fact: str, names: list[str]) -> str:
    one, other = found[0]
    values = [getattr(tactic.chosen.facts, fact) for tactic in (one, other)]
    how = f" ({values[0]} and {values[1]})" if fact == "accumulator" else ""
    return f"{listed(names)}{how}"
