"""How well a kernel's name supports a fact."""

from __future__ import annotations

from trtforensics.model.kernel import KernelFacts, NameEvidence


def test_a_fact_is_stated_by_convention_or_unknown() -> None:
    facts = KernelFacts("k", "cublas", operand="Half", accumulator="Half", by_convention=frozenset({"accumulator"}))
    assert facts.evidence("operand") is NameEvidence.STATED
    assert facts.evidence("accumulator") is NameEvidence.CONVENTION
    assert facts.evidence("output") is NameEvidence.UNKNOWN


def test_a_text_names_what_is_told_and_nothing_else() -> None:
    facts = KernelFacts(
        "k",
        "xmma",
        operand="Half",
        accumulator="Float",
        output="Half",
        tile=(64, 64, 32),
        stages=1,
        split_k=True,
        sparse=True,
        tensor_core=True,
        architecture="sm80",
    )
    assert facts.text == (
        "multiplies Half, sums in Float, writes Half; tile 64x64x32, 1 stage, split-K, 2:4 sparse, tensor cores, sm80"
    )
    assert KernelFacts("k", "cublas", stages=5, split_k=False, sparse=False, tensor_core=False).text == (
        "5 stages, K not split, no tensor cores"
    )
    assert not KernelFacts("k").text
