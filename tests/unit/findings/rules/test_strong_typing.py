"""Weak typing that only the command shows, where the log lacks stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import of_code, report_on

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS = "i === Build Options ===\ni Precision: FP32+FP16"


@for_each(
    ("version", "flags", "more", "found"),
    [
        ("10.16.1", "--fp16", "", ["The command asks for weak typing (--fp16), which TensorRT 11 no longer knows"]),
        ("10.16.1", "--fp16", "w Some warning, so stderr is there", []),
        ("10.16.1", "--fp16", "E Some error, so stderr is there", []),
        ("10.16.1", "--fp16 --stronglyTyped", "", []),
        ("10.16.1", "--fp16 --loadEngine=m.plan", "", []),
        ("10.16.1", "--noTF32", "", []),
        ("8.6.1", "--fp16", "", []),
    ],
)
def test_the_flags_show_it_where_trtexecs_warning_cannot_be_there(
    version: str, flags: str, more: str, found: list[str], tmp_path: Path
) -> None:
    log = marked(f"&& {version} {flags}\n{OPTIONS}\n{more}").text
    assert [one.title for one in of_code(report_on(log, tmp_path), "TF407")] == found


@pytest.mark.parametrize(
    ("said", "type_", "found"),
    [
        ("Int8 mode enabled", "Float", ["INT8 was asked for, but all 1 layers give FP32"]),
        ("FP16 optimization enabled", "Float", ["FP16 was asked for, but all 1 layers give FP32"]),
        ("Setting BuilderFlag.FP16", "Float", ["FP16 was asked for, but all 1 layers give FP32"]),
        ("FP16 mode is not supported", "Float", []),
        ("Int8 mode enabled", "Half", []),
    ],
)
def test_a_type_that_a_program_asks_for_and_no_layer_has(
    said: str, type_: str, found: list[str], tmp_path: Path
) -> None:
    layer = f"Layer(CaskConvolution): c, Tactic: 0x0000000000000001, x (Float[1,8]) -> y ({type_}[1,8])"
    log = f"{said}\n[TRT] [V] Engine Layer Information:\n[TRT] [V] {layer}\n"
    assert [one.title for one in of_code(report_on(log, tmp_path), "TF213")] == found
