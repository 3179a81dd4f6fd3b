"""Small models with one fault each, beside a twin without it: what a check must find, and where it must be silent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import onnx

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
Dims = tuple["int | str", ...]
Values = dict[str, tuple[int, "Dims | None"]]

_IMAGE: Values = {"x": (FLOAT, (1, 4, 8, 8))}
_OUT: Values = {"y": (FLOAT, None)}
_KERNEL = np.full((4, 4, 3, 3), 0.1, np.float32)
_FP16 = ("--target", "10.3", "--fp16")


@dataclass(frozen=True)
class Pair:
    """A fault with its code, the model that has it and the one that has not, and the options of the check."""

    name: str
    code: str
    faulty: onnx.ModelProto
    faultless: onnx.ModelProto
    options: Sequence[str]


def node(op: str, inputs: str, outputs: str, name: str = "", **more: Any) -> onnx.NodeProto:
    """Return a node; inputs and outputs are words, ``-`` is a slot that is left out."""
    slots = ["" if word == "-" else word for word in inputs.split()]
    return helper.make_node(op, slots, outputs.split(), name or f"/{op.lower()}", **more)


def model(
    *nodes: onnx.NodeProto,
    inputs: Values | None = None,
    outputs: Values | None = None,
    opset: int = 17,
    domain: str = "",
    **constants: Any,
) -> onnx.ModelProto:
    """Return a model from ``x`` to ``y`` where nothing else is said."""
    before, after = (
        [helper.make_tensor_value_info(name, *kind) for name, kind in each.items()]
        for each in (_IMAGE if inputs is None else inputs, _OUT if outputs is None else outputs)
    )
    weights = [numpy_helper.from_array(np.asarray(each), name) for name, each in constants.items()]
    sets = [helper.make_opsetid("", opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
    return helper.make_model(helper.make_graph(nodes, "g", before, after, weights), opset_imports=sets, ir_version=9)


def pairs() -> Iterator[Pair]:
    """Yield all pairs."""
    for make in (_operators, _restrictions, _types, _shapes, _sizes, _structure, _stored, _quantisation, _targets):
        for name, code, faulty, faultless, *options in make():
            yield Pair(name, code, faulty, faultless, options or ("--target", "10.3"))


Row = tuple[Any, ...]


def _operators() -> Iterator[Row]:
    sizes: Values = {"x": (FLOAT, (2, 8))}
    norm: dict[str, Any] = {"s": np.ones(8, np.float32), "b": np.zeros(8, np.float32)}
    yield "operator of no release", "TF170", model(node("Det", "x", "y")), model(node("Neg", "x", "y"))
    whole = model(node("LayerNormalization", "x s b", "y"), inputs=sizes, **norm)
    yield "operator of a later release", "TF170", whole, model(node("Mul", "x s", "y"), **norm), "--target", "8.4"
    yield "operator in a branch", "TF170", _branching("Det"), _branching("Neg")
    taken = [_branching("Det", c=np.asarray(choice)) for choice in (True, False)]
    yield "operator in a branch that is taken", "TF170", *taken
    yield "sequence", "TF170", model(node("SequenceConstruct", "x x", "y")), model(node("Concat", "x x", "y", axis=0))
    places: Values = {"y": (TensorProto.INT64, None)}
    found = model(node("NonZero", "x", "y"), outputs=places)
    yield "operator that RTX lacks", "TF170", found, model(node("Shape", "x", "y"), outputs=places), "--target", "rtx"
    eights = [
        model(node("Cast", "x", "y", to=kind), outputs={"y": (kind, None)}, opset=19)
        for kind in (TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT16)
    ]
    yield "eight bits of a Cast", "TF171", *eights, "--target", "rtx"
    foreign = model(node("FancyNorm", "x", "y", domain="acme"), domain="acme")
    yield "domain without importer", "TF172", foreign, model(node("Neg", "x", "y", domain="acme"), domain="acme")
    old = ("--target", "8.6")
    yield "operator set", "TF173", _pad("edge", 19), _pad("edge"), *old
    text = model(node("StringNormalizer", "x", "y"), inputs={"x": (TensorProto.STRING, (2,))})
    bytes_, back = node("Cast", "x", "u", to=TensorProto.UINT8), node("Cast", "u", "y", to=FLOAT)
    shown: Values = {**_OUT, "u": (TensorProto.UINT8, None)}
    inner = [model(bytes_, back, outputs=each) for each in (_OUT, shown)]
    yield "eight bits between nodes", "TF174", *inner, "--target", "8.6"
    ranges = []
    for element, kind in ((TensorProto.FLOAT16, np.float16), (INT64, np.int64)):
        ends = dict(zip("abc", np.array([0, 4, 1], kind), strict=True))
        ranges.append(model(node("Range", "a b c", "y"), inputs={}, outputs={"y": (element, None)}, **ends))
    yield "a Range of FP16", "TF171", *ranges, "--target", "8.6"
    yield "texts", "TF170", text, model(node("Neg", "x", "y"))
    yield "function", "TF170", _function("Det"), _function("Neg")
    circle = _function("Neg")
    circle.functions[0].node[0].CopyFrom(node("Twice", "a", "b", domain="own"))
    circle.functions[0].opset_import.add(domain="own", version=1)
    yield "function before 9.0", "TF172", _function("Neg"), model(node("Neg", "x", "y")), *old
    yield "function that calls itself", "TF184", circle, _function("Neg")
    crowded = _function("Neg")
    crowded.graph.node[0].input.append(crowded.graph.node[0].input[0])
    yield "function of more inputs than it takes", "TF184", crowded, _function("Neg")


def _branching(op: str, **condition: Any) -> onnx.ModelProto:
    then, other = (
        helper.make_graph([node(each, "x", name)], name, [], [helper.make_tensor_value_info(name, FLOAT, None)])
        for each, name in ((op, "then"), ("Abs", "other"))
    )
    inputs: Values = {"x": (FLOAT, (2, 8, 8)), **({} if condition else {"c": (TensorProto.BOOL, ())})}
    return model(node("If", "c", "y", then_branch=then, else_branch=other), inputs=inputs, **condition)


def _function(op: str) -> onnx.ModelProto:
    whole = model(node("Twice", "x", "y", domain="own"), domain="own")
    sets = [helper.make_opsetid("", 17)]
    whole.functions.append(helper.make_function("own", "Twice", ["a"], ["b"], [node(op, "a", "b")], sets))
    return whole


def _resize(mode: str, **more: str) -> onnx.ModelProto:
    scales = np.array([1, 1, 2, 2], np.float32)
    return model(node("Resize", "x - s", "y", mode=mode, **more), s=scales)


def _top(k: int, **more: Any) -> onnx.ModelProto:
    outputs: Values = {"y": (FLOAT, None), "i": (INT64, None)}
    whole = node("TopK", "x k", "y i", axis=-1, **more)
    return model(whole, inputs={"x": (FLOAT, (1, 9000))}, outputs=outputs, k=np.array([k]))


def _pad(mode: str, opset: int = 13) -> onnx.ModelProto:
    return model(node("Pad", "x p", "y", mode=mode), opset=opset, p=np.array([0, 0, 1, 1, 0, 0, 1, 1]))


def _restrictions() -> Iterator[Row]:
    old = ("--target", "8.4")
    yield "Resize's cubic mode", "TF171", _resize("cubic"), _resize("linear"), *old
    yield (
        "Resize's coordinates",
        "TF171",
        _resize("linear", coordinate_transformation_mode="tf_crop_and_resize"),
        (_resize("linear", coordinate_transformation_mode="asymmetric")),
    )
    yield "TopK's K", "TF171", _top(5000), _top(3000)
    yield "TopK unsorted", "TF171", _top(10, sorted=0), _top(10, sorted=1)
    yield "Pad's mode", "TF171", _pad("reflect"), _pad("constant"), "--target", "8.0"
    training: dict[str, Any] = {name: np.ones(4, np.float32) for name in "sbmv"}
    batch = "x s b m v"
    several: Values = {"y": (FLOAT, None), "rm": (FLOAT, None), "rv": (FLOAT, None)}
    trained = model(node("BatchNormalization", batch, "y rm rv", training_mode=1), outputs=several, **training)
    yield "BatchNormalization that trains", "TF171", trained, model(node("BatchNormalization", batch, "y"), **training)
    pool, indices = node("MaxPool", "x", "y i", kernel_shape=[2, 2]), {**_OUT, "i": (INT64, None)}
    plain = model(node("MaxPool", "x", "y", kernel_shape=[2, 2]))
    yield "MaxPool's indices", "TF171", model(pool, outputs=indices), plain
    dilated = model(node("AveragePool", "x", "y", kernel_shape=[2, 2], dilations=[2, 2]), opset=19)
    yield "dilated pooling", "TF171", dilated, model(node("AveragePool", "x", "y", kernel_shape=[2, 2]), opset=19)
    flat: Values = {"x": (FLOAT, (4, 8, 8))}
    yield (
        "rank of DepthToSpace",
        "TF171",
        *(model(node("DepthToSpace", "x", "y", blocksize=2), inputs=each) for each in (flat, _IMAGE)),
    )
    weights: Values = {**_IMAGE, "w": (FLOAT, (4, 4, 3, 3)), "b": (FLOAT, (4,))}
    yield (
        "bias at run time",
        "TF171",
        model(node("Conv", "x w b", "y"), inputs=weights),
        (model(node("Conv", "x w b", "y"), w=_KERNEL, b=np.ones(4, np.float32))),
        *old,
    )
    halves = model(node("Add", "x h", "y"), h=np.ones(8, np.float16))
    yield "inputs of two types", "TF171", halves, model(node("Add", "x h", "y"), h=np.ones(8, np.float32))
    moving: Values = {**_IMAGE, "axes": (INT64, (1,))}
    yield (
        "axes at run time",
        "TF171",
        model(node("ReduceSum", "x axes", "y"), inputs=moving),
        (model(node("ReduceSum", "x axes", "y"), axes=np.array([1]))),
    )

    yield from _whole_nodes()
    yield from _checked_by_the_importer()
    yield from _asked_of_inputs()
    yield from _asked_of_types()


def _whole_nodes() -> Iterator[Row]:
    """Yield uses that more than one part of a node decides."""
    code, old = "TF171", ("--target", "8.6")
    square: Values = {"x": (FLOAT, (8, 8))}
    yield (
        "Einsum's diagonal",
        code,
        *(model(node("Einsum", "x", "y", equation=f"{word} -> {word[-1]}"), inputs=square) for word in ("ii", "ji")),
        *old,
    )
    cubic = [model(node("Resize", "x - s", "y", mode="cubic"), s=np.array([1, n, 2, 2], np.float32)) for n in (2, 1)]
    yield "cubic in three dimensions", code, *cubic
    halves = [
        _resize("nearest", coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode=word)
        for word in ("ceil", "round_prefer_floor")
    ]
    yield "rounding of half pixels", code, *halves
    yield "a loop's tensor that grows", code, _looped("Concat"), _looped("Abs")
    moving: Values = {"x": (FLOAT, ("n", 1, 8))}
    squeezed = model(node("Squeeze", "x", "y"), inputs=moving), model(node("Squeeze", "x a", "y"), a=np.array([0]))
    yield "Squeeze without axes", code, *squeezed, *old
    yield "Squeeze without axes at 1", "TF180", *squeezed, "--target", "rtx"
    deep = [
        model(node("Reshape", "x s", "r"), node("Neg", "r", "y"), inputs=square, s=np.array([1] * (n - 1) + [64]))
        for n in (9, 8)
    ]
    yield "nine dimensions", code, *deep
    wide = [model(node("ConvTranspose", "x w", "y", strides=[2, 2], output_shape=[n, n]), w=_KERNEL) for n in (20, 16)]
    yield "padding below zero", code, *wide
    parts = [model(node("Mod", "x m", "y", fmod=n), inputs=square, m=np.ones(8, np.float32)) for n in (0, 1)]
    yield "remainder of floats", code, *parts
    vector = [
        model(node("MatMul", "x w", "y"), inputs={"x": (FLOAT, shape)}, w=np.ones((2, 8, 4), np.float32))
        for shape in ((8,), (1, 8))
    ]
    yield "a vector and a batch", code, *vector
    bias: dict[str, Any] = {"b": np.ones(4, np.int32), "c": np.ones(4, np.float32), "s": np.float32(0.1), "w": _KERNEL}
    quantised = model(node("DequantizeLinear", "b s", "d"), node("Conv", "x w d", "y"), **bias)
    yield "bias of INT32", code, quantised, model(node("Conv", "x w c", "y"), **bias), *old
    rows: dict[str, Any] = {"i": np.zeros((1, 8), np.int64), "u": np.ones((1, 8), np.float32)}
    added, put = (
        model(node("ScatterElements", "x i u", "y", reduction=word), inputs=square, **rows) for word in ("add", "none")
    )
    yield "a reduction that is ignored", "TF173", added, put, *old
    bytes_ = [
        model(
            node("Cast", "x", "y", to=TensorProto.UINT8),
            inputs={"x": (n, (4,))},
            outputs={"y": (TensorProto.UINT8, None)},
        )
        for n in (TensorProto.INT32, FLOAT)
    ]
    yield "bytes of integers", code, *bytes_, "--target", "8.5"
    hard = [model(node("Hardmax", "x", "y"), inputs={"x": (FLOAT, (2, n))}) for n in ("n", 8)]
    yield "a dynamic axis", code, *hard
    yield from _ignored()


def _ignored() -> Iterator[Row]:
    """Yield attributes that change results, and that the importer does not read."""
    code, old = "TF173", ("--target", "8.6")
    parts = [model(node("Shape", "x", "y", start=n), outputs={"y": (INT64, None)}) for n in (1, 0)]
    yield "a part of a shape", code, *parts, *old
    gates: dict[str, Any] = {"w": np.ones((1, 12, 8), np.float32), "r": np.ones((1, 12, 4), np.float32)}
    batches = [
        model(node("GRU", "x w r", "y", hidden_size=4, layout=n), inputs={"x": (FLOAT, (3, 2, 8))}, **gates)
        for n in (1, 0)
    ]
    yield "batches before steps", code, *batches, "--target", "rtx"
    sums = [model(node("ReduceSum", slots, "y", noop_with_empty_axes=1), a=np.array([1])) for slots in ("x", "x a")]
    yield "a sum over no axes", code, *sums, *old
    places: Values = {**_IMAGE, "g": (FLOAT, (1, 3, 3, 2))}
    modes = [model(node("GridSample", "x g", "y", mode=word), inputs=places, opset=20) for word in ("cubic", "nearest")]
    yield "a mode that is read as nearest", code, *modes, "--target", "10.1"


def _checked_by_the_importer() -> Iterator[Row]:
    """Yield uses that assertions of the importer end, and uses beside them that it takes."""
    code = "TF171"
    begins: dict[str, Any] = {"b": np.zeros(2, np.int64), "e": np.full(2, 2)}
    yield "axes twice", code, *(model(node("Slice", "x b e a", "y"), a=np.array([1, n]), **begins) for n in (1, 2))
    counts = [model(node("Slice", "x b e a", "y"), a=np.arange(n), **begins) for n in (3, 2)]
    yield "starts and axes", "TF179", *counts
    scales: dict[str, Any] = {"s": np.full(2, 2, np.float32)}
    sizes = [model(node("Resize", "x - s", "y", axes=[2, n]), opset=18, **scales) for n in (2, 3)]
    yield "axes of a Resize twice", code, *sizes
    gates: dict[str, Any] = {"w": np.ones((2, 12, 8), np.float32), "r": np.ones((2, 12, 4), np.float32)}
    both = [
        model(
            node("GRU", "x w r", "y", hidden_size=4, direction="bidirectional", activations=["Sigmoid", "Tanh", *each]),
            inputs={"x": (FLOAT, (3, 2, 8))},
            **gates,
        )
        for each in (["Sigmoid", "Relu"], ["Sigmoid", "Tanh"])
    ]
    yield "activations of both directions", code, *both
    lengths = [
        model(node("ReverseSequence", "x l", "y", batch_axis=n, time_axis=0), l=np.ones(4, np.int64)) for n in (0, 1)
    ]
    yield "one axis for both", code, *lengths
    regions: dict[str, Any] = {"r": np.ones((3, 4), np.float32), "b": np.zeros(3, np.int64)}
    yield "sampling ratio", code, *(model(node("RoiAlign", "x r b", "y", sampling_ratio=n), **regions) for n in (-1, 2))
    doubles = [
        model(node("RandomNormalLike", "x", "r", dtype=n), node("Cast", "r", "y", to=FLOAT))
        for n in (TensorProto.DOUBLE, TensorProto.FLOAT16)
    ]
    yield "random DOUBLE", code, *doubles, "--target", "10.1"
    then, other = (
        helper.make_graph([node(op, "x", op)], op, [], [helper.make_tensor_value_info(op, FLOAT, None)])
        for op in ("Neg", "Abs")
    )
    conditions = [
        model(node("If", "c", "y", then_branch=then, else_branch=other), inputs={**_IMAGE, "c": (TensorProto.BOOL, n)})
        for n in ((2,), (1,))
    ]
    yield "two conditions", code, *conditions
    wide = [model(node("MatMul", "x z", "y"), inputs={"x": (FLOAT, (n, 1)), "z": (FLOAT, (1, n))}) for n in (65536, 64)]
    yield "too many elements", code, *wide, "--target", "8.6"
    wide = [model(node("MatMul", "x z", "y"), inputs={"x": (FLOAT, ("n", 1))}, z=np.ones((1, n))) for n in (65536, 64)]
    most = ("--minShapes=x:1x1", "--optShapes=x:1x1", "--maxShapes=x:65536x1")
    yield "too many elements at max", code, *wide, "--target", "8.6", *most
    way = {"coordinate_transformation_mode": "asymmetric"}
    double = np.array([1, 1, 2, 2], np.float32)
    modes = [model(node("Resize", "x - s", "y", mode=m, **way), opset=11, s=double) for m in ("nearest", "linear")]
    yield "rounding of the nearest", code, *modes, "--target", "7.2"
    doubled = [
        model(node("Upsample", "x s", "y"), inputs={"x": (each, (4, 8))}, opset=9, s=np.array([2, 2], np.float32))
        for each in (TensorProto.INT32, FLOAT)
    ]
    yield "an Upsample of integers", code, *doubled, "--target", "8.0"


def _asked_of_inputs() -> Iterator[Row]:
    """Yield inputs that are left out, computed or of types that the importer's operator does not take."""
    code = "TF171"
    some = [model(node("Slice", "x b e", "y"), b=np.zeros(n, np.int64), e=np.full(n, 2)) for n in (2, 4)]
    yield "starts without axes", code, *some
    kinds = (TensorProto.INT32, FLOAT)
    powers = [
        model(node("Pow", "x z", "y"), inputs={"x": (n, (2,)), "z": (n, (2,))}, outputs={"y": (n, None)}) for n in kinds
    ]
    yield "power of integers", code, *powers, "--target", "10.1"
    waiting = _looped("Abs")
    waiting.graph.node[0].input[1] = ""
    yield "a loop's condition", code, waiting, _looped("Abs")
    rows = [_looped("Abs", limit, collects=True) for limit in (2**31 - 1, 3)]
    yield "a loop without an end that collects", code, *rows, "--target", "rtx"
    moving: Values = {**_IMAGE, "axes": (INT64, (1,))}
    sums = [model(node("ReduceSum", "x axes", "y"), inputs=moving), model(node("ReduceSum", "x - ", "y"))]
    yield "axes that an old release wants constant", code, *sums, "--target", "8.6"
    scale: dict[str, Any] = {"s": np.ones(4, np.float32)}
    volumes = [
        model(node("InstanceNormalization", "x s s", "y"), inputs={"x": (FLOAT, (1, 4, *[2] * n))}, **scale)
        for n in (4, 3)
    ]
    yield "a normalisation of six dimensions", code, *volumes, "--target", "8.6"
    steps = [
        model(
            node("QuantizeLinear", "x s z", "q"),
            node("DequantizeLinear", "q s z", "y"),
            s=np.float32(0.1),
            z=np.zeros((), kind),
        )
        for kind in (np.uint8, np.int8)
    ]
    yield "a zero point of UINT8", code, *steps, "--target", "8.6"
    for op in ("Relu", "Sign"):
        signs = [model(node(op, "x", "y"), inputs={"x": (n, (2,))}, outputs={"y": (n, None)}) for n in kinds]
        yield f"{op} of integers", code, *signs, "--target", "8.6"
    cut = [model(node("Pad", "x p", "y"), p=np.array([0, 0, n, 0, 0, 0, 0, 0])) for n in (-1, 1)]
    yield "pads below zero", code, *cut, "--target", "10.1"
    ends: dict[str, Any] = {"b": np.array([0, 0, -1, 0]), "e": np.zeros(4, np.int64)}
    joined = model(node("Concat", "b e", "p", axis=0), node("Pad", "x p", "y"), **ends)
    yield "pads below zero that are no constant", code, cut[0], joined, "--target", "10.1"
    cell: dict[str, Any] = {"w": np.ones((1, 4, 8), np.float32), "r": np.ones((1, 4, 4), np.float32)}
    curves = [
        model(
            node("RNN", "x w r", "y", hidden_size=4, activations=[word], activation_alpha=[1.0], activation_beta=[0.0]),
            inputs={"x": (FLOAT, (3, 2, 8))},
            **cell,
        )
        for word in ("Affine", "Relu")
    ]
    yield "an activation that the parser has not", code, *curves
    for target in ("8.6", "rtx"):
        results = [model(node("ArgMax", "x", "y"), outputs={"y": (n, None)}) for n in (FLOAT, INT64)]
        yield f"an output of another type in {target}", "TF184", *results, "--target", target


def _asked_of_types() -> Iterator[Row]:
    """Yield types and attributes that importers of some releases alone refuse."""
    code = "TF171"
    for op in ("Gemm", "MatMul", "PRelu"):
        whole = [
            model(node(op, "x z", "y"), inputs={"x": (n, (2, 2)), "z": (n, (2, 2))}, outputs={"y": (n, None)})
            for n in (INT64, FLOAT)
        ]
        yield f"INT64 in {op} before it was a type", code, *whole, "--target", "8.6"
    for op in ("ArgMax", "ArgMin"):
        places = [
            model(node(op, "x", "y", axis=1), inputs={"x": (n, (2, 8))}, outputs={"y": (INT64, None)})
            for n in (TensorProto.INT32, FLOAT)
        ]
        yield f"INT32 in {op}", code, *places, "--target", "8.5"
    put: dict[str, Any] = {"i": np.zeros((1, 1), np.int64), "u": np.ones((1, 4, 8, 8), np.float32)}
    named, bare = (model(node("ScatterND", "x i u", "y", **each), **put) for each in ({"reduction": "none"}, {}))
    yield "a reduction that is named", code, named, bare, "--target", "10.1"
    for op in ("RandomNormal", "RandomUniform"):
        drawn = [
            model(node(op, "", "r", shape=[2], dtype=n), node("Cast", "r", "y", to=FLOAT), inputs={})
            for n in (TensorProto.DOUBLE, TensorProto.FLOAT16)
        ]
        yield f"DOUBLE from {op}", code, *drawn, "--target", "8.6"


def _looped(op: str, limit: int = 3, *, collects: bool = False) -> onnx.ModelProto:
    info = helper.make_tensor_value_info
    inputs = [info("i", INT64, []), info("c", TensorProto.BOOL, []), info("v", FLOAT, None)]
    outputs = [info("c2", TensorProto.BOOL, []), info("v2", FLOAT, None)]
    step = node(op, "v v", "v2", axis=0) if op == "Concat" else node(op, "v", "v2")
    steps = [node("Identity", "c", "c2"), step, *([node("Neg", "v2", "row")] if collects else [])]
    body = helper.make_graph(steps, "body", inputs, outputs + [info("row", FLOAT, None)] * collects)
    results = "y rows" if collects else "y"
    return model(node("Loop", "m k x", results, body=body), m=np.int64(limit), k=np.bool_(1))


def _masked(value: float) -> onnx.ModelProto:
    return model(node("Add", "x m", "y"), m=np.array([0, value], np.float32).repeat(4))


def _types() -> Iterator[Row]:
    for name, element in (("STRING", TensorProto.STRING), ("UINT16", TensorProto.UINT16)):
        inputs: Values = {"x": (element, (2,))}
        yield (
            f"{name} input",
            "TF174",
            model(node("Identity", "x", "y"), inputs=inputs),
            model(node("Identity", "x", "y")),
        )
    brain: Values = {"x": (TensorProto.BFLOAT16, (2,))}
    yield (
        "BF16 too early",
        "TF174",
        model(node("Neg", "x", "y"), inputs=brain),
        model(node("Neg", "x", "y")),
        ("--target"),
        "8.6",
    )
    cast = [
        model(node("Cast", "x", "y", to=element), outputs={"y": (element, None)})
        for element in (TensorProto.INT16, TensorProto.FLOAT16)
    ]
    yield "Cast to INT16", "TF174", *cast
    yield "Cast to E8M0", "TF174", model(node("Cast", "x", "y", to=24), outputs={"y": (24, None)}, opset=24), cast[1]
    tables = [model(node("Gather", "x i", "y", axis=1), i=np.array([0, value])) for value in (2**40, 2)]
    yield "INT64 too wide", "TF175", *tables, "--target", "8.6"
    doubled = [model(node("Mul", "x m", "y"), m=np.array([value])) for value in (1e300, 1e30)]
    yield "DOUBLE too wide", "TF175", *doubled
    wide: Values = {"x": (TensorProto.DOUBLE, (2,))}
    plain = model(node("Neg", "x", "y"))
    yield "DOUBLE input", "TF199", model(node("Neg", "x", "y"), inputs=wide), plain
    yield "mask beyond FP16", "TF176", _masked(-1e9), _masked(-1e4), *_FP16
    yield "epsilon that is 0 in FP16", "TF176", _masked(1e-12), _masked(1e-5), *_FP16
    turing = ("--target", "10.3", "--gpu", "7.5")
    yield "BF16 on Turing", "TF174", model(node("Neg", "x", "y"), inputs=brain), plain, *turing
    yield "NaN in a weight", "TF177", _masked(float("nan")), _masked(1.0)


def _reshaped(shape: Sequence[int], width: int | str = 8) -> onnx.ModelProto:
    return model(node("Reshape", "x s", "y"), inputs={"x": (FLOAT, ("n", width))}, s=np.array(shape))


def _halved(end: int) -> onnx.ModelProto:
    """Return a model with a branch that squeezes what remains in front of a computed end."""
    ends = [node("Add", "a k", "e"), node("Slice", "x z e z", "s"), node("Squeeze", "s z", "t")]
    values = [numpy_helper.from_array(np.array([each]), name) for name, each in (("a", end), ("k", 1), ("z", 0))]
    info = helper.make_tensor_value_info
    then = helper.make_graph(ends, "then", [], [info("t", FLOAT, None)], values)
    other = helper.make_graph([node("ReduceMax", "x", "o", axes=[0], keepdims=0)], "else", [], [info("o", FLOAT, None)])
    inputs: Values = {"x": (FLOAT, (4, 8)), "c": (TensorProto.BOOL, ())}
    return model(node("If", "c", "y", then_branch=then, else_branch=other), inputs=inputs)


def _added(rows: int) -> onnx.ModelProto:
    return model(node("Add", "x c", "y"), inputs={"x": (FLOAT, ("n", 8))}, c=np.ones((rows, 8), np.float32))


def _shapes() -> Iterator[Row]:
    good = ("--minShapes=x:1x8", "--optShapes=x:2x8", "--maxShapes=x:4x8")
    yield "Reshape at max", "TF179", _reshaped([2, 8]), _reshaped([-1, 8]), *good
    yield "broadcast", "TF179", _added(3), _added(1), "--shapes=x:4x8"
    sizes = ("--minShapes=x:1x4x2x2", "--optShapes=x:1x4x8x8", "--maxShapes=x:1x4x8x8")
    images: Values = {"x": (FLOAT, (-1, 4, -1, "w_"))}
    windows = [model(node("Conv", "x w", "y", pads=[n] * 4), inputs=images, w=_KERNEL) for n in (0, 1)]
    yield "window larger than the image at min", "TF179", *windows, *sizes
    yield "a size that a branch computes", "TF179", _halved(1), _halved(0)
    ranks = [model(node("Reshape", "x s", "y"), s=np.array(each)) for each in ([[4, -1]], [4, -1])]
    yield "a shape of two dimensions", "TF179", *ranks
    product = [
        model(node("MatMul", "x w", "y"), inputs={"x": (FLOAT, (2, 8))}, w=np.ones((n, 4), np.float32)) for n in (7, 8)
    ]
    yield "product", "TF179", *product
    hann = np.ones(4, np.float32)
    sound: Values = {"x": (FLOAT, (1, 16, 1))}
    short: Values = {"x": (FLOAT, (1, 3, 1))}
    spectra = [node("STFT", "x s h", "f"), node("Transpose", "f", "t", perm=[0, 1, 3, 2]), node("MatMul", "t m", "y")]
    bins = [model(*spectra, inputs=sound, s=np.array(2), h=hann, m=np.ones((n, 5), np.float32)) for n in (4, 3)]
    yield "half of a spectrum", "TF179", *bins, "--target", "11.1"
    framed = [model(node("STFT", "x s h", "y"), inputs=each, s=np.array(2), h=hann) for each in (short, sound)]
    yield "a window longer than the signal", "TF179", *framed, "--target", "11.1"
    dynamic, fixed = _reshaped([-1, 8]), model(node("Neg", "x", "y"))
    yield "no profile", "TF180", dynamic, fixed
    yield "profile that does not fit", "TF181", _reshaped([-1, 7], 7), dynamic, *good
    counted = model(node("NonZero", "x", "y"), outputs={"y": (INT64, None)})
    yield "size by data", "TF182", counted, fixed
    yield "branches of two ranks", "TF194", _branching("Flatten"), _branching("Neg")


def _from_shape(width: int) -> onnx.ModelProto:
    nodes = node("Shape", "x", "s"), node("Gather", "s o", "g"), node("Reshape", "g o", "k"), node("TopK", "x k", "y i")
    outputs: Values = {"y": (FLOAT, None), "i": (INT64, None)}
    return model(*nodes, inputs={"x": (FLOAT, (1, width))}, outputs=outputs, o=np.array([1]))


def _positions(rows: int) -> onnx.ModelProto:
    ends = node("Shape", "x", "s"), node("Gather", "s o", "l"), node("Unsqueeze", "l z", "e")
    nodes = *ends, node("Squeeze", "e z", "q"), node("Slice", "w z q z", "p"), node("Add", "x p", "y")
    numbers: dict[str, Any] = {"o": np.array([1]), "z": np.array([0]), "w": np.ones((rows, 8), np.float32)}
    return model(*nodes, inputs={"x": (FLOAT, (1, "n", 8))}, **numbers)


def _token(batch: int | str) -> onnx.ModelProto:
    inputs: Values = {"x": (FLOAT, ("n", 6, 8)), "c": (FLOAT, (batch, 1, 8))}
    return model(node("Concat", "c x", "y", axis=1), inputs=inputs)


def _sizes() -> Iterator[Row]:
    """Yield sizes that ONNX's inference of shapes lets pass."""
    yield "K from a shape", "TF171", _from_shape(9000), _from_shape(900)
    ends = node("Shape", "x", "s"), node("Gather", "s o", "l"), node("Range", "z l o", "r")
    counted = [
        model(
            *ends,
            node("Gather", "w r", "y", "/rows"),
            inputs={"x": (FLOAT, (1, "n", 8))},
            w=np.ones((n, 8), np.float32),
            o=np.int64(1),
            z=np.int64(0),
        )
        for n in (16, 64)
    ]
    yield "rows counted beyond a table", "TF179", *counted, "--shapes=x:1x32x8"
    longer = ("--minShapes=x:1x4x8", "--optShapes=x:1x8x8", "--maxShapes=x:1x32x8")
    yield "too few positions at max", "TF179", _positions(16), _positions(64), *longer
    orders = [model(node("Transpose", "x", "y", perm=perm)) for perm in ([0, 1, 1, 2], [0, 2, 3, 1])]
    yield "order of dimensions", "TF179", *orders
    channels = [model(node("Conv", "x w", "y"), w=np.ones((4, n, 3, 3), np.float32)) for n in (3, 4)]
    yield "channels", "TF179", *channels
    blocks = [model(node("DepthToSpace", "x", "y", blocksize=n)) for n in (3, 2)]
    yield "blocks of channels", "TF179", *blocks
    rows = [model(node("Gather", "x i", "y", axis=1), i=np.array([n])) for n in (9, -4)]
    yield "index out of range", "TF179", *rows
    lengths = [model(node("InstanceNormalization", "x s s", "y"), s=np.ones(n, np.float32)) for n in (5, 4)]
    yield "scales of a normalisation", "TF179", *lengths
    widths = [model(node("ConvTranspose", "x w", "y"), w=np.ones((n, 4, 3, 3), np.float32)) for n in (3, 4)]
    yield "channels turned round", "TF179", *widths
    pads = [model(node("Pad", "x p", "y"), p=np.ones(n, np.int64)) for n in (4, 8)]
    yield "pads", "TF179", *pads
    parts = [
        model(
            node("Split", "x", "y z", axis=1), inputs={"x": (FLOAT, (2, n))}, outputs=dict.fromkeys("yz", (FLOAT, None))
        )
        for n in (3, 4)
    ]
    yield "equal parts", "TF179", *parts
    yield from _agreeing()


def _agreeing() -> Iterator[Row]:
    """Yield inputs of a node whose sizes do not agree."""
    letters: dict[str, Any] = {"s": (FLOAT, (1, 1, 6))}
    boxes = [
        model(
            node("NonMaxSuppression", "x s k", "y"),
            inputs={"x": (FLOAT, (1, 6, n)), **letters},
            outputs={"y": (INT64, None)},
            k=np.array([3]),
        )
        for n in (5, 4)
    ]
    yield "sizes of boxes", "TF179", *boxes
    yield "a bias", "TF179", *(model(node("Conv", "x w b", "y"), w=_KERNEL, b=np.ones(n, np.float32)) for n in (5, 4))
    kernels = [model(node("Conv", "x w", "y", kernel_shape=[n, n]), w=_KERNEL) for n in (5, 3)]
    yield "kernel_shape", "TF179", *kernels
    axes = [model(node("LayerNormalization", "x s", "y", axis=n), s=np.ones(8, np.float32)) for n in (4, -1)]
    yield "axis out of range", "TF179", *axes
    added = [model(node("Unsqueeze", "x", "y", axes=[n]), inputs={"x": (FLOAT, (4,))}, opset=11) for n in (2, 1)]
    yield "an axis behind the last one", "TF179", *added
    ranks = [
        model(node("ScatterElements", "x i u", "y"), i=np.zeros(n, np.int64), u=np.ones(n, np.float32))
        for n in ((1, 8), (1, 4, 8, 8))
    ]
    yield "indices of another rank", "TF179", *ranks
    tops = [_top(n) for n in (9001, 100)]
    yield "more than there are", "TF179", *tops, "--target", "10.0"
    yield from _counted()


def _counted() -> Iterator[Row]:
    """Yield groups, chunks, indexes and parts that a dimension does not have."""
    groups = [
        model(node("GroupNormalization", "x s s", "y", num_groups=2), opset=18, s=np.ones(n, np.float32))
        for n in (4, 2)
    ]
    yield "scales of groups", "TF179", *groups
    chunks = [
        model(
            node("Split", "x", "y z v w", axis=0, num_outputs=4),
            inputs={"x": (FLOAT, (n,))},
            outputs=dict.fromkeys("yzvw", (FLOAT, None)),
            opset=18,
        )
        for n in (5, 7)
    ]
    yield "a chunk below zero", "TF179", *chunks
    places = [
        model(
            node("ScatterND", "x i u", "y"),
            inputs={"x": (FLOAT, (4, 8))},
            i=np.array([[0, n]]),
            u=np.ones(1, np.float32),
        )
        for n in (8, -8)
    ]
    yield "second index out of range", "TF179", *places
    sums = [
        model(node("Einsum", "x z", "y", equation="ij, kj -> ik"), inputs={"x": (FLOAT, (3, 4)), "z": (FLOAT, (5, n))})
        for n in (6, 4)
    ]
    yield "sizes of letters", "TF179", *sums
    yield "batch of one", "TF179", _token(1), _token("n")
    named: Values = {"x": (FLOAT, ("n", 8)), "z": (FLOAT, ("n", 4))}
    both: Values = dict.fromkeys("yw", (FLOAT, None))
    two = model(node("Neg", "x", "y"), node("Abs", "z", "w"), inputs=named, outputs=both)
    one = model(node("Neg", "x", "y"), node("Abs", "z", "w"), inputs={**named, "z": (FLOAT, ("m", 4))}, outputs=both)
    apart = ("--minShapes=x:4x8,z:1x4", "--optShapes=x:4x8,z:2x4", "--maxShapes=x:8x8,z:2x4")
    yield "ranges of one name", "TF181", two, one, *apart
    moving: Values = {"x": (FLOAT, (4, 8)), "s": (INT64, (2,))}
    shaped = model(node("Reshape", "x s", "y"), inputs=moving), model(node("Reshape", "x s", "y"), s=np.array([-1, 8]))
    yield "a shape as input", "TF180", *shaped
    tiled = [model(node("Tile", "x s", "y"), inputs={"x": (FLOAT, (4,) * n), "s": (INT64, (n,))}) for n in (2, 1)]
    yield "too few values of a shape", "TF181", *tiled, "--shapes=s:2"
    halves = [_ending(n) for n in (2, 4)]
    yield "branches of two shapes", "TF194", *halves, "--target", "8.6"


def _ending(end: int) -> onnx.ModelProto:
    values = [numpy_helper.from_array(np.array([each]), name) for each, name in ((0, "b"), (end, "e"))]
    info = helper.make_tensor_value_info
    then = helper.make_graph([node("Slice", "x b e b", "a")], "then", [], [info("a", FLOAT, None)], values)
    other = helper.make_graph([node("Neg", "x", "o")], "else", [], [info("o", FLOAT, None)])
    inputs: Values = {"x": (FLOAT, (4, 8)), "c": (TensorProto.BOOL, ())}
    return model(node("If", "c", "y", then_branch=then, else_branch=other), inputs=inputs)


def _stored() -> Iterator[Row]:
    plain = model(node("Add", "x w", "y"), w=np.ones(8, np.float32))
    short, twice, stated = (model(node("Add", "x w", "y"), w=np.ones(8, np.float32)) for _ in range(3))
    short.graph.initializer[0].raw_data = b"four"
    yield "a constant cut short", "TF183", short, plain
    twice.graph.initializer.append(numpy_helper.from_array(np.zeros(8, np.float32), "w"))
    yield "a constant twice", "TF184", twice, plain
    stated.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", FLOAT, (1, 4, 8, 9)))
    yield "an output of other sizes", "TF184", stated, plain
    summed = [model(node("ReduceSum", "x", "y", axes=[1]), opset=opset) for opset in (13, 11)]
    yield "an attribute of an earlier set", "TF184", *summed
    infinite = [model(node("Conv", "x w", "y"), w=np.full((4, 4, 3, 3), value, np.float32)) for value in (np.inf, 1)]
    yield "infinite weights", "TF177", *infinite
    joins = model(node("Concat", "x x", "y")), model(node("Concat", "x x", "y", axis=0))
    yield "no axis", "TF184", *joins
    letters = [
        model(node("Einsum", "x z", "y", equation=word), inputs={"x": (FLOAT, (2, 3)), "z": (FLOAT, (3, 4))})
        for word in ("IJ,JK->IK", "ij,jk->ik")
    ]
    yield "letters of an equation", "TF171", *letters
    foreign = [
        model(node("Attention", "x w b", "y", domain="own", **more), domain="own", w=_KERNEL, b=_KERNEL)
        for more in ({"num_heads": 2}, {"scale": 1.0})
    ]
    yield "another attention", "TF172", *foreign, "--target", "11.1"
    fills = [
        model(
            node("Shape", "x", "s"),
            node("ConstantOfShape", "s", "k", value=helper.make_tensor("v", FLOAT, [1], [n])),
            node("Add", "x k", "y"),
        )
        for n in (-1e9, -1e4)
    ]
    yield "a mask that is filled", "TF176", *fills, *_FP16
    cast = [
        model(
            node("Cast", "w", "c", to=TensorProto.FLOAT16),
            node("Cast", "c", "y", to=FLOAT),
            w=np.full(8, n, np.float32),
        )
        for n in (1e6, 1.0)
    ]
    yield "a constant cast to FP16", "TF176", *cast, "--target", "10.3", "--stronglyTyped"
    norms = [
        model(node("BatchNormalization", "x o o o v", "y"), o=np.ones(4, np.float32), v=np.full(4, n, np.float32))
        for n in (-1, 1)
    ]
    yield "negative variance", "TF177", *norms
    weak = [model(node("Conv", "x w", "y"), w=_KERNEL * np.float32(n)) for n in (1e-5, 1)]
    yield "subnormal weights", "TF176", *weak, *_FP16
    strong = [model(node("Conv", "x w", "y"), w=_KERNEL * np.float32(n)) for n in (1e5, 1)]
    yield "weights that overflow", "TF196", *strong, *_FP16
    cubes = [model(node("Pow", "x k", "y"), k=np.float32(n)) for n in (3, 1)]
    yield "cubes in FP16", "TF196", *cubes, *_FP16
    mask: Values = {"x": (FLOAT, ("n", 8)), "k": (FLOAT, (1, 8))}
    kept = [model(node("Add", "x k", "y"), inputs={**mask, "k": (FLOAT, (n, 8))}) for n in (1, "n")]
    yield "a mask of one", "TF111", *kept


def _structure() -> Iterator[Row]:
    plain = model(node("Neg", "x", "y"))
    shapes = [model(node("Shape", name, "s"), node("Cast", "s", "y", to=FLOAT)) for name in ("", "x")]
    shapes[1].graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    yield "a Shape of nothing", "TF184", *shapes
    empty = [model(node("EyeLike", name, "y"), inputs={"x": (FLOAT, (4, 4))}) for name in ("-", "x")]
    yield "a first input left out", "TF184", *empty
    yield "unknown tensor", "TF184", model(node("Add", "x lost", "y")), plain
    yield "circle", "TF184", model(node("Add", "x b", "a"), node("Neg", "a", "b"), node("Abs", "a", "y")), plain
    leaky = [helper.make_attribute("alpha", value) for value in (1, 1.0)]
    typed = [model(node("LeakyRelu", "x", "y")) for _ in leaky]
    for each, attribute in zip(typed, leaky, strict=True):
        each.graph.node[0].attribute.append(attribute)
    yield "an integer for a number", "TF184", *typed
    bodies = _looped("Abs"), _looped("Abs")
    bodies[0].graph.node[0].input.append("x")
    yield "more tensors than a body carries", "TF184", *bodies
    none = model(node("Neg", "x", "y"))
    del none.graph.node[0].output[:]
    yield "a node without a result", "TF184", none, plain
    yield "a name of the graph around", "TF184", *map(_shadowed, ("u", "t"))
    yield "nodes out of order", "TF184", model(node("Abs", "a", "y"), node("Neg", "x", "a")), plain
    yield "made twice", "TF184", model(node("Neg", "x", "y"), node("Abs", "x", "y", "again")), plain
    yield "no output", "TF184", model(node("Neg", "x", "y"), outputs={}), plain
    twice = [model(node("Neg", "x", "t", "a"), node("Abs", "t", "y", name)) for name in ("a", "b")]
    yield "a name twice", "TF185", *twice
    yield "unused node", "TF193", model(node("Neg", "x", "y"), node("Abs", "x", "z")), plain
    lost = model(node("Add", "x w", "y"), w=np.ones(8, np.float32))
    lost.graph.initializer[0].CopyFrom(
        TensorProto(name="w", data_type=FLOAT, dims=[8], data_location=TensorProto.EXTERNAL)
    )
    lost.graph.initializer[0].external_data.add(key="location", value="nowhere.bin")
    yield "missing data", "TF183", lost, plain
    dense, thin = model(node("Add", "x w", "y"), w=np.ones(8, np.float32)), model(node("Add", "x w", "y"))
    ones = numpy_helper.from_array(np.ones(2, np.float32), "w")
    thin.graph.sparse_initializer.append(
        helper.make_sparse_tensor(ones, numpy_helper.from_array(np.array([1, 3])), [8])
    )
    yield "sparse constant", "TF184", thin, dense


def _shadowed(name: str) -> onnx.ModelProto:
    then, other = (
        helper.make_graph([node(op, "x", made)], op, [], [helper.make_tensor_value_info(made, FLOAT, None)])
        for op, made in (("Relu", name), ("Neg", "o"))
    )
    branch = node("If", "c", "i", then_branch=then, else_branch=other)
    inputs: Values = {**_IMAGE, "c": (TensorProto.BOOL, ())}
    return model(node("Abs", "x", "u"), branch, node("Add", "u i", "y"), inputs=inputs)


def _weighted(axis: int) -> onnx.ModelProto:
    weights: dict[str, Any] = {
        "w": np.ones((4, 4, 3, 3), np.int8),
        "s": np.full(4, 0.1, np.float32),
        "z": np.zeros(4, np.int8),
    }
    return model(node("DequantizeLinear", "w s z", "d", axis=axis), node("Conv", "x d", "y"), **weights)


def _quantised(
    scale: float = 0.1, zero: int = 0, scales: int = 1, reader: str = "DequantizeLinear", **more: float
) -> onnx.ModelProto:
    factors = np.float32(scale) if scales == 1 else np.full(scales, scale, np.float32)
    points = np.int8(zero) if scales == 1 else np.full(scales, zero, np.int8)
    points = np.zeros(int(more["points"]), np.int8) if "points" in more else points
    first = node("QuantizeLinear", "x s z", "q", "/q", axis=more.get("axis", 1))
    second = node(reader, "q t z" if reader == "DequantizeLinear" else "q", "y", "/dq")
    return model(first, second, s=factors, z=points, t=np.float32(more["other"]) if "other" in more else factors)


def _quantisation() -> Iterator[Row]:
    good = _quantised()
    yield "scale of 0", "TF171", _quantised(scale=0.0), good
    yield "zero point", "TF171", _quantised(zero=3), good
    bare = _quantised()
    for each in bare.graph.node:
        del each.input[2:]
    yield "no zero point", "TF171", bare, good, "--target", "8.6"
    yield "no zero point, of another type", "TF174", bare, good
    yield "scale NaN", "TF187", _quantised(scale=float("nan")), good
    yield "scales of another length", "TF187", _quantised(scales=5), _quantised(scales=4)
    yield "Q without DQ", "TF188", _quantised(reader="Relu"), good
    yield "scales of a pair", "TF188", _quantised(other=0.2), good
    yield "zero points", "TF187", _quantised(points=3), good
    yield "an axis too far", "TF187", _quantised(scales=4, axis=7), _quantised(scales=4)
    yield "scales of input channels", "TF187", *map(_weighted, (1, 0))
    yield "Q/DQ on one input", "TF189", _convolutions([True]), _convolutions([True], weights="v")
    softmax = model(*_convolutions([True]).graph.node[2:4], node("Softmax", "d0", "y"), s=np.float32(0.1), z=np.int8(0))
    yield "Q/DQ that converts", "TF198", softmax, good
    handed = []
    for zero in (3, 0):
        handed.append(_quantised(zero=zero))
        for reader in handed[-1].graph.node:
            reader.input[:] = ["same" if name == "z" else name for name in reader.input]
        handed[-1].graph.node.insert(0, node("Identity", "z", "same"))
    yield "zero point behind an Identity", "TF171", *handed
    early = ("--target", "10.1")
    kept: dict[str, Any] = {"w": np.ones((8, 8), np.int8), "s": np.ones(8, np.float32), "z": np.zeros(8, np.int8)}
    scaled = node("DequantizeLinear", "w s z", "d"), node("DequantizeLinear", "w s z", "d", axis=1)
    axes = [model(each, node("MatMul", "x d", "y"), inputs={"x": (FLOAT, (2, 8))}, **kept) for each in scaled]
    yield "an axis that is not named", "TF187", *axes, *early
    yield "INT4 in odd rows", "TF171", _packed(7, (8,), axis=0), _packed(8, (8,)), *early
    yield "two blocked dimensions", "TF187", _packed(8, (2, 2)), _packed(8, (8, 2)), *early
    typed = [
        model(
            node("QuantizeLinear", "x s z", "q", output_dtype=element),
            node("DequantizeLinear", "q s z", "y"),
            opset=21,
            s=np.float32(0.1),
            z=np.int8(0),
        )
        for element in (TensorProto.FLOAT8E4M3FN, TensorProto.INT8)
    ]
    yield "two types of a result", "TF187", *typed, *early
    fp16 = ("--target", "8.6", "--fp16")
    yield "Q/DQ that is not allowed", "TF174", good, model(node("Neg", "x", "y")), *fp16
    yield "an island", "TF189", *(_convolutions([True, True, last], weights="v") for last in (False, True))


def _packed(width: int, scales: tuple[int, ...], axis: int = 1) -> onnx.ModelProto:
    more: dict[str, Any] = {"block_size": 4} if len(scales) > 1 else {}
    whole = model(
        node("DequantizeLinear", "w s", "d", axis=axis, **more),
        node("Add", "x d", "y"),
        inputs={"x": (FLOAT, (8, width))},
        opset=21,
        s=np.full(scales, 0.1, np.float32),
    )
    whole.graph.initializer.append(helper.make_tensor("w", TensorProto.INT4, [8, width], [1] * 8 * width))
    return whole


def residual(other: str) -> onnx.ModelProto:
    """Return a product in 8 bits to which ``x`` or its quantised ``d`` is added."""
    pairs = [
        [
            node("QuantizeLinear", f"{name} s z", f"{to}q", f"/q{to}"),
            node("DequantizeLinear", f"{to}q s z", to, f"/{to}"),
        ]
        for name, to in (("x", "d"), ("w", "v"), ("a", "y"))
    ]
    sums = node("Conv", "d v", "c", pads=[1] * 4), node("Add", f"c {other}", "a")
    return model(*pairs[0], *pairs[1], *sums, *pairs[2], w=_KERNEL, s=np.float32(0.1), z=np.int8(0))


def _convolutions(quantised: Sequence[bool], weights: str = "w") -> onnx.ModelProto:
    """Return convolutions with or without Q/DQ before them; the weights ``v`` are quantised."""
    nodes, tensor = [node("QuantizeLinear", "w s z", "u"), node("DequantizeLinear", "u s z", "v")], "x"
    for place, has_pair in enumerate(quantised):
        if has_pair:
            nodes += [node("QuantizeLinear", f"{tensor} s z", f"q{place}", f"/q{place}")]
            nodes += [node("DequantizeLinear", f"q{place} s z", f"d{place}", f"/d{place}")]
            tensor = f"d{place}"
        output = "y" if place == len(quantised) - 1 else f"c{place}"
        read = weights if has_pair else "w"
        nodes += [node("Conv", f"{tensor} {read}", output, f"/conv{place}", pads=[1, 1, 1, 1])]
        tensor = output
    return model(*nodes, w=_KERNEL, s=np.float32(0.1), z=np.int8(0))


def _targets() -> Iterator[Row]:
    plain, dynamic = model(node("Neg", "x", "y")), _reshaped([-1, 8])
    yield "head of attention", "TF191", _attention(12), _attention(16), *_FP16
    yield "attention in FP32", "TF191", _attention(16), plain
    yield "squares in FP16", "TF196", _squares("x"), _squares("c"), *_FP16
    yield "ForeignNodes", "TF197", _attention(16), plain
    yield "a fusion's tensor given out", "TF198", _convolved("c"), plain
    shapes = ("--minShapes=x:1x8", "--optShapes=x:2x8", "--maxShapes=x:4x8", "--dla", "--fp16")
    fixed = model(node("Relu", "x", "y"), inputs={"x": (FLOAT, (4, 8))})
    yield "dynamic DLA", "TF192", dynamic, fixed, "--target", "10.3", *shapes[3:]
    dla = ("--target", "8.6", "--fp16", "--dla")
    yield "operator not on DLA", "TF195", model(node("Erf", "x", "y")), model(node("Relu", "x", "y")), *dla
    rows: Values = {"x": (FLOAT, (4, 8))}
    product, weights = node("MatMul", "x w", "y"), np.ones((8, 8), np.float32)
    moving = model(product, inputs={**rows, "w": (FLOAT, (8, 8))})
    yield "product without constant", "TF195", moving, model(product, inputs=rows, w=weights), *dla
    wide = {n: np.ones((*_KERNEL.shape[:2], n, n), np.float32) for n in (33, 32)}
    windows = [model(node("Conv", "x w", "y", pads=[16] * 4), w=kernel) for kernel in wide.values()]
    yield "window on DLA", "TF195", *windows, *dla
    strides = [model(node("Conv", "x w", "y", strides=[n, n]), w=_KERNEL) for n in (9, 8)]
    yield "stride on DLA", "TF195", *strides, *dla
    early = ("--target", "8.5", *dla[2:])
    yield "DLA too early", "TF195", model(node("Sin", "x", "y")), model(node("Abs", "x", "y")), *early
    large = model(node("Add", "x z", "y"), inputs={"x": (FLOAT, (64, 1024, 2048)), "z": (FLOAT, (64, 1024, 2048))})
    yield "memory", "TF190", large, plain


def _squares(other: str) -> onnx.ModelProto:
    mean = node("ReduceMean", "s", "y", axes=[-1])
    return model(node("Mul", f"x {other}", "s"), mean, c=np.ones(8, np.float32))


def _convolved(*outputs: str) -> onnx.ModelProto:
    given: Values = dict.fromkeys(("y", *outputs), (FLOAT, None))
    return model(node("Conv", "x w", "c"), node("Relu", "c", "y"), outputs=given, w=_KERNEL)


def _attention(head: int) -> onnx.ModelProto:
    inputs: Values = dict.fromkeys(("q", "k", "v"), (FLOAT, (1, 4, 8, head)))
    parts = node("MatMul", "q kt", "s", "/scores"), node("Softmax", "s", "p"), node("MatMul", "p v", "y", "/sum")
    return model(node("Transpose", "k", "kt", perm=[0, 1, 3, 2]), *parts, inputs=inputs)


def written(pair: Pair, folder: Any) -> Mapping[str, str]:
    """Write both models into a folder and return their paths."""
    paths = {}
    for name in ("faulty", "faultless"):
        path = folder / f"{name}.onnx"
        path.write_bytes(getattr(pair, name).SerializeToString())
        paths[name] = str(path)
    return paths
