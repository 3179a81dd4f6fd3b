"""``fixed/operators.onnx``: operators in the place of chains, and the nodes that must stay FP32 even so."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from trtforensics.bisection.levers.recipe import LOG
from trtforensics.bisection.precision.casting.caster import Caster, save
from trtforensics.bisection.precision.emulation.converted import EQUAL, difference
from trtforensics.bisection.precision.emulation.judging import OutputJudge
from trtforensics.bisection.precision.emulation.oracle import Oracle, RunError
from trtforensics.bisection.precision.emulation.ranges import tensor_ranges
from trtforensics.bisection.precision.items import items_of
from trtforensics.bisection.precision.nodes import PrecisionLever, differences
from trtforensics.bisection.precision.repair.losses import safe_repair
from trtforensics.bisection.precision.repair.smallest import Nodes
from trtforensics.bisection.runner.command import Urgency
from trtforensics.bisection.runner.probe import ProbeSpec, describe, run_probe
from trtforensics.errors import SourceError
from trtforensics.onnx_models.normalisations import GROUP, NormChain, chains_of, with_operators
from trtforensics.onnx_models.reading import rewritten
from trtforensics.sources.build_log import load_build_log

NAME = "operators.onnx"
_DATA = "operators.bin"


@dataclass(frozen=True, slots=True)
class OperatorChain:
    """A chain of nodes and the operator that replaces it."""

    operator: str
    output: str
    replaces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OperatorFix:
    """A model with operators in the place of chains; ``nodes`` must stay FP32 even so.

    ``difference`` is a share of the original's largest magnitude. ``built`` is None where no build was tried.
    """

    model: str
    chains: tuple[OperatorChain, ...]
    nodes: tuple[str, ...]
    difference: float
    scores: Mapping[str, float | None]
    built: bool | None
    why_not_built: str


def operator_fix(
    lever: PrecisionLever, safe: Nodes, fixed: Path, work: Path | None, timeout: float | None
) -> OperatorFix | None:
    """Write the :func:`proposal` of operators into ``fixed``, and build it in the folder ``work``, if there is one."""
    proposed = proposal(lever.oracle, lever.judge, safe)
    if proposed is None:
        return None
    fix, caster = proposed
    keep, model = caster.kept(fix.nodes), fixed / NAME
    save(caster, caster.cast(keep), model, data=_DATA)
    if work is None:
        return fix
    work.mkdir(exist_ok=True)
    problem = built(lever, model, work, timeout)
    if not problem:
        try:
            build = load_build_log([str(work / LOG)]).builds[-1]
        except SourceError as error:
            problem = f"the build's log cannot be read: {error.what}"
        else:
            problem = next(iter(differences(caster, keep, build)), "")
    return replace(fix, built=not problem, why_not_built=problem)


def proposal(oracle: Oracle, judge: OutputJudge, safe: Nodes) -> tuple[OperatorFix, Caster] | None:
    """Return the model with operators for the chains that a safe repair touches; None if that saves no FP32 node.

    Its twin passes by the original's ``judge``, with FP32 statistics in the operators, and loses nothing inside.
    """
    chains = chains_of(oracle.caster.prepared.proto, oracle.caster.survey)
    touched = tuple(chain for chain in chains if chain.nodes & safe)
    older = tuple(chain for chain in touched if chain.operator != GROUP)  # their operator set is reached more easily
    proposed = _proposal_of(touched, oracle, judge, safe)
    return _proposal_of(older, oracle, judge, safe) if proposed is None and len(older) < len(touched) else proposed


def _proposal_of(
    chains: tuple[NormChain, ...], oracle: Oracle, judge: OutputJudge, safe: Nodes
) -> tuple[OperatorFix, Caster] | None:
    prepared = oracle.caster.prepared
    proto = with_operators(prepared.proto, chains) if chains else None
    if proto is None:
        return None
    try:
        caster = Caster(rewritten(prepared, proto, "normalisations are operators"), oracle.caster.storage)
        rewritten_oracle = replace(oracle, caster=caster)
    except (RunError, SourceError):  # this ONNX Runtime lacks the operator, or the converter wrote what ONNX refuses
        return None
    differs = difference(oracle, caster.prepared.proto)
    if differs is None or differs > EQUAL:
        return None
    ranges = tensor_ranges(rewritten_oracle)
    repair = safe_repair(rewritten_oracle, items_of(caster, ranges.by_tensor), ranges.masked, frozenset())
    nodes = repair.nodes
    if repair.left or len(nodes) >= len(safe):
        return None
    judgement = judge.judge(rewritten_oracle.score_mixture(caster.kept(nodes)))
    if not judgement.passes:
        return None
    fix = OperatorFix(
        model=f"fixed/{NAME}",
        chains=tuple(OperatorChain(chain.operator, chain.result, tuple(sorted(chain.nodes))) for chain in chains),
        nodes=tuple(name for name in caster.candidates if name in nodes),
        difference=differs,
        scores=judgement.scores,
        built=None,
        why_not_built="",
    )
    return fix, caster


def built(lever: PrecisionLever, model: Path, work: Path, timeout: float | None) -> str:
    """Build a strongly typed model in a folder; return "" or why it was not built."""
    if lever.target is None or lever.build is None or lever.target.constraints:
        return "nothing that builds strongly typed networks is installed"
    lever.target.write_job(work, model)
    values = {"dir": str(work), "log": str(work / LOG), "engine": str(work / "engine")}
    cwd = os.getcwd()  # noqa: PTH109 - as the shell sees it
    spec = ProbeSpec(str(work), cwd, lever.build, None, values, timeout=timeout)
    ended = run_probe(spec, lambda: Urgency.GO_ON).build
    (work / "engine").unlink(missing_ok=True)
    failed = ended is None or ended.status != 0
    return f"the build failed: {describe(ended) if ended else 'it did not run'}; see {LOG}" if failed else ""
