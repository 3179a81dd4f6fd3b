"""Compares the precision of each node in a build log with what was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.engines.membership import foreign_members

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from trtforensics.bisect.precision.casting.caster import Caster
    from trtforensics.bisect.precision.casting.eligibility import CandidateNode
    from trtforensics.model.log import Build, OnnxNode

_WIDE = "FLOAT"


def differences(caster: Caster, keep: Collection[str], build: Build) -> list[str]:
    """Return a sentence for each tensor to which the ONNX parser's lines give another type than the typed model.

    They show what TensorRT read, node by node; what its fused kernels compute in is not in the log.
    """
    seen = {node.name: node for node in build.onnx_nodes}
    sentences = []
    for name, candidate in caster.candidates.items():
        if name not in seen:
            if candidate.scope == 0:
                sentences.append(f"{name} is not in the log")
            continue
        word = _WIDE if name in keep else caster.storage.log_word
        for tensor, kind in _shown(candidate, seen[name], caster):
            if kind != word:
                sentences.append(f"{name} was to be {word}, and {tensor} is {kind} (line {seen[name].span.line})")
    return sentences


def unreached(keep: Collection[str], build: Build) -> list[str]:
    """Return a sentence for each node inside a ForeignNode, which layer precisions do not reach (TF201)."""
    held = {name: foreign for name, foreign in foreign_members(build).items() if name in keep}
    return [
        f"a layer precision does not reach {name} inside {foreign.name} (line {foreign.span.line})"
        for name, foreign in held.items()
    ]


def _shown(candidate: CandidateNode, node: OnnxNode, caster: Caster) -> Iterator[tuple[str, str]]:
    """Yield the candidate's tensors that change with its precision, and their types in the log."""
    original = caster.survey.nodes[candidate.name]
    changing = {original.output[slot] for slot in candidate.outputs}
    shown = zip(node.outputs, node.output_types, strict=True)
    if not changing:
        changing = {original.input[slot] for slot in candidate.inputs}
        shown = zip(node.inputs, node.input_types, strict=True)
    for tensor, kind in shown:
        if tensor.partition(caster.suffix)[0] in changing:
            yield tensor, kind
