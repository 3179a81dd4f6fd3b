"""Casting keeps its promises on generated graphs: nothing changes when all stays FP32, every mixture is valid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from tests.support.property_settings import examples
from tests.support.small_caster import narrow_tensors
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import BF16, FP16
from trtforensics.bisection.precision.emulation.twin import emulate
from trtforensics.onnx_models.reading import prepare

if TYPE_CHECKING:
    from pathlib import Path

runtime = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

ROWS, COLUMNS = 4, 6
UNARY = (
    "Relu",
    "Tanh",
    "Sigmoid",
    "Exp",
    "Softmax",
    "Erf",
    "Neg",
    "Abs",
    "Identity",
    "Transpose",
    "LayerNormalization",
)
BINARY = ("Add", "Sub", "Mul", "Max", "MatMul", "Concat", "Where")
PIECES = ("if", "loop", "quantised", "reshaped", "sizes", "user_half", "topk", "argmax", "constant", "huge", "clip")


class Graph:
    """A graph in the making; every float tensor has the shape (rows, 6), rows being dynamic or 4."""

    def __init__(self, *, dynamic: bool, named: bool) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.rows: str | int = "rows" if dynamic else ROWS
        self._named = named
        self._count = 0

    def add(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """Add a node; return its first output."""
        self._count += 1
        names = [f"t{self._count}_{index}" for index in range(outputs)]
        name = f"{op}_{self._count}" if self._named else ""
        self.nodes.append(helper.make_node(op, list(inputs), names, name=name, **attributes))
        return names[0]

    def initial(self, values: Any, dtype: Any = np.float32) -> str:
        """Add an initializer."""
        self._count += 1
        self.initializers.append(numpy_helper.from_array(np.asarray(values, dtype), f"c{self._count}"))
        return f"c{self._count}"

    def unary(self, op: str, x: str) -> str:
        """Add an operation on one tensor."""
        if op == "Transpose":
            return self.add(op, self.add(op, x, perm=[1, 0]), perm=[1, 0])
        if op == "LayerNormalization":
            return self.add(op, x, self.initial(np.ones(COLUMNS)), self.initial(np.zeros(COLUMNS)), axis=-1)
        return self.add(op, x)

    def binary(self, op: str, x: str, y: str) -> str:
        """Add an operation on two tensors."""
        if op == "MatMul":
            return self.add(op, x, self.initial(np.eye(COLUMNS) * 0.5 + 0.01))
        if op == "Concat":
            both = self.add(op, x, y, axis=-1)
            return self.add(
                "Slice",
                both,
                self.initial([1], np.int64),
                self.initial([1 + COLUMNS], np.int64),
                self.initial([1], np.int64),
            )
        if op == "Where":
            return self.add(op, self.add("Less", x, y), x, y)
        return self.add(op, x, y)

    def piece(self, kind: str, x: str) -> str:
        """Add one of the pieces."""
        made: str = getattr(self, f"_{kind}")(x)
        return made

    def _if(self, x: str) -> str:
        total = self.add("ReduceMax", x, keepdims=0)
        condition = self.add("Greater", total, self.initial(0.5))
        branches = {}
        for branch, op in (("then_branch", "Mul"), ("else_branch", "Sub")):
            nodes = [helper.make_node(op, [x, x], ["inner"]), helper.make_node("Tanh", ["inner"], ["out"], name="same")]
            branches[branch] = helper.make_graph(nodes, branch, [], [self._info("out")])
        return self.add("If", condition, **branches)

    def _loop(self, x: str) -> str:
        self._count += 1
        now, then = f"state{self._count}", f"next{self._count}"
        nodes = [
            helper.make_node("Add", [now, x], [f"sum{self._count}"]),
            helper.make_node("Sigmoid", [f"sum{self._count}"], [then]),
            helper.make_node("Identity", [f"go{self._count}"], [f"on{self._count}"]),
        ]
        ins = [
            helper.make_tensor_value_info(f"i{self._count}", TensorProto.INT64, []),
            helper.make_tensor_value_info(f"go{self._count}", TensorProto.BOOL, []),
            self._info(now),
        ]
        outs = [helper.make_tensor_value_info(f"on{self._count}", TensorProto.BOOL, []), self._info(then)]
        body = helper.make_graph(nodes, "body", ins, outs)
        return self.add("Loop", self.initial(2, np.int64), self.initial(1, np.bool_), x, body=body)

    def _quantised(self, x: str) -> str:
        scale, zero = self.initial(0.05), self.initial(0, np.int8)
        return self.add("DequantizeLinear", self.add("QuantizeLinear", x, scale, zero), scale, zero)

    def _reshaped(self, x: str) -> str:
        rows = self.add("Gather", self.add("Shape", x), self.initial([0], np.int64))
        flat = self.add("Reshape", x, self.initial([-1], np.int64))
        return self.add("Reshape", flat, self.add("Concat", rows, self.initial([COLUMNS], np.int64), axis=0))

    def _sizes(self, x: str) -> str:
        shape = self.add("Cast", self.add("Shape", x), to=TensorProto.FLOAT)
        doubled = self.add("Cast", self.add("Mul", shape, self.initial([2.0, 1.0])), to=TensorProto.INT64)
        big = self.add(
            "Expand", self.add("Unsqueeze", x, self.initial([0], np.int64)), self.initial([2, 1, 1], np.int64)
        )
        tall = self.add("Reshape", big, doubled)
        return self.add(
            "Slice",
            tall,
            self.initial([0], np.int64),
            self.add("Slice", self.add("Shape", x), *(self.initial([v], np.int64) for v in (0, 1, 0))),
            self.initial([0], np.int64),
        )

    def _user_half(self, x: str) -> str:
        half = self.add("Cast", x, to=TensorProto.FLOAT16)
        return self.add("Cast", self.add("Add", half, half), to=TensorProto.FLOAT)

    def _topk(self, x: str) -> str:
        values = self.add("TopK", x, self.initial([COLUMNS], np.int64), outputs=2, axis=-1)
        return self.add("Add", values, self.add("Cast", values.replace("_0", "_1"), to=TensorProto.FLOAT))

    def _argmax(self, x: str) -> str:
        return self.add("Mul", x, self.add("Cast", self.add("ArgMax", x, axis=-1, keepdims=1), to=TensorProto.FLOAT))

    def _constant(self, x: str) -> str:
        value = numpy_helper.from_array(np.full(COLUMNS, 0.25, np.float32))
        return self.add("Mul", self.add("Constant", value=value), x)

    def _huge(self, x: str) -> str:
        return self.add("Tanh", self.add("Mul", self.add("Add", x, self.initial(1e5)), self.initial(1e-12)))

    def _clip(self, x: str) -> str:
        return self.add("Clip", x, "", self.initial(0.75))

    def _info(self, name: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [self.rows, COLUMNS])

    def model(self, results: list[str], opset: int) -> onnx.ModelProto:
        """Return the model."""
        outs = [self.add("Identity", name) for name in results]
        graph = helper.make_graph(
            self.nodes, "g", [self._info("x")], [self._info(name) for name in outs], self.initializers
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = 9
        return model


@st.composite
def models(draw: st.DrawFn) -> onnx.ModelProto:
    graph = Graph(dynamic=draw(st.booleans()), named=draw(st.booleans()))
    made = ["x"]
    for _ in range(draw(st.integers(1, 8))):
        tensor = draw(st.sampled_from(made))
        kind = draw(st.sampled_from((UNARY, BINARY, PIECES)))
        name = draw(st.sampled_from(kind))
        if kind is UNARY:
            made.append(graph.unary(name, tensor))
        elif kind is BINARY:
            made.append(graph.binary(name, tensor, draw(st.sampled_from(made))))
        else:
            made.append(graph.piece(name, tensor))
    results = draw(st.lists(st.sampled_from(made[1:]), min_size=1, max_size=2, unique=True))
    return graph.model(list(dict.fromkeys([made[-1], *results])), draw(st.sampled_from((17, 19))))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("caster") / "model.onnx"


def run(model: onnx.ModelProto) -> list[Any]:
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    x = np.random.default_rng(0).standard_normal((ROWS, COLUMNS)).astype(np.float32)
    session = runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return list(session.run(None, {"x": x}))


@settings(examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(model=models(), data=st.data())
def test_casting_is_right(path: Path, model: onnx.ModelProto, data: st.DataObject) -> None:
    onnx.save(model, path)
    prepared = prepare(str(path))
    before = run(model)
    for storage in (FP16, BF16):
        caster = Caster(prepared, storage)
        nothing = caster.cast(caster.candidates)
        assert [a.tobytes() for a in run(nothing)] == [b.tobytes() for b in before]
        for keep in (frozenset(), caster.kept(data.draw(st.sets(st.sampled_from([*caster.candidates, ""]))))):
            typed = caster.cast(keep)
            onnx.checker.check_model(typed, full_check=True)
            assert [o.SerializeToString() for o in typed.graph.output] == [
                o.SerializeToString() for o in prepared.proto.graph.output
            ]
            twin = emulate(typed)
            onnx.checker.check_model(twin, full_check=True)
            arithmetic = [node for node in twin.graph.node if node.op_type != "Cast"]
            assert not {name for node in arithmetic for name in node.input} & narrow_tensors(twin)
            assert [o.shape for o in run(twin)] == [b.shape for b in before]
