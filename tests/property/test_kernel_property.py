"""A kernel's name is read back as what it was put together of, by the regexes as by LALR."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support import reference_executor
from tests.support.kernel_names import NamedKernel, cublas_kernels, xmma_kernels
from tests.support.property_settings import examples
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import KERNEL
from trtforensics.parsers.notation.kernels import read_kernel

PIECES = ["sm80", "_", "xmma", "gemm", "f16", "f32", "tf32", "h16816", "ampere", "cutlass", "80", "128x64", "nvjet"]


@given(xmma_kernels | cublas_kernels)
@examples(300)
def test_a_name_says_what_it_was_put_together_of(kernel: NamedKernel) -> None:
    assert read_kernel(kernel.name) == kernel.facts


def by_regex(name: str) -> list[tuple[str, dict[str, bytes]]]:
    found = []
    for kind in tables.kinds(KERNEL):
        match = kind.match.fullmatch(name.encode())
        if match:
            pairs = zip(kind.fields, match.groups(), strict=True)
            found.append((kind.name, {name: value for name, value in pairs if value is not None}))
    return found


@given((xmma_kernels | cublas_kernels).map(lambda kernel: kernel.name), st.data())
@examples(200)
def test_regexes_and_lalr_read_a_damaged_name_alike(name: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(name)))
    piece = data.draw(st.sampled_from(["", *PIECES]))
    damaged = name[:at] + piece + name[at + data.draw(st.integers(0, 4)) :]
    lalr = reference_executor.parse(damaged.encode(), KERNEL)
    assert by_regex(damaged) == ([] if lalr is None else [lalr])


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
@examples(200)
def test_loose_pieces_are_no_name_of_two_families(name: str) -> None:
    assert len(by_regex(name)) <= 1
