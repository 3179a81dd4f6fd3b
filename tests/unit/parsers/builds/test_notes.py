"""Causes that error messages state."""

from __future__ import annotations

from trtforensics.parsers.builds.notes import causes


def test_a_cause_is_found_wherever_it_stands_in_a_message() -> None:
    text = "Error[9]: f: Error Code 9: Internal Error (Target GPU SM 61 is not supported by this TensorRT release.)"
    assert causes(text) == (("target_sm", {"sm": "61"}),)
    assert causes("nothing of the kind") == ()
