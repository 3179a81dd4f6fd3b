"""What kernel names tell, by family; names of no family tell nothing."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support import reference_executor
from tests.support.for_each import for_each
from trtforensics.model.kernel import KernelFacts, NameEvidence
from trtforensics.parsers.grammar.line_kinds import KERNEL
from trtforensics.parsers.notation.kernels import read_kernel, read_tactic
from trtforensics.redaction.pseudonyms import Pseudonyms
from trtforensics.redaction.vocabulary import vocabulary
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from pathlib import Path

S, C, U = NameEvidence.STATED, NameEvidence.CONVENTION, NameEvidence.UNKNOWN

LETTERS = "ampere_h16816gemm_128x64_ldg8_stages_64x3_nn_v1"
XMMA = "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x64x32_stage3_warpsize2x2x1_tensor16x8x16"

TYPES = [
    (XMMA, "xmma", ("Half", "Float", "Half"), (S, S, S)),
    ("sm80_xmma_gemm_f16f16_f16f16_f16_nn_n_tilesize32x32x64", "xmma", ("Half", "Half", "Half"), (S, S, S)),
    ("sm86_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize32x32x64", "xmma", ("TF32", "Float", "Float"), (S, S, S)),
    ("sm80_xmma_fprop_implicit_gemm_interleaved_i8f16_i8i32_f32_nchw", "xmma", ("Int8", "Int32", "Half"), (S, S, S)),
    ("sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x64x64", "xmma", ("FP8", "Float", "BFloat16"), (S, S, S)),
    ("sm50_xmma_cublas_gemvx_f16f16_f32_f32_tn_n_int32_unit_n", "xmma", ("Half", "Float", "Half"), (C, S, S)),
    ("sm70_xmma_gemm_as_conv1x1_f16f16_f16_f16_tn_n_simt", "xmma", ("Half", "Half", "Half"), (C, S, S)),
    ("sm50_xmma_pooling_tiled_FP16NCxHW2_kMAX_tP2_tQ16", "xmma", ("Half", None, None), (S, U, U)),
    ("sm50_xmma_pooling_fw_4d_FP16FP32NHWC_Max_CAlign8", "xmma", ("Half", None, None), (S, U, U)),
    ("sm72_xmma_pooling_IMMA_NCxHW32_gap", "xmma", (None, None, None), (U, U, U)),
    ("sm50_xmma_convolution_depthwiseHMMA_FP16NHWCx8_TR5", "xmma", ("Half", None, None), (S, U, U)),
    (
        "sm50_xmma_conv_fprop_fused_conv_act_fp32_NCHW_fp16_NCHW_KCRS_fp32_fp32_fp32_Accfloat_1_1",
        "xmma",
        ("Float", "Float", "Half"),
        (S, S, S),
    ),
    ("ampere_h16816gemm_128x64_ldg8_stages_64x3_nn_v1", "cublas", ("Half", "Half", "Half"), (C, C, C)),
    ("turing_fp16_s1688gemm_fp16_128x64_ldg8_f2f_tn_v1", "cublas", ("Half", "Float", "Half"), (S, C, S)),
    ("ampere_s1688gemm_128x64_ldg4_tn_v1", "cublas", (None, "Float", "Float"), (U, C, C)),
    ("volta_sgemm_128x64_nn", "cublas", ("Float", "Float", "Float"), (C, C, C)),
    ("trt_volta_fp16x2_hcudnn_winograd_fp16x2_128x128_ldg1", "cudnn", ("Half", "Half", "Half"), (S, C, S)),
    ("turing_int8_i8816cudnn_int8_256x64_ldg16_relu_small_nt_v1", "cudnn", ("Int8", "Int32", "Int8"), (S, C, S)),
    ("volta_fp32_icudnn_int8x4_128x32_relu_small_nn_v1", "cudnn", ("Int8", "Int32", "Float"), (S, C, S)),
    ("cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x64_32x4_tn", "cutlass", ("Half", "Float", "Half"), (S, C, S)),
    ("cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align4", "cutlass", ("TF32", "Float", "Float"), (C, C, C)),
    ("cutlass_tensorop_s1688tf32gemm_128x256_16x3_nn_align4", "cutlass", ("TF32", "Float", "Float"), (S, C, C)),
    (
        "cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_void_bf16_128x128x64_2x1x1_0_tnn",
        "cutlass",
        ("Half", "Float", "BFloat16"),
        (S, S, S),
    ),
    ("nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNT", "nvjet", ("Half", "Float", "Half"), (C, C, C)),
    ("nvjet_sm100_tst_64x16_64x16_2x4_2cta_h_bz_splitK_TNT", "nvjet", ("BFloat16", "Float", "BFloat16"), (C, C, C)),
    (
        "trt_turing_cutlass_image_network_first_layer_hmma_fprop_f16f16f32_nhwc_nhwc_k64r7s7c4",
        "cutlass",
        ("Half", None, None),
        (S, U, U),
    ),
    ("__myl_CastMulMean_0x0123456789abcdef0123456789abcdef", "myelin", (None, None, None), (U, U, U)),
    ("_gemm_mha_v2_0x0123456789abcdef0123456789abcdef", "myelin", (None, None, None), (U, U, U)),
]


@for_each(("name", "family", "types", "evidence"), TYPES)
def test_a_name_tells_its_types_and_how_well(
    name: str, family: str, types: tuple[str | None, ...], evidence: tuple[NameEvidence, ...]
) -> None:
    facts = read_kernel(name)
    assert facts.family == family
    assert (facts.operand, facts.accumulator, facts.output) == types
    assert tuple(map(facts.evidence, ("operand", "accumulator", "output"))) == evidence


def test_redaction_keeps_what_a_name_tells() -> None:
    pseudonyms = Pseudonyms(vocabulary())
    names = [(name, pseudonyms.rewrite(name)) for name, *_ in TYPES]
    assert not [name for name, other in names if replace(read_kernel(other), name=name) != read_kernel(name)]


@for_each(
    ("name", "tile", "stages", "architecture"),
    [
        (XMMA, (96, 64, 32), 3, "sm80"),
        ("ampere_h16816gemm_128x64_ldg8_stages_64x3_nn_v1", (128, 64, 64), 3, "ampere"),
        ("ampere_h16816gemm_128x64_ldg8_nn_v1", (128, 64), None, "ampere"),
        ("cutlass_80_tensorop_s16816gemm_bf16_64x32_64x6_tn_align8", (64, 32, 64), 6, "sm80"),
        ("nvjet_sm120_tst_128x64_32x4_2x1_v_bz_TNT", (128, 64, 32), 4, "sm120"),
        ("sm50_xmma_pooling_tiled_FP32NCHW_kMAX_tP2_tQ16", None, None, "sm50"),
    ],
)
def test_a_name_tells_how_the_work_is_divided(
    name: str, tile: tuple[int, ...] | None, stages: int | None, architecture: str
) -> None:
    facts = read_kernel(name)
    assert (facts.tile, facts.stages, facts.architecture) == (tile, stages, architecture)


@for_each(
    ("words", "tensor_core", "sparse", "split_k"),
    [
        ("tensor16x8x16", True, False, None),
        ("sptensor16x8x32", True, True, None),
        ("warpgroupsize1x1x1", True, False, None),
        ("ffma", False, False, None),
        ("simt_small_batch", False, False, None),
        ("tensor16x8x16_execute_split_k_kernel", True, False, True),
        ("tensor16x8x16_splitK_x", True, False, True),
        ("tensorless_ffmas_splitknot", None, False, None),
    ],
)
def test_words_tell_instructions_and_split_k(
    words: str, *, tensor_core: bool | None, sparse: bool | None, split_k: bool | None
) -> None:
    facts = read_kernel(f"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_{words}")
    assert (facts.tensor_core, facts.sparse, facts.split_k) == (tensor_core, sparse, split_k)


def invented(seed: int) -> str:
    """Return a name of words that kernels use, in an order that no family has."""
    draw = random.Random(seed)  # noqa: S311 - names, no secrets
    heads = ["mars", "sm80_mma", "xmma_sm80", "kernel", "my_gemm", "fused", "trt", "h16816gemm", "sm80_xmma_whirl"]
    words = ["f16f16", "f16f32", "f32", "s16816gemm", "fp16", "tn_n", "128x64", "stage3", "tilesize8x8x8", "tensorop"]
    return "_".join([draw.choice(heads), *draw.sample(words, 5), str(seed)])


@for_each("name", [*map(invented, range(50)), "", "x", "sm80_xmma_", "__Myl", "ampere_q16816gemm_8x8"])
def test_a_name_of_no_family_is_not_guessed(name: str) -> None:
    assert read_kernel(name) == KernelFacts(name)


def test_what_a_tactics_line_and_its_layer_say_overrides_the_name() -> None:
    named = read_kernel(LETTERS)
    assert (named.output, named.evidence("output"), named.split_k) == ("Half", NameEvidence.CONVENTION, None)
    told = read_tactic(LETTERS, 4, ("Float(1,2)", "Float(3)"))
    assert (told.output, told.evidence("output"), told.split_k) == ("Float", NameEvidence.STATED, True)
    assert (told.accumulator, told.evidence("accumulator")) == (named.accumulator, NameEvidence.CONVENTION)
    assert read_tactic(LETTERS, 1).split_k is False
    assert read_tactic(LETTERS, None, ("Half(1)", "Float(1)")) == named
    assert read_tactic("whatever", None, ("Half(1)",)) == KernelFacts("whatever")


def test_reading_names_needs_no_lark() -> None:
    code = f"import sys\nfrom trtforensics.parsers.notation.kernels import read_kernel\nread_kernel({XMMA!r})"
    subprocess.run([sys.executable, "-c", f"{code}\nassert 'lark' not in sys.modules"], check=True)


@pytest.mark.corpus
@pytest.mark.slow
def test_every_kernel_of_the_corpus_is_of_a_family_and_read_as_lalr_reads_it(corpus: Path) -> None:
    names = {name for path in sorted((corpus / "buildlog").glob("*trt*")) for name in kernels(path)}
    assert len(names) > 1000
    assert [name for name in names if read_kernel(name).family is None] == []
    products = [name for name in names if "gemm" in name and not name.startswith("_")]
    assert [name for name in products if read_kernel(name).accumulator is None] == []
    assert [name for name in names if reference_executor.parse(name.encode(), KERNEL) is None] == []


def kernels(path: Path) -> set[str]:
    """Return the kernels that a log names beside times and in its engine."""
    if not path.read_bytes().count(b"[V]"):
        return set()
    log = load_build_log([str(path)])
    timed = {b.timings.texts[k] for b in log.builds for k in b.timings.kernel[b.timings.kernel >= 0].tolist()}
    return timed | {layer.tactic_name for b in log.builds for layer in b.engine_layers if layer.tactic_name}
