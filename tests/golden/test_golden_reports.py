"""The forms of a report for programs and browsers, byte for byte; ``--update-golden`` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.in_process import run_in_process
from trtforensics.findings.forms.rendering import FORMS

HERE = Path(__file__).resolve().parent / "report"
ROOT = HERE.parents[2]
LOG = "testdata/logs/emulated-trtexec-8.6.log"
"""Given by its path from the repository's root, where the command runs: no machine's path is inside."""
NAMES = {
    "sarif": "report.sarif",
    "html": "report.html",
    "junit": "report.xml",
    "github": "report.github",
    "codequality": "report.codequality",
}


@pytest.mark.parametrize("form", NAMES)
def test_the_report_is_the_golden_one_byte_for_byte(
    form: str,
    update_golden: bool,  # noqa: FBT001 - a fixture
) -> None:
    run = run_in_process(["report", LOG, "--format", form, "--quiet"], ROOT)
    assert run.returncode == 0, run.stderr.decode()
    printed = run.stdout
    golden = HERE / NAMES[form]
    if update_golden:
        HERE.mkdir(exist_ok=True)
        golden.write_bytes(printed)
    assert printed == golden.read_bytes(), f"{golden.name} differs: look at the change first"


def test_each_form_for_programs_has_a_golden_file() -> None:
    assert NAMES.keys() == {*FORMS} - {"text", "json"}


def test_each_golden_belongs_to_a_test() -> None:
    assert {path.name for path in HERE.iterdir()} == set(NAMES.values())
