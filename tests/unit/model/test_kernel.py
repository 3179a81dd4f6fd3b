"""How well a kernel's name supports a fact."""

from __future__ import annotations

from trtforensics.model.kernel import KernelFacts, NameEvidence


def test_a_fact_is_stated_by_convention_or_unknown() -> None:
    facts = KernelFacts("k", "cublas", operand="Half", accumulator="Half", by_convention=frozenset({"accumulator"}))
    assert facts.evidence("operand") is NameEvidence.STATED
    assert facts.evidence("accumulator") is NameEvidence.CONVENTION
    assert facts.evidence("output") is NameEvidence.UNKNOWN
