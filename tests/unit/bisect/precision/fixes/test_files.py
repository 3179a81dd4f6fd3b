"""Names in the files of a repair."""

from __future__ import annotations

from tests.support.small_caster import caster
from trtforensics.bisect.precision.fixes.files import autocast_command, layers_of


def test_names_are_patterns_for_autocast() -> None:
    command = autocast_command(["/a.b+c"], caster())
    assert r"'^/a\.b\+c$'" in command
    assert "'my model.onnx'" in command


def test_only_a_layer_whose_outputs_are_all_floats_gets_an_output_type() -> None:
    assert {layer.name: layer.floats for layer in layers_of(caster(), {"/exp", "/less"})} == {
        "/exp": True,
        "/less": False,
    }
