"""What a finding says of its fixes."""

from __future__ import annotations

from trtforensics.findings.rule import Fix


def test_a_fix_says_for_which_versions_it_is() -> None:
    assert Fix("x").versions == ""
    assert Fix("x", "10.8").versions == "TensorRT 10.8 and later"
    assert Fix("x", before="11").versions == "TensorRT before 11"
    assert Fix("x", "8.5", "11").versions == "TensorRT 8.5 and later, before 11"
