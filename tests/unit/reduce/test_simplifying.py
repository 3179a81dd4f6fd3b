"""What may become simpler about a model."""

from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.support import failing_models as failing
from tests.support.for_each import for_each
from trtforensics.onnx_models.running import run_model
from trtforensics.reduce.deriving import Derived, Deriver
from trtforensics.reduce.simplifying import Aspect, Simplification, kept_texts, simplifications_of

Apart = Callable[..., Deriver]
Fault = Callable[[failing.Growing, str], str]


def convolution() -> onnx.ModelProto:
    """Return a model of a convolution and a Reshape; the batch is dynamic."""
    nodes = [
        helper.make_node("Conv", ["x", "kernel"], ["a"], name="zebrafoo/conv", pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
        helper.make_node("Softmax", ["a"], ["b"], name="zebrafoo/softmax", axis=1),
        helper.make_node("Reshape", ["b", "target"], ["y"], name="zebrafoo/reshape"),
    ]
    kernel = np.random.default_rng(1).normal(0, 1, (6, 4, 3, 3)).astype(np.float32)
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(kernel, "kernel"), numpy_helper.from_array(np.array([-1, 6, 64]), "target")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def simplified(deriver: Deriver, *aspects: Aspect, keys: tuple[str, ...] = ()) -> Derived:
    """Derive all nodes with everything of some aspects simpler."""
    chosen = [s.aspect in aspects and (not keys or s.key in keys) for s in deriver.simplifications]
    first = len(deriver.original.nodes)
    return deriver.derive({*range(first), *(first + i for i, simpler in enumerate(chosen) if not simpler)})


def whole(apart: Apart) -> Deriver:
    deriver = apart(convolution(), dynamic=True)
    return Deriver(deriver.original, deriver.recording, simplifications_of(deriver.original, anonymous=True))


def test_nothing_simpler_is_the_original(apart: Apart) -> None:
    deriver = whole(apart)
    assert simplified(deriver).model.graph.node == deriver.original.model.graph.node


def test_a_dynamic_dimension_gets_the_size_of_the_sample(apart: Apart) -> None:
    model = simplified(whole(apart), Aspect.DYNAMIC).model
    assert [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim] == [2, 4, 8, 8]


def test_a_size_shrinks_in_weights_inputs_attributes_and_constants(apart: Apart) -> None:
    shrunk = simplified(whole(apart), Aspect.SIZE, Aspect.DYNAMIC, keys=("4", "6", "3", "batch"))
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in shrunk.model.graph.initializer}
    assert constants["kernel"].shape == (1, 1, 1, 1)
    assert constants["target"].tolist() == [-1, 1, 64]
    assert shrunk.inputs["x"].shape == (2, 1, 8, 8)
    assert list(helper.get_node_attr_value(shrunk.model.graph.node[0], "kernel_shape")) == [1, 1]


def test_the_sizes_of_a_sequence_that_shrinks_are_left_open(apart: Apart) -> None:
    plain = apart(failing.model_with(failing.sequence, 12))
    deriver = Deriver(plain.original, plain.recording, simplifications_of(plain.original, anonymous=False))
    (pair,) = (i for i, node in enumerate(plain.original.nodes) if node.name.endswith("SequenceConstruct"))
    model = deriver.derive({pair}).model
    assert [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim] == [1, 1, 1, 1]
    onnx.checker.check_model(model, full_check=True)


def test_one_halving_halves(apart: Apart) -> None:
    deriver = whole(apart)
    first = len(deriver.original.nodes)
    (index,) = (i for i, s in enumerate(deriver.simplifications) if (s.aspect, s.key, s.step) == (Aspect.SIZE, "4", 1))
    active = set(range(first + len(deriver.simplifications))) - {first + index}
    derived = deriver.derive(active)
    assert derived.inputs["x"].shape == (2, 2, 8, 8)
    assert not isinstance(run_model(derived.model, derived.inputs), str)


def test_weights_become_random_of_the_same_range(apart: Apart) -> None:
    deriver = whole(apart)
    before = numpy_helper.to_array(deriver.original.constants["kernel"])
    one, two = (simplified(deriver, Aspect.WEIGHTS).model for _ in range(2))
    after = numpy_helper.to_array(next(t for t in one.graph.initializer if t.name == "kernel"))
    assert (after.shape, after.dtype) == (before.shape, before.dtype)
    assert not np.isin(after, before).any()
    assert before.min() <= after.min() <= after.max() <= before.max()
    assert one.SerializeToString(deterministic=True) == two.SerializeToString(deterministic=True)


def test_attributes_that_are_not_at_their_default_go(apart: Apart) -> None:
    model = simplified(whole(apart), Aspect.ATTRIBUTE).model
    assert [[each.name for each in node.attribute] for node in model.graph.node] == [[], [], []]


def test_names_are_replaced_everywhere_and_the_model_computes_the_same(apart: Apart) -> None:
    deriver = whole(apart)
    plain, renamed = simplified(deriver), simplified(deriver, Aspect.NAMES)
    assert b"zebrafoo" in plain.model.SerializeToString()
    assert b"zebrafoo" not in renamed.model.SerializeToString()
    one, two = run_model(plain.model, plain.inputs), run_model(renamed.model, renamed.inputs)
    assert not isinstance(one, str)
    assert not isinstance(two, str)
    assert [value.tobytes() for value in one.values()] == [value.tobytes() for value in two.values()]


@for_each("fault", [failing.determinant, failing.branch, failing.loop, failing.data_dependent_target])
@for_each("seed", range(6))
def test_what_is_not_relevant_changes_nothing(apart: Apart, fault: Fault, seed: int) -> None:
    """The search leaves irrelevant simplifications out, which must not change the model that was seen to fail."""
    plain = apart(failing.model_with(fault, 20))
    simpler = simplifications_of(plain.original, anonymous=False, sample=plain.recording.values)
    deriver = Deriver(plain.original, plain.recording, simpler)
    count = len(plain.original.nodes)
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 6))
    nodes = frozenset(int(index) for index in random.choice(count, size, replace=False))
    seen = deriver.derive(nodes | set(range(count, count + len(simpler))))
    left = deriver.derive(nodes | deriver.relevant(nodes))
    assert left.model == seen.model
    assert {name: value.tolist() for name, value in left.inputs.items()} == {
        name: value.tolist() for name, value in seen.inputs.items()
    }


def longest(graph: failing.Growing, current: str) -> str:
    """Take the 200 largest of 256 values: 200 is a size of the result, and a constant spells it."""
    flat = graph.add("Reshape", current, graph.constant("flat", [1, -1], np.int64))
    graph.nodes.append(
        helper.make_node("TopK", [flat, graph.constant("k", [200], np.int64)], ["top", "at"], name="top")
    )
    return graph.add("Add", current, graph.add("ReduceMean", "top", keepdims=0))


def test_a_size_that_only_a_constant_spells_stays_as_it_was(apart: Apart) -> None:
    plain = apart(failing.model_with(longest, 20))
    deriver = Deriver(plain.original, plain.recording, simplifications_of(plain.original, anonymous=False))
    top = frozenset({plain.original.by_name["top"]})
    (k,) = deriver.derive(top | deriver.relevant(top)).model.graph.initializer
    assert numpy_helper.to_array(k).tolist() == [200]


def test_the_batch_of_the_sample_becomes_one(apart: Apart) -> None:
    plain = whole(apart)
    simpler = simplifications_of(plain.original, anonymous=False, sample=plain.recording.values)
    deriver = Deriver(plain.original, plain.recording, simpler)
    model = simplified(deriver, Aspect.DYNAMIC, Aspect.SIZE, keys=("batch", "2")).model
    assert [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim] == [1, 4, 8, 8]


def test_a_size_is_listed_once_with_what_is_left_of_it() -> None:
    whole = [Simplification(Aspect.SIZE, "8", step=step) for step in (1, 2, 3)]
    part = [Simplification(Aspect.SIZE, "768", step=step) for step in range(3, 10)]
    names = Simplification(Aspect.NAMES)
    assert kept_texts([*whole, *part, names]) == ["the size 8", "the size 768, as far as 192", "the names"]
