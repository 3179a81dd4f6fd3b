"""The fix that is proposed first: operators in the place of chains, and the nodes that must stay FP32 even so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.bisect.precision.casting.caster import Caster
from trtforensics.bisect.precision.casting.preparation import rewritten
from trtforensics.bisect.precision.emulation.oracle import Oracle, RunError
from trtforensics.bisect.precision.items import atoms_of, items_of
from trtforensics.bisect.precision.repair.safety import safe_repair
from trtforensics.bisect.precision.repair.search import RepairSearch
from trtforensics.bisect.precision.rewrites.equality import EQUAL, difference
from trtforensics.bisect.precision.rewrites.normalisations import GROUP, chains_of
from trtforensics.bisect.precision.rewrites.operators import with_operators
from trtforensics.bisect.precision.tensors.ranges import tensor_ranges
from trtforensics.bisect.search import Verdict
from trtforensics.errors import SourceError

if TYPE_CHECKING:
    from trtforensics.bisect.precision.emulation.judging import Judgement, OutputJudge
    from trtforensics.bisect.precision.repair.model import Nodes
    from trtforensics.bisect.precision.rewrites.normalisations import NormChain


@dataclass(frozen=True, slots=True)
class OperatorProposal:
    """A rewritten model by its caster, the nodes of it that stay FP32, and what that saves.

    ``difference`` is the largest in FP32 from the original, as a share of the largest magnitude. ``judgement`` is of
    the twin, in which the operators have FP32 statistics. Nothing is lost inside.
    """

    caster: Caster
    chains: tuple[NormChain, ...]
    nodes: Nodes
    difference: float
    judgement: Judgement


def proposal(oracle: Oracle, judge: OutputJudge, safe: Nodes) -> OperatorProposal | None:
    """Return the model with operators for the chains that a safe repair touches; None if that saves no FP32 node.

    ``judge`` is the original's, so that both are held to the same tolerances.

    Raises:
        RunError: ONNX Runtime cannot run a twin of the rewritten model.
    """
    found = chains_of(oracle.caster.prepared.proto, oracle.caster.survey)
    touched = tuple(chain for chain in found if chain.nodes & safe)
    older = tuple(chain for chain in touched if chain.operator != GROUP)  # their operator set is reached more easily
    made = _proposal_of(touched, oracle, judge, safe)
    return _proposal_of(older, oracle, judge, safe) if made is None and len(older) < len(touched) else made


def _proposal_of(
    chains: tuple[NormChain, ...], oracle: Oracle, judge: OutputJudge, safe: Nodes
) -> OperatorProposal | None:
    prepared = oracle.caster.prepared
    proto = with_operators(prepared.proto, chains) if chains else None
    if proto is None:
        return None
    try:
        caster = Caster(rewritten(prepared, proto, "normalisations are operators"), oracle.caster.storage)
        other = oracle.of(caster)
    except (RunError, SourceError):  # this ONNX Runtime lacks the operator, or the converter wrote what ONNX refuses
        return None
    differs = difference(oracle, caster.prepared.proto)
    nodes = None if differs is None or differs > EQUAL else _searched(other, judge)
    if differs is None or nodes is None or len(nodes) >= len(safe):
        return None
    judgement = judge.judge(other.score_mixture(caster.kept(nodes)))
    return OperatorProposal(caster, chains, nodes, differs, judgement) if judgement.passed else None


def _searched(oracle: Oracle, judge: OutputJudge) -> Nodes | None:
    """Return the safe repair of the rewritten model, no nodes if it needs none; None if there is no repair."""
    caster = oracle.caster
    ranges = tensor_ranges(oracle)
    items = items_of(caster, ranges.by_tensor)
    search = RepairSearch(items, atoms_of(caster), caster.storage.name, every=False)
    while not search.done:
        for ask in search.asks():
            keep = caster.kept([node for index, node in enumerate(search.nodes) if index not in ask.active])
            passed = judge.judge(oracle.score_mixture(keep)).passed
            search.tell(ask, Verdict.GOOD if passed else Verdict.BAD)
    if search.answer is None or not (search.answer.repairs or search.answer.passes_narrow):
        return None
    minimal: Nodes = search.answer.repairs[0].nodes if search.answer.repairs else frozenset()
    safe = safe_repair(oracle, items, ranges.masked, minimal)
    return None if safe.left else safe.nodes
