"""Products that sum in FP16, held against numpy: the sum is stored after each 16 terms."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.support.for_each import for_each
from trtforensics.bisection.precision.emulation.accumulation import accumulated, product_of
from trtforensics.bisection.precision.emulation.twin import store_and_read

if TYPE_CHECKING:
    import numpy.typing as npt

    Values = npt.NDArray[Any]

runtime = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

RANDOM = np.random.default_rng(3)


def halves(*dims: int) -> Values:
    return RANDOM.standard_normal(dims).astype(np.float16).astype(np.float32)


def run(op: str, *operands: Values, **attributes: Any) -> tuple[Values, Values]:
    """Return the result with FP16 sums, and ONNX Runtime's own."""
    names = [f"operand_{number}" for number in range(len(operands))]
    node = helper.make_node(op, names, ["exact"], name="product", **attributes)
    product = product_of(node, {name: each.shape for name, each in zip(names, operands, strict=True)})
    assert product is not None
    rounding = partial(store_and_read, elem_type=TensorProto.FLOAT16)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * each.ndim)
        for name, each in zip(names, operands, strict=True)
    ]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("summed", "exact")]
    graph = helper.make_graph([node, *accumulated(node, product, "summed", rounding)], "one product", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    summed, exact = session.run(None, dict(zip(names, operands, strict=True)))
    return summed, exact


def summed_by_numpy(left: Values, right: Values) -> Values:
    total = np.zeros(np.matmul(left, right).shape, np.float16)
    for start in range(0, left.shape[-1], 16):
        part = slice(start, start + 16)
        block = np.matmul(left[..., part].astype(np.float64), right[..., part, :].astype(np.float64))
        with np.errstate(over="ignore"):
            total = (block + total).astype(np.float16)
    return total.astype(np.float32)


@for_each(
    ("left", "right"),
    [
        ((3, 50), (50, 7)),
        ((2, 3, 4, 33), (33, 5)),
        ((2, 3, 4, 16), (2, 3, 16, 5)),
        ((5, 40), (2, 40, 3)),
        ((1, 3), (3, 1)),
    ],
)
def test_a_matrix_product_is_that_of_numpy(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    operands = halves(*left), halves(*right)
    summed, exact = run("MatMul", *operands)
    assert np.array_equal(summed, summed_by_numpy(*operands))
    assert summed == pytest.approx(exact, abs=0.05)


def test_gemm_transposes_and_adds_after_the_sum() -> None:
    left, right, bias = halves(50, 3), halves(7, 50), halves(7)
    summed, _ = run("Gemm", left, right, bias, transA=1, transB=1, alpha=0.5, beta=2.0)
    assert np.array_equal(summed, 0.5 * summed_by_numpy(left.T, right.T) + 2.0 * bias)


def test_a_convolution_is_the_product_of_its_weights_with_patches() -> None:
    image, filters, bias = halves(2, 12, 5, 6), halves(8, 6, 3, 3), halves(8)
    summed, _ = run("Conv", image, filters, bias, group=2, pads=[1, 1, 1, 1], strides=[2, 1])
    padded = np.pad(image, [(0, 0), (0, 0), (1, 1), (1, 1)])
    for batch, group, row, column in np.ndindex(2, 2, 3, 6):
        channels, made = slice(6 * group, 6 * group + 6), slice(4 * group, 4 * group + 4)
        patch = padded[batch, channels, 2 * row : 2 * row + 3, column : column + 3].reshape(-1, 1)
        wanted = summed_by_numpy(filters[made].reshape(4, -1), patch)[:, 0] + bias[made]
        assert np.array_equal(summed[batch, made, row, column], wanted)


@pytest.mark.parametrize(
    ("image", "filters", "attributes"),
    [
        ((1, 12, 20), (12, 1, 5), {"group": 12, "dilations": [2]}),
        ((2, 3, 9, 9), (4, 3, 3, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
        ((1, 4, 5, 5, 5), (5, 4, 2, 2, 2), {}),
    ],
)
def test_convolutions_of_every_geometry_stay_near_the_exact_result(
    image: tuple[int, ...], filters: tuple[int, ...], attributes: dict[str, Any]
) -> None:
    summed, exact = run("Conv", halves(*image), halves(*filters), **attributes)
    assert summed.shape == exact.shape
    assert summed == pytest.approx(exact, abs=0.05)
    assert not np.array_equal(summed, exact)


def test_a_partial_sum_beyond_fp16_is_infinite_though_the_whole_sum_is_zero() -> None:
    left = np.full((1, 32), 100.0, np.float32)
    right = np.repeat([[100.0], [-100.0]], 16, axis=0).astype(np.float32)
    summed, exact = run("MatMul", left, right)
    assert exact == [[0.0]]
    assert summed == [[np.inf]]


def test_an_operand_that_is_not_finite_gives_what_fp32_gives() -> None:
    image = halves(1, 2, 4, 4)
    image[0, 0, 1, 1] = np.inf
    summed, exact = run("Conv", image, np.ones((1, 2, 3, 3), np.float32))
    assert np.isinf(exact).any()
    assert np.array_equal(np.isnan(summed), np.isnan(exact))
    assert np.array_equal(np.isinf(summed), np.isinf(exact))


def test_what_is_not_emulated_has_no_product() -> None:
    vector = helper.make_node("MatMul", ["a", "b"], ["y"])
    assert product_of(vector, {"a": (4,), "b": (4, 2)}) is None
    assert product_of(vector, {"a": (4, 4)}) is None
    assert product_of(helper.make_node("ConvTranspose", ["a", "b"], ["y"]), {"a": (1, 2, 3), "b": (2, 2, 3)}) is None
    assert product_of(helper.make_node("Relu", ["a"], ["y"]), {"a": (4, 4)}) is None
