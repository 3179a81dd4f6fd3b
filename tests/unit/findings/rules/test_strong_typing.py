"""Weak typing that only the command shows, where the log lacks stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import of_code, report_on

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS = "i === Build Options ===\ni Precision: FP32+FP16"


@pytest.mark.parametrize(
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
