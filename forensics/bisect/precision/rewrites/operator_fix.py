"""``fixed/operators.onnx``: written, built where TensorRT is installed, and described."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

from trtforensics.bisect.levers.recipe import LOG
from trtforensics.bisect.precision.casting.saving import save
from trtforensics.bisect.precision.evidence import differences
from trtforensics.bisect.runner.command import Urgency
from trtforensics.bisect.runner.probe import ProbeSpec, describe, run_probe
from trtforensics.console.output import write_text
from trtforensics.errors import SourceError
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from trtforensics.bisect.precision.lever import PrecisionLever
    from trtforensics.bisect.precision.rewrites.proposal import OperatorProposal

    Document = dict[str, object]

NAME = "operators.onnx"
_DATA = "operators.bin"
_SINCE: Mapping[str, str] = {"GroupNormalization": "10.15", "LayerNormalization": "8.6", "RMSNormalization": "10.15"}
"""The TensorRT version whose ONNX parser has the operator (changelogs of onnx-tensorrt and TensorRT).

GroupNormalization of operator set 21 needs the normalisation layer with a scale for each channel, new in 10.15."""


def write_operator_fix(proposal: OperatorProposal, folder: Path) -> str:
    """Write the model with operators and Casts, and return a line about it.

    Raises:
        OutputError: a file cannot be written.
    """
    caster = proposal.caster
    save(caster, caster.cast(caster.kept(proposal.nodes)), folder / NAME, data=_DATA)
    return f"{NAME}: normalisations as operators, with Casts, for a strongly typed build"


def build_operator_fix(proposal: OperatorProposal, lever: PrecisionLever, work: Path, timeout: float | None) -> str:
    """Build ``operators.onnx`` in a folder of its own; return "" or how it did not become what was asked.

    Raises:
        OSError: the folder cannot be written to.
    """
    caster, keep = proposal.caster, proposal.caster.kept(proposal.nodes)
    work.mkdir(exist_ok=True)
    write_operator_fix(proposal, work)
    job = lever.plain_job(work / NAME, work)
    if job is None or lever.build is None:
        return "nothing that builds strongly typed networks is installed"
    write_text(work / "build-job.json", json.dumps(asdict(job), indent=1))
    values = {"dir": str(work), "log": str(work / LOG), "engine": str(work / "engine")}
    cwd = os.getcwd()  # noqa: PTH109 - as the shell sees it
    ended = run_probe(
        ProbeSpec(str(work), cwd, lever.build, None, values, timeout=timeout), lambda: Urgency.GO_ON
    ).build
    (work / "engine").unlink(missing_ok=True)
    if ended is None or ended.status != 0:
        return f"the build failed: {describe(ended) if ended else 'it did not run'}; see {LOG}"
    try:
        build = load_build_log([str(work / LOG)]).builds[-1]
    except SourceError as error:
        return f"the build's log cannot be read: {error.what}"
    return next(iter(differences(caster, keep, build)), "")


def operators_document(proposal: OperatorProposal, built: str | None) -> Document:
    """Return the proposal; ``built`` is "" for a build as asked, a reason, or None if none was tried."""
    return {
        "model": f"fixed/{NAME}",
        "chains": [
            {"operator": chain.operator, "output": chain.result, "replaces": sorted(chain.nodes)}
            for chain in proposal.chains
        ],
        "nodes": [name for name in proposal.caster.candidates if name in proposal.nodes],
        "difference": proposal.difference,
        "scores": dict(proposal.judgement.worst),
        "built": None if built is None else not built,
        "why_not_built": built or "",
    }


def operators_text(document: Mapping[str, object]) -> list[str]:
    """Return the proposal as text."""
    proposed, minimal, safe = document.get("operators"), document["minimal"], document["safe"]
    if not isinstance(proposed, dict) or not isinstance(minimal, dict) or not isinstance(safe, dict):
        return []
    counts = Counter(chain["operator"] for chain in proposed["chains"])
    spelled = " and ".join(f"{count} x {operator} ({_SINCE[operator]})" for operator, count in sorted(counts.items()))
    needs, others = len(proposed["nodes"]), (len(minimal["nodes"]), len(safe["nodes"]))
    scores = ", ".join(f"{name} {value:.3g}" for name, value in proposed["scores"].items() if value is not None)
    apart = f"differs from the original by {proposed['difference']:.1g} of the largest magnitude"
    lines = [
        f"Try {proposed['model']} first: normalisations written as ReduceMean, Pow, Sqrt, Div become operators.",
        f"  {spelled}; in brackets the first TensorRT that imports them, with FP32 statistics inside.",
        f"  It keeps {needs} nodes in FP32, where the minimal repair keeps {others[0]} and the safe one {others[1]}.",
        f"  In FP32 it {apart if proposed['difference'] else 'equals the original'}.",
        f"  Its twin's error is {scores}, and nothing is lost inside on these samples.",
    ]
    if proposed["built"] is not None:
        lines.append("  It was built as asked." if proposed["built"] else f"  Not proven: {proposed['why_not_built']}.")
    return lines
