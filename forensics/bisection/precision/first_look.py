"""The first answer of a precision search, within seconds: what few samples show before all of them run."""

from __future__ import annotations

from textwrap import shorten
from typing import TYPE_CHECKING

from trtforensics.bisection.precision.emulation.oracle import Oracle, RunError, judge_for
from trtforensics.bisection.precision.emulation.ranges import tensor_ranges
from trtforensics.bisection.precision.nodes import verdict_of
from trtforensics.bisection.search import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.bisection.precision.emulation.judging import OutputRule

_QUOTED = 160


def first_look(oracle: Oracle, rules: Mapping[str, OutputRule], samples: str) -> str:
    """Say whether the outputs pass with every node in 16 bits, and how many tensors leave their range in FP32.

    ``samples`` are those of the oracle, in words.
    """
    storage = oracle.caster.storage
    (verdict, why), largest = _verdict(oracle, rules), tensor_ranges(oracle).by_tensor
    outputs = "pass" if verdict is Verdict.GOOD else "fail"
    beyond = sum(value > storage.largest for value in largest.values())
    name = max(largest, key=lambda each: largest[each], default="")
    reach = f" ({name} reaches {largest[name]:.3g})" if name else ""
    return (
        f"first look, {samples}: the outputs {outputs} with every node in {storage.name.upper()} "
        f"({shorten(why, _QUOTED, placeholder=' …')}); "
        f"{beyond} of {len(largest)} tensors go beyond {storage.largest:.5g} in FP32{reach}. "
        "To come: losses inside, nodes to keep"
    )


def _verdict(oracle: Oracle, rules: Mapping[str, OutputRule]) -> tuple[Verdict, str]:
    """Judge the twin with every node in 16 bits; what rounding costs is measured where the verdict hangs on it."""
    try:
        scores = oracle.score_mixture(oracle.caster.kept(()))
        strictest = judge_for(oracle, rules, strictest=True)
        judgement = strictest.judge(scores)
        decided = judgement.passes or set(judgement.scores.values()) == {None}
        return verdict_of(scores, strictest if decided else judge_for(oracle, rules), rules)
    except RunError as error:
        return Verdict.UNRESOLVED, error.what
