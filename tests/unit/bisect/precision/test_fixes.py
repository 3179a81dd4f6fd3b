"""Fixes name the nodes that must keep their precision."""

from __future__ import annotations

from tests.support.small_caster import caster
from trtforensics.bisect.precision.fixes import autocast_command, network_script, trtexec_flags


def test_flags_quote_names_and_leave_out_what_trtexec_would_cut() -> None:
    assert trtexec_flags(["/a b", "/c$d", "/e:f"], "fp16").splitlines() == [
        "--fp16",
        "--precisionConstraints=obey",
        "'--layerPrecisions=/c$d:fp32'",
        "'--layerOutputTypes=/c$d:fp32'",
        "# trtexec cannot name this one: /a b",
        "# trtexec cannot name this one: /e:f",
    ]


def test_the_script_pins_layers_by_name() -> None:
    script = network_script(["/it's", "/b"], "fp16")
    assert '"/it\'s",' in script
    assert script.count("set_output_type") == 1
    compile(script, "fp32_layers.py", "exec")


def test_names_are_patterns_for_autocast() -> None:
    command = autocast_command(["/a.b+c"], caster())
    assert r"'^/a\.b\+c$'" in command
    assert "'my model.onnx'" in command
