"""Trouble with a type is a warning only where a layer of the engine may be of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import of_code, report_on
from trtforensics.findings.finding import Severity

if TYPE_CHECKING:
    from pathlib import Path

RANGES = "V Setting dynamic range for x to [-2,2]\nV Setting dynamic range for y to [-4,4]"
SUBNORMAL = "W - 2 weights are affected by this issue: Detected subnormal FP16 values."
LAYER = "V Engine Layer Information:\n| Layer({}): {}, Tactic: 0x0000000000000001, x ({}[2,8]) -> y ({}[2,8])"


@pytest.mark.parametrize(
    ("engine", "severity"),
    [
        (("c", "Float", "Float"), Severity.NOTE),
        (("c", "Float", "{}"), Severity.WARNING),
        (("c", "{}", "Float"), Severity.WARNING),
        (("{{ForeignNode[a...b]}}", "Float", "Float"), Severity.WARNING),
    ],
)
@pytest.mark.parametrize("trouble", [("TF219", RANGES, "Int8"), ("TF208", SUBNORMAL, "Half")])
def test_what_no_layer_uses_is_a_note(
    trouble: tuple[str, str, str], engine: tuple[str, str, str], severity: Severity, tmp_path: Path
) -> None:
    code, lines, kind = trouble
    dump = LAYER.format("Any", *(part.format(kind) for part in engine))
    (found,) = of_code(report_on(marked(f"&& 8.6.1 --best\n{lines}\n{dump}").text, tmp_path), code)
    assert found.severity is severity
    assert ("no layer of the engine" in found.title) == (severity is Severity.NOTE)


@pytest.mark.parametrize(("code", "lines"), [("TF219", RANGES), ("TF208", SUBNORMAL)])
def test_without_engine_layers_it_stays_a_warning(code: str, lines: str, tmp_path: Path) -> None:
    (found,) = of_code(report_on(marked(lines).text, tmp_path), code)
    assert found.severity is Severity.WARNING
