"""The answer of a precision search: its part of ``result.json``, and its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisect.precision.emulation.converted import converted_text
from trtforensics.bisect.precision.emulation.judging import rules_document, rules_text
from trtforensics.bisect.precision.emulation.oracle import RunError
from trtforensics.bisect.precision.emulation.top_rows import top_rows, top_text
from trtforensics.bisect.precision.kernel_notes import kernels_document, kernels_text
from trtforensics.bisect.precision.quantization.effects import cost_document, cost_text
from trtforensics.bisect.precision.remarks import headline
from trtforensics.bisect.precision.rewrites.normalisations import behind, other_axes
from trtforensics.bisect.precision.rewrites.operator_fix import operators_text
from trtforensics.bisect.precision.two_repairs import repairs_document, repairs_text
from trtforensics.bisect.search import Verdict
from trtforensics.bisect.session import index_sets
from trtforensics.console.terminal import visible
from trtforensics.model.accumulator import Accumulator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from trtforensics.bisect.precision.items import PrecisionItem
    from trtforensics.bisect.precision.lever import PrecisionLever
    from trtforensics.bisect.precision.repair.certificate import Certificate
    from trtforensics.bisect.precision.repair.search import RepairSearch

    Document = dict[str, object]

_SHOWN = 20
_CHAIN = 8
"""Nodes from a normalisation's division back to its source."""
_SENTENCES = {
    "named": "Named, not certified",
    "inconclusive": "Inconclusive",
    "not-reproduced": "Nothing to search",
}
_EMULATED: Mapping[object, str] = {
    Accumulator.FP32: "16-bit storage of every result, on the CPU",
    Accumulator.FP16: "16-bit storage of every result, and of the sums of products after each 16 terms, on the CPU",
}


def extended(
    document: Document, lever: PrecisionLever, plan: Certificate, items: Sequence[PrecisionItem], directory: Path
) -> Document:
    """Return ``result.json`` with the fields that only this mode has.

    ``builds`` counts real builds, ``oracle_probes`` the mixtures whose twins were scored, built or not.
    """
    search = plan.search
    proof = {index_sets.to_text(search.active(keep)): purpose for keep, purpose in reversed(plan.proof())}
    probes = [_scored(probe, lever, directory, proof) for probe in _list(document["probes"])]
    folders = {str(probe["folder"]) for probe in probes if probe["built"] is not None}
    unresolved = Verdict.UNRESOLVED.value
    bad = [probe for probe in probes if probe["built"] is not None and probe["verdict"] == unresolved]
    kernels = kernels_document(lever, plan.minimal)
    return {
        **document,
        "builds": len(folders),
        "oracle_probes": len({str(probe["active"]) for probe in probes if probe["scores"]}),
        "precision": lever.narrow,
        "accumulate": lever.oracle.accumulator,
        "converted": None if lever.converted is None else lever.converted.document(),
        "builder": None if lever.target is None else lever.target.module,
        "evidence": {
            "emulated": any(p["scores"] for p in probes),
            "built": bool(folders) and not bad,
            "executed": False,
        },
        "judged": {} if lever.needs_files else rules_document(lever.judge),
        "samples": len(lever.oracle.samples),
        "samples_are": lever.samples_are,
        "masked": dict(lever.oracle.masked_values),
        **repairs_document(plan, lever, probes),
        "kernels": kernels,
        "top_rows": {} if plan.minimal is None else top_rows(lever.oracle, lever.caster.kept(plan.minimal)),
        "quantization": _quantization(lever),
        "tensors": _tensors(search, items, _sums_on_the_way(lever, kernels)),
        "nodes": _nodes(search, lever, probes),
        "constants": [
            {"name": each.name, "values": each.values, "clamped": each.clamped, "flushed": each.flushed}
            for each in lever.caster.constants.altered.values()
        ],
        "notes": [*lever.notes, *_without_operator(lever, plan)],
        "probes": probes,
    }


def _without_operator(lever: PrecisionLever, plan: Certificate) -> list[str]:
    """Say which kept normalisations have no operator."""
    kept, survey = plan.safe.nodes if plan.safe else frozenset[str](), lever.caster.survey
    names = [] if not kept else other_axes(lever.caster.prepared.proto, survey)
    touched = [name for name in names if kept.intersection(behind(survey, name, _CHAIN))]
    if not touched:
        return []
    more = f" and {len(touched) - _SHOWN} more" if len(touched) > _SHOWN else ""
    shown = ", ".join(touched[:_SHOWN])
    what = "whose axes are not the last ones, or of no fixed size and no groups of channels"
    return [f"no operator is proposed for normalisations {what}: {shown}{more}"]


def _quantization(lever: PrecisionLever) -> Document | None:
    try:
        return cost_document(lever.oracle)
    except RunError:  # the answer does without it: ONNX Runtime does not run this model with switches
        return None


def _scored(probe: Mapping[str, object], lever: PrecisionLever, directory: Path, proof: Mapping[str, str]) -> Document:
    """Add to a probe its scores, whether they are near the tolerance, and the outcome of its build."""
    from trtforensics.bisect.precision.lever import failure_of, read_scores, was_built  # noqa: PLC0415 - it imports this package

    folder = directory / str(probe["folder"])
    scores = read_scores(folder)
    judgement = lever.judgement(scores) if scores else None
    return {
        **probe,
        "purpose": proof.get(str(probe["active"]), probe["purpose"]),
        "scores": dict(judgement.worst) if judgement else {},
        "near": bool(judgement and judgement.near),
        "built": was_built(folder),
        "log_tail": failure_of(folder),
    }


def _sums_on_the_way(lever: PrecisionLever, kernels: Mapping[str, object]) -> dict[str, str]:
    """Return by tensor why a product must stay FP32 whose sum leaves the type before its result does."""
    wide, end = kernels["wide_sums"], lever.caster.storage.largest
    reasons = {}
    for each in wide["nodes"] if isinstance(wide, dict) else ():
        if each["partial"] is not None and each["partial"] > end:
            (tensor,) = lever.caster.survey.nodes[each["node"]].output
            reasons[tensor] = (
                f"is a sum that reaches {each['partial']:.3g} on the way, {lever.narrow} ends at {end:.5g}"
            )
    return reasons


def _tensors(search: RepairSearch, items: Sequence[PrecisionItem], sums: Mapping[str, str]) -> list[Document]:
    """Return the items whose nodes are in the repairs; ``sums`` has other reasons where the range is none."""
    known = {item.name: item for item in items}
    return [
        {
            "tensor": name,
            "moved_as": list(known[name].tensors[1:]),
            "why": known[name].why if known[name].beyond else sums.get(name, known[name].why),
            "nodes": sorted(known[name].nodes & repair.nodes),
            "set": number,
        }
        for number, repair in enumerate(search.answer.repairs if search.answer else ())
        for name in repair.tensors
    ]


def _nodes(search: RepairSearch, lever: PrecisionLever, probes: Sequence[Mapping[str, object]]) -> list[Document]:
    """Return the nodes of the repairs, with the scores of two probes: node alone in 16 bits, repair without node."""
    scores = {str(probe["active"]): probe["scores"] for probe in probes}
    nodes = []
    for number, repair in enumerate(search.answer.repairs if search.answer else ()):
        for node in sorted(repair.nodes, key=lever.nodes.index):
            alone, without = search.neighbours(repair, node)
            nodes.append(
                {
                    "node": node,
                    "op": lever.caster.candidates[node].op,
                    "set": number,
                    "needed": search.answer.needed.get(node) if search.answer else None,
                    "alone_in_16_bits": scores.get(index_sets.to_text(alone)),
                    "dropped": scores.get(index_sets.to_text(without)),
                }
            )
    return nodes


def answer_text(
    document: Mapping[str, object], directory: Path, fixed: Sequence[str], *, wants_builds: bool = True
) -> str:
    """Return the answer as text: the nodes, the reasons, how probes were judged, the files of the repair."""
    status, why = str(document["status"]), str(document["why"])
    lines = headline(document) + converted_text(document)
    lines += [_certified(document) if status == "certified" else f"{_SENTENCES[status]}: {why}."]
    lines += operators_text(document)
    lines += _repairs(document)
    lines += repairs_text(document)
    lines += kernels_text(document)
    lines += cost_text(document)
    lines += _judged(document)
    lines += _constants(document)
    lines += [f"Note: {note}." for note in _list(document["notes"])]
    lines += _evidence(document, wants_builds=wants_builds)
    lines += [f"{directory}/fixed/{line}" for line in fixed]
    return "".join(f"{visible(line)}\n" for line in lines)


def _certified(document: Mapping[str, object]) -> str:
    """Return what was seen of the first set, which is the repair."""
    if [len(members) for members in _list(document["culprits"])[:1]] == [1]:
        return "Certified: with this node in FP32 the model passes, and without it the model fails."
    return "Certified: with these nodes in FP32 the model passes, and without any one of them it fails."


def _repairs(document: Mapping[str, object]) -> list[str]:
    lines = []
    sets = _list(document["culprits"])
    for number, members in enumerate(sets):
        title = f"Alternative {number}, which does as well" if number else "Must stay FP32"
        lines.append(f"{title} ({len(members)} of {document['items']} nodes):")
        nodes = [each for each in _list(document["nodes"]) if each["set"] == number]
        for node in nodes[:_SHOWN]:
            others = "; other nodes can do its part" if node["needed"] is False and len(sets) == 1 else ""
            lines.append(f"  {node['node']} [{node['op']}]{_without(node, document)}{others}")
        lines += [f"  and {len(nodes) - _SHOWN} more in result.json"] if len(nodes) > _SHOWN else []
        reasons = [each for each in _list(document["tensors"]) if each["set"] == number and each["why"]]
        lines += [f"  because {tensor['tensor']} {tensor['why']}" for tensor in reasons[:_SHOWN]]
        lines += [f"  and {len(reasons) - _SHOWN} more reasons in result.json"] if len(reasons) > _SHOWN else []
    suspects = _list(document["suspects"]) if not sets and document["status"] == "inconclusive" else []
    if suspects:
        more = f" and {len(suspects) - _SHOWN} more in result.json" if len(suspects) > _SHOWN else ""
        lines.append(f"Suspects left: {', '.join(map(str, suspects[:_SHOWN]))}{more}")
    return lines


def _judged(document: Mapping[str, object]) -> list[str]:
    judged = document["judged"]
    lines = []
    if isinstance(judged, dict):
        lines += rules_text(judged, str(document["precision"]), str(document["samples_are"]))
    masked = document["masked"]
    for name, count in masked.items() if isinstance(masked, dict) else ():
        lines.append(f"Left out: {count} values of {name} that are not finite in the FP32 model itself.")
    top = document["top_rows"]
    lines += top_text(top) if isinstance(top, dict) else []
    near = [str(probe["folder"]) for probe in _list(document["probes"]) if probe["near"]]
    if near:
        lines.append(f"Near the tolerance, so rounding noise may have decided: {', '.join(near[:_SHOWN])}")
    return lines


def _constants(document: Mapping[str, object]) -> list[str]:
    clamped = [each for each in _list(document["constants"]) if each["clamped"]]
    shown = [f"  {each['name']}: {each['clamped']} of {each['values']} values" for each in clamped[:_SHOWN]]
    more = [f"  and {len(clamped) - _SHOWN} more in result.json"] if len(clamped) > _SHOWN else []
    return (
        [f"Constants beyond {document['precision']}, clamped where nodes in 16 bits read them:", *shown, *more]
        if clamped
        else []
    )


def _evidence(document: Mapping[str, object], *, wants_builds: bool) -> list[str]:
    lines = [f"{document['oracle_probes']} mixtures judged on the CPU, {document['builds']} real builds."]
    lines += [
        f"  {probe['folder']}: {probe['purpose']}: {probe['verdict']} ({probe['reason']})"
        for probe in _list(document["probes"])
        if probe["evidence"] and probe["built"] is not None
    ]
    if wants_builds and document["builder"] is None:
        lines.append("No TensorRT is installed here, so nothing was built.")
    failed = [p for p in _list(document["probes"]) if p["verdict"] == Verdict.UNRESOLVED.value]
    if failed:
        lines.append(f"Unresolved: {', '.join(str(probe['folder']) for probe in failed[:_SHOWN])}")
    evidence = document["evidence"]
    if isinstance(evidence, dict):
        lines.append("Evidence: " + ", ".join(f"{k} {'yes' if v else 'no'}" for k, v in evidence.items()) + ".")
        emulated = _EMULATED[document["accumulate"]]
        lines += [f"Emulated: {emulated}. No engine was run, and fused kernels may differ."] * evidence["emulated"]
    return lines


def _without(node: Mapping[str, object], document: Mapping[str, object]) -> str:
    """Return the scores of a repair without one of its nodes."""
    scores, judged = node["dropped"], document["judged"]
    if not isinstance(scores, dict) or not isinstance(judged, dict) or not scores:
        return ""
    return "  without it: " + ", ".join(
        f"{name} not finite" if score is None else f"{name} {judged[name]['metric']} {score:.3g}"
        for name, score in scores.items()
    )


def _list(value: object) -> list:  # type: ignore[type-arg]
    return value if isinstance(value, list) else []
