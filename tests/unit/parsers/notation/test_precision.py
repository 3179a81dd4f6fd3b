"""What a layer computes in is not what it writes: the kernel decides, then the inputs, and some layers do not tell."""

from __future__ import annotations

from tests.support.for_each import for_each
from tests.support.graph_builds import engine, tensor
from trtforensics.parsers.notation.precision import compute_precision

INT8_KERNEL = "sm80_xmma_fprop_implicit_gemm_interleaved_i8f32_i8i32_f32_nchw_vect_c_32kcrs_vect_c_32_tilesize128x64x64"


def computed(
    kind: str, inputs: tuple[str, ...], output: str, kernel: str = "", name: str = "a"
) -> tuple[str, str] | None:
    tensors = tuple(tensor(f"t{i}", dtype) for i, dtype in enumerate(inputs))
    layer = engine(name, "x", "y", 1, type=kind, tactic_name=kernel, inputs=tensors, outputs=(tensor("y", output),))
    known = compute_precision(layer)
    return None if known is None else (known.type, known.source.value)


def test_an_int8_kernel_that_writes_float_computes_in_int8() -> None:
    assert computed("CaskConvolution", ("Float",), "Float", INT8_KERNEL) == ("Int8", "kernel")


@for_each(
    ("kind", "inputs", "expected"),
    [
        ("CaskConvolution", ("Int8",), "Int8"),
        ("CaskConvolution", ("Int8", "Float"), "Int8"),
        ("CudnnConvolution", ("Half",), "Half"),
        ("MatrixMultiply", ("Half", "Half"), "Half"),
        ("PoolingTiled", ("Int8",), "Int8"),
        ("PointWiseV2", ("Half", "Half"), "Half"),
        ("NMS", ("Float", "Int32"), "Float"),
        ("kgen", ("Float",), "Float"),
        ("kgen", ("Int32",), "Int32"),
    ],
)
def test_without_a_kernel_the_inputs_tell(kind: str, inputs: tuple[str, ...], expected: str) -> None:
    assert computed(kind, inputs, "Float") == (expected, "inputs")


@for_each(
    ("kind", "inputs"),
    [
        ("PointWiseV2", ("Int8",)),
        ("Resize", ("Int8",)),
        ("ElementWise", ("Half", "Float")),
        ("kgen", ("Half",)),
        ("PluginV3", ("Half",)),
        ("Myelin", ("Half",)),
        ("Reformat", ("Half",)),
        ("NoOp", ("Half",)),
        ("Constant", ()),
        ("SoftMax", ()),
    ],
)
def test_what_nothing_tells_is_unknown(kind: str, inputs: tuple[str, ...]) -> None:
    assert computed(kind, inputs, "Half") is None


def test_a_cast_in_the_name_of_a_kernel_that_myelin_wrote_leaves_its_type_open() -> None:
    assert computed("kgen", ("Float",), "Float", "__myl_CastReshCast_0x1") is None


def test_a_layers_type_may_name_what_it_computes_in() -> None:
    assert computed("CudaInt8Gemm", ("Float",), "Float") == ("Int8", "type")
