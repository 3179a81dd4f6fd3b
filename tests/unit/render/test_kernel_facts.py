"""What a kernel's name tells, as a JSON object."""

from __future__ import annotations

from trtforensics.model.kernel import KernelFacts
from trtforensics.parsers.notation.kernels import read_tactic
from trtforensics.render.json_text import kernel_facts


def test_the_object_holds_every_fact_and_names_those_by_convention() -> None:
    found = kernel_facts(read_tactic("ampere_h16816gemm_128x64_ldg8_stages_64x3_nn_v1", 4, ("Float(1)",)))
    assert found == {
        "family": "cublas",
        "operand": "Half",
        "accumulator": "Half",
        "output": "Float",
        "tile": [128, 64, 64],
        "stages": 3,
        "split_k": True,
        "sparse": None,
        "tensor_core": True,
        "architecture": "ampere",
        "by_convention": ["accumulator", "operand", "tensor_core"],
    }


def test_where_nothing_is_told_there_is_no_object() -> None:
    assert kernel_facts(KernelFacts("whatever")) is None
    assert kernel_facts(read_tactic("whatever", 1)) is not None
