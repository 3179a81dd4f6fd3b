"""``python -m tests.benchmarks.repairs [--models N] [--seed N]``: random models through every repair.

Each model goes through each repair, and through all of them. What comes out is judged here, without the product's own
comparison: original and result run in ONNX Runtime on zeros, negative, huge, infinite values and NaN, other and empty
dimensions and other defaults, and what differs between the two files is looked up in the list of changes.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

from tests.support.drawn_models import drawn_model
from trtforensics.errors import SourceError
from trtforensics.onnx_models.running import failures
from trtforensics.repairs.repairing import REPAIRS, compare, extreme_samples, read_original, repaired, require_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trtforensics.repairs.graph import RepairedGraph

_DRAWING = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Dropout"}


def samples(model: onnx.ModelProto, seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield samples of ``x``, some with other values for defaults."""
    draws = np.random.default_rng(seed)
    usual = draws.normal(0, 2, (2, 3, 4)).astype(np.float32)
    yield "usual", {"x": usual}
    mixed = np.array([0, -0.0, 1e-42, -3, 3e38, -3e38, np.nan, np.inf, -np.inf, 1.5, 127.5, 65536], np.float32)
    for name, values in (("zeros", 0), ("negative", -3), ("huge", 3e38), ("NaN", np.nan), ("infinite", -np.inf)):
        yield name, {"x": np.full((2, 3, 4), values, np.float32)}
    yield "mixed", {"x": np.resize(mixed, (2, 3, 4))}
    dims = model.graph.input[0].type.tensor_type.shape.dim
    for size in (0, 1, 5):
        shape = [dim.dim_value or (size if axis != 1 else 3) for axis, dim in enumerate(dims)]
        if shape != [2, 3, 4]:
            yield f"dynamic sizes {size}", {"x": np.resize(usual, shape)}
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for value in model.graph.input[1:] if model.ir_version > 3 else ():
        array = constants[value.name]
        for other in (array[::-1].copy(), array * 0 - 1, array + 1):
            yield f"another {value.name}", {"x": usual, value.name: other.astype(array.dtype)}


def seeded(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model whose random numbers come from seeds, by the name of what is drawn."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    bodies = [a.g.node for node in copy.graph.node for a in node.attribute if a.type == a.GRAPH]
    for nodes in (copy.graph.node, *bodies, *(function.node for function in copy.functions)):
        for node in nodes:
            if node.op_type in _DRAWING and not any(each.name == "seed" for each in node.attribute):
                number = len(node.output[0]) + 3
                seed = number if node.op_type == "Dropout" else float(number)
                node.attribute.append(onnx.helper.make_attribute("seed", seed))
    return copy


def ran(model: onnx.ModelProto, feed: dict[str, Any]) -> list[Any] | None:
    """Run a model; None where it does not run."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(seeded(model).SerializeToString(), options, ["CPUExecutionProvider"])
        outputs: list[Any] = session.run(None, feed)
    except failures():
        return None
    return outputs


def alike(left: Any, right: Any) -> bool:
    """Whether two outputs are the same numbers, or the same to the last digits."""
    left, right = np.asarray(left), np.asarray(right)
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    same = (left == right) & (np.signbit(left) == np.signbit(right)) | (np.isnan(left) & np.isnan(right))
    with np.errstate(all="ignore"):
        close = np.isclose(left, right, rtol=1e-5, atol=0)
    return bool(np.all(same | (close & np.isfinite(left) & (left != 0))))


def frame(model: onnx.ModelProto) -> bytes:
    """Return all of a model but nodes, constants and types of tensors between."""
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    for part in (copy.graph.node, copy.graph.initializer, copy.graph.value_info):
        del part[:]
    return bytes(copy.SerializeToString(deterministic=True))


def unnamed(original: onnx.ModelProto, result: RepairedGraph) -> list[str]:
    """Return what differs between two files and no text of the list of changes names."""
    texts = [word for change in result.changes for word in (change.node, *change.what.replace(",", " ").split())]
    listed = Counter(word.rstrip(":;.") for word in texts)
    found = [] if frame(original) == frame(result.model) else ["inputs, outputs, metadata or functions"]
    before, after = ({n.output[0]: n for n in model.graph.node} for model in (original, result.model))
    for output in {**before, **after}:
        pair = [nodes.get(output) for nodes in (before, after)]
        if pair[0] != pair[1]:
            names = {name for node in pair if node is not None for name in (node.name or node.op_type, *node.output)}
            if names.isdisjoint(listed) and (pair[0] is not None or not _is_part(output, listed)):
                found.append(f"the node of {output}")
    tensors = [{t.name: t for t in model.graph.initializer} for model in (original, result.model)]
    for name in tensors[0].keys() - tensors[1].keys():
        found += [] if name in listed else [f"the constant {name}, which is gone"]
    for name in tensors[1].keys() - tensors[0].keys() - before.keys():
        found += [] if name in listed or _is_part(name, listed) else [f"the constant {name}, which is new"]
    found += [f"the value of {n}" for n in tensors[0].keys() & tensors[1].keys() if tensors[0][n] != tensors[1][n]]
    types = [[v.SerializeToString() for v in m.graph.value_info if v.name in after] for m in (original, result.model)]
    if not set(types[1]) <= set(types[0]) and not any("written down" in change.what for change in result.changes):
        found.append("types of tensors")
    return found


def _is_part(name: str, listed: Iterable[str]) -> bool:
    """Whether a new constant is named after a node or constant of the list."""
    return any(name.startswith((f"{word}_", f"{word}/")) for word in listed if word)


def judged(names: Sequence[str], path: str, seed: int) -> tuple[str, list[str]]:
    """Repair a model; return what the product did (``repaired``, ``refused: …``), and what is wrong with it."""
    original = onnx.load(path)
    read = read_original(path)
    result = repaired(read.proto, names)
    usual = dict(samples(original, seed))["usual"]
    try:
        require_named(read.proto, result, path)
        compare(read.proto, result.model, [usual], path, extreme_samples(read.proto, usual))
    except SourceError as error:
        return f"refused: {error}", []
    wrong = unnamed(original, result)
    try:
        onnx.checker.check_model(onnx.shape_inference.infer_shapes(result.model, check_type=True, strict_mode=True))
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        wrong.append(f"not valid: {error}")
    for name, feed in samples(original, seed):
        wanted = ran(original, feed)
        outputs = ran(result.model, feed)
        if wanted is not None and (outputs is None or not all(map(alike, wanted, outputs))):
            wrong.append(f"another result on {name}")
    return "repaired" if result.changes else "unchanged", wrong


def main() -> None:
    """Draw, repair, judge, and print figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    begin, counts, features, skipped, changes = time.monotonic(), Counter[str](), Counter[str](), 0, 0
    number = drawn_count = 0
    while drawn_count < args.models:
        number += 1
        drawn = drawn_model(random.Random(args.seed * 100_000 + number))  # noqa: S311 - no secret
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "model.onnx"))
            onnx.save(drawn.model, path, save_as_external_data=drawn.external, location="weights", size_threshold=0)
            whole = onnx.load(path)
            if ran(whole, next(samples(whole, number))[1]) is None:
                skipped += 1
                continue
            drawn_count += 1
            features.update((*drawn.features, *(["external data"] if drawn.external else [])))
            for names in (*([name] for name in REPAIRS), list(REPAIRS)):
                what, wrong = judged(names, path, number)
                counts[what.partition(":")[0]] += 1
                changes += bool(wrong)
                for text in (*([what] if what.startswith("refused") else []), *wrong):
                    print(f"model {number}, {' '.join(names)}: {text}", flush=True)
    print(f"{drawn_count} models ({skipped} drawn ones that ONNX Runtime does not run left out), {dict(features)}")
    print(f"{dict(counts)}; unnamed changes in {changes}; {time.monotonic() - begin:.0f} s")
    sys.exit(1 if changes else 0)


if __name__ == "__main__":
    main()
