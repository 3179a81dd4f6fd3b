"""Element types that a release does not take, values that a type does not hold, GPUs that it does not run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trtforensics.console.counting import counted, listed
from trtforensics.engines.requests import allows, strongly_typed
from trtforensics.findings.finding import Observation, Severity
from trtforensics.findings.models.operators import release_of
from trtforensics.findings.models.seen import head, of_nodes
from trtforensics.findings.rule import explained
from trtforensics.findings.steps.machine import compute_capability
from trtforensics.findings.versions import has_flag
from trtforensics.knowledge.operators import first_gpu_of, taken_as
from trtforensics.knowledge.periods import dotted, spans
from trtforensics.knowledge.platforms import releases_for, supported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.onnx_models.checked_graph import CheckedNode

_COMMON = (7, 5)
"""The least compute capability that all releases from 10.0 on support."""
_INT32 = np.iinfo(np.int32)


_TAKEN_BY_RTX = {"CastLike", "Dropout", "Identity"}
"""Operators of UINT8 that TensorRT-RTX 1.7.1 builds beside those that all do; others where constants alone are."""
_FIRST_WITH_BYTES, _FIRST_WITHOUT_POINTS = (8, 5), (9, 0)
_OF_MANY = {"Max", "Min", "Sum"}
"""Operators that do nothing to a single input."""
_OF_IMAGES = {"Cast", "QuantizeLinear", "Equal", "If", "Loop", "Scan", "Shape", "Size"}


@explained("TF174")
def refused_type(case: Case) -> Iterator[Observation]:
    """Name types with the inputs, outputs, constants and Casts that have them."""
    model, version, capability = case.checked, release_of(case), compute_capability(case)
    casts, users = [node for node in model.nodes if node.op == "Cast"], dict[str, list[str]]()
    typed = [(value.element, value.name) for value in (*model.inputs, *model.outputs)]
    typed += [(element, name) for name, (element, _) in model.weights.items()]
    for element, name in [*typed, *((node.casts_to, node.label) for node in casts)]:
        users.setdefault(element, []).append(name)
    inner = [node for node in model.nodes if version >= _FIRST_WITH_BYTES and _makes_bytes(case, node)]
    rtx = case.version is not None and case.version.rtx
    apart = _OF_IMAGES | _TAKEN_BY_RTX if rtx else _OF_IMAGES
    wide = {node: _of_bytes(model, node) for node in model.nodes if node.op not in apart}
    images = [node for node, names in wide.items() if names and node not in inner]
    if images:
        idle = [node for node in images if node.op in _OF_MANY and len(node.proto.input) == 1]
        lenient = rtx and all(node in idle or wide[node] <= {*model.constants} for node in images)
        severity, title = Severity.WARNING if lenient else None, "UINT8 is for inputs, outputs and Casts alone: {nodes}"
        yield of_nodes(case, images, title, severity=severity, same_as="images")
    if inner:
        yield of_nodes(case, inner, "UINT8 is for inputs and outputs of the model, not between nodes: {nodes}")
    signed = [node for node in model.nodes if version >= _FIRST_WITHOUT_POINTS and _is_signed(model, node)]
    if signed:
        title = "Without zero points, what is UINT8 by ONNX is INT8 to TensorRT: {nodes}"
        yield of_nodes(case, signed, title, severity=Severity.WARNING, same_as="zero points")
    yield from _allowed(case)
    for element, names in users.items():
        first = first_gpu_of(element)
        who = "TensorRT" if case.version is None else str(case.version)
        if taken_as(element, version) and first is not None and capability is not None and capability < first:
            who = f"A GPU of compute capability {dotted(capability)} (not yet {dotted(first)})"
        elif taken_as(element, version) and first is not None and capability is None and first > _COMMON:
            title = f"{element} takes a GPU of compute capability {dotted(first)} or later: {listed(names)}"
            yield of_nodes(case, [], title, severity=Severity.NOTE, same_as=element)
            continue
        elif element == "UNDEFINED" or taken_as(element, version):
            continue
        nodes = [node for node in casts if node.label in names]
        nodes += [node for name in names for node in model.readers.get(name, ())]
        yield of_nodes(case, nodes, f"{who} takes no {element}: {listed(names)}", same_as=element)


def _makes_bytes(case: Case, node: CheckedNode) -> bool:
    """Whether a node of the main graph makes UINT8 that is no output of the model."""
    inner = {*node.proto.output} - {value.name for value in case.checked.outputs}
    apart = node.holder or node.op in {"Constant", "QuantizeLinear"}
    return not apart and any(case.checked.type_of(name) == "UINT8" for name in inner)


def _is_signed(model: CheckedModel, node: CheckedNode | None) -> bool:
    """Whether a node gives UINT8 by ONNX, for want of a zero point, and INT8 to the parser."""
    if node is None or node.op != "QuantizeLinear" or node.attribute("output_dtype"):
        return False
    return not model.slots(node, ("y_zero_point",))


def _of_bytes(model: CheckedModel, node: CheckedNode) -> set[str]:
    """Return the inputs that are UINT8 to the parser."""
    names = {name for name in node.proto.input if model.type_of(name) == "UINT8"}
    return {name for name in names if not _is_signed(model, model.makers.get(name))}


def _allowed(case: Case) -> Iterator[Observation]:
    """Name types that the build allows and the release or the GPU does not have; Q/DQ where neither is allowed."""
    if case.log.source.path != case.checked.path or case.version is None or case.version.rtx:
        return
    version, capability = case.version, compute_capability(case)
    for word, element in (("FP16", "FLOAT16"), ("BF16", "BFLOAT16"), ("INT8", "INT8"), ("FP8", "FLOAT8E4M3FN")):
        first = first_gpu_of(element)
        if allows(case.build, word) and not has_flag(version, f"--{word.lower()}"):
            yield Observation(f"{version} has no --{word.lower()}", [head(case)], same_as=word)
        elif allows(case.build, word) and first is not None and capability is not None and capability < first:
            title = f"The build allows {word}, which a GPU of compute capability {dotted(capability)} does not have"
            yield Observation(title, [head(case)], severity=Severity.WARNING, same_as=word)
    nodes = [node for node in case.checked.nodes if node.op == "QuantizeLinear"]
    scaled = any(node.op == "DequantizeLinear" for node in case.checked.nodes)
    if allows(case.build, "INT8") and has_flag(version, "--int8") and not scaled:
        title = "The build allows INT8, and the model has no Q/DQ: without a calibration cache trtexec makes ranges up"
        yield Observation(title, [head(case)], severity=Severity.WARNING, same_as="no scales")
    halves = allows(case.build, "FP16", "BF16") and not allows(case.build, "INT8", "FP8")
    if nodes and halves and not strongly_typed(case.build):
        title = f"{counted(len(nodes), 'QuantizeLinear')} where the build allows neither INT8 nor FP8: {{nodes}}"
        yield of_nodes(case, nodes, title, severity=Severity.WARNING, same_as="not allowed")


@explained("TF175")
def too_wide(case: Case) -> Iterator[Observation]:
    """Name constants with values that do not fit, but the ends of slices that mean 'to the end'."""
    model, version = case.checked, release_of(case)
    for element, least, most in (
        ("INT64", float(_INT32.min), float(_INT32.max)),
        ("DOUBLE", -3.4028235e38, 3.4028235e38),
    ):
        if not taken_as(element, version).endswith("32"):
            continue
        for name, of in model.stored.items():
            values = next(iter(model.blocks(name)), None) if of == element else None
            finite = None if values is None else values[np.isfinite(values)]
            if finite is None or not finite.size or (finite.min() >= least and finite.max() <= most):
                continue
            slices = {"Slice"} if element == "INT64" else set()  # which end where there is no more
            readers = [node for node in model.readers.get(name, ()) if node.op not in slices]
            extreme = finite.flat[np.abs(finite.astype(float)).argmax()]
            if readers:
                kind = taken_as(element, version)
                yield of_nodes(case, readers, f"{name} holds {extreme}, which does not fit {kind}: {{nodes}}")


@explained("TF199")
def narrowed(case: Case) -> Iterator[Observation]:
    """Name inputs, outputs and Casts of 64 bits, and count constants."""
    model, version = case.checked, release_of(case)
    for element in ("INT64", "DOUBLE"):
        kind = taken_as(element, version)
        bound = [value.name for value in (*model.inputs, *model.outputs) if value.element == element]
        casts = [node for node in model.nodes if node.op == "Cast" and node.casts_to == element]
        constants = sum(of == element for of, _ in model.weights.values())
        if kind.endswith("32") and (bound or casts or constants):
            names = listed([*bound, *(node.label for node in casts)]) if bound or casts else ""
            what = "; ".join(filter(None, (names, counted(constants, "constant") if constants else "")))
            yield of_nodes(case, casts, f"{element} is taken as {kind}: {what}", same_as=f"narrowed {element}")


@explained("TF178")
def unsupported_gpu(case: Case) -> Iterator[Observation]:
    """Name the GPU's architecture and the releases that are known to support it."""
    capability = compute_capability(case)
    if capability is None or case.version is None or case.version.rtx:
        return
    entries = releases_for(capability)
    if supported(entries, case.version.numbers) is False:
        known = spans([entry for entry in entries if entry.state == "yes"])
        gpu = f"{entries[0].name} (compute capability {dotted(capability)})"
        title = f"{case.version} does not run on {gpu}: it is supported {known}"
        yield Observation(title, [head(case)], same_as="GPU")
