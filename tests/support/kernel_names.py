"""Kernel names put together of what they say: the other way of reading them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from trtforensics.model.kernel import KernelFacts

XMMA_TYPES = {
    "f16": "Half",
    "f32": "Float",
    "bf16": "BFloat16",
    "tf32": "TF32",
    "i8": "Int8",
    "e4m3": "FP8",
}
SUMS = {"f16": "Half", "f32": "Float", "i32": "Int32"}
WRITTEN = {"f16": "Half", "f32": "Float", "bf16": "BFloat16", "i8": "Int8"}
OPERATIONS = (
    "gemm",
    "sparse_gemm",
    "fprop_implicit_gemm",
    "fprop_implicit_gemm_interleaved_indexed",
    "fprop_implicit_gemm_indexed_wo_smem",
    "dgrad_implicit_gemm_indexed",
    "sparse_conv_fprop",
)
LIBRARY_TYPES = {"fp16": "Half", "fp32": "Float", "bf16": "BFloat16", "int8": "Int8"}
LETTERS = {"h": "Half", "s": "Float", "i": "Int32"}


@dataclass(frozen=True)
class NamedKernel:
    """A name, and what it tells."""

    name: str
    facts: KernelFacts


def xmma(  # noqa: PLR0913 - the parts of a name
    *,
    sm: int,
    operation: str,
    stored: str,
    written: str,
    operand: str,
    summed: str,
    tile: tuple[int, int, int],
    stages: int | None,
    tail: tuple[str, ...],
    split_k: bool,
) -> NamedKernel:
    """Put a name of the xmma family together; it is sparse where its operation is."""
    sparse = operation.startswith("sparse_")
    words = [
        f"tilesize{'x'.join(map(str, tile))}",
        *([f"stage{stages}"] if stages is not None else []),
        ("sptensor" if sparse else "tensor") + "16x8x16",
        *tail,
        *(["execute_split_k_kernel"] if split_k else []),
    ]
    name = f"sm{sm}_xmma_{operation}_{stored}{written}_{operand}{summed}_f32_tn_n_{'_'.join(words)}"
    facts = KernelFacts(
        name,
        "xmma",
        operand=XMMA_TYPES[operand],
        accumulator=SUMS[summed],
        output=WRITTEN[written],
        tile=tile,
        stages=stages,
        split_k=split_k or None,
        sparse=sparse,
        tensor_core=True,
        architecture=f"sm{sm}",
        by_convention=frozenset() if sparse else frozenset({"sparse"}),
    )
    return NamedKernel(name, facts)


def cublas(  # noqa: PLR0913 - the parts of a name
    *,
    generation: str,
    written: str | None,
    letter: str,
    instruction: str,
    operand: str | None,
    tile: tuple[int, int],
    stages: tuple[int, int] | None,
) -> NamedKernel:
    """Put a name of cuBLAS' family together; ``stages`` is the depth of a tile and how many are in flight."""
    parts = [generation, written, f"{letter}{instruction}gemm", operand, f"{tile[0]}x{tile[1]}", "ldg8"]
    name = "_".join(filter(None, [*parts, f"stages_{stages[0]}x{stages[1]}" if stages else None, "tn_v1"]))
    implied = {"h": "Half", "s": None if instruction else "Float"}.get(letter)
    known = LIBRARY_TYPES.get(operand or "", implied)
    by_convention = {"accumulator", "tensor_core"}
    by_convention |= set() if written else {"output"}
    by_convention |= set() if operand or known is None else {"operand"}
    facts = KernelFacts(
        name,
        "cublas",
        operand=known,
        accumulator=LETTERS[letter],
        output=LIBRARY_TYPES.get(written or "", LETTERS[letter]),
        tile=(*tile, stages[0]) if stages else tile,
        stages=stages[1] if stages else None,
        tensor_core=bool(instruction),
        architecture=generation,
        by_convention=frozenset(by_convention),
    )
    return NamedKernel(name, facts)


_SIZES = st.sampled_from([8, 16, 32, 64, 128, 256])
_TAILS = st.lists(st.sampled_from(["t1r3s3", "g1", "aligna4", "alignc4", "linkable", "simple", "beta0"]), max_size=4)

xmma_kernels = st.builds(
    xmma,
    sm=st.sampled_from([50, 70, 72, 75, 80, 86, 89, 90, 100, 120]),
    operation=st.sampled_from(OPERATIONS),
    stored=st.sampled_from(sorted(XMMA_TYPES)),
    written=st.sampled_from(sorted(WRITTEN)),
    operand=st.sampled_from(sorted(XMMA_TYPES)),
    summed=st.sampled_from(sorted(SUMS)),
    tile=st.tuples(_SIZES, _SIZES, _SIZES),
    stages=st.none() | st.integers(1, 12),
    tail=_TAILS.map(tuple),
    split_k=st.booleans(),
)
cublas_kernels = st.builds(
    cublas,
    generation=st.sampled_from(["maxwell", "volta", "turing", "ampere", "hopper"]),
    written=st.none() | st.sampled_from(sorted(LIBRARY_TYPES)),
    letter=st.sampled_from(sorted(LETTERS)),
    instruction=st.sampled_from(["", "884", "1688", "16816", "8816"]),
    operand=st.none() | st.sampled_from(sorted(LIBRARY_TYPES)),
    tile=st.tuples(_SIZES, _SIZES),
    stages=st.none() | st.tuples(_SIZES, st.integers(2, 8)),
)
