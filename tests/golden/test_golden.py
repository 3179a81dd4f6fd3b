"""Every form of output, byte for byte; a change here is a change for users. ``--update-golden`` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.in_process import run_in_process

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LOGS = ("emulated-trtexec-10.16-three-passes", "rtx-convnet")
FORMS = {
    "text": ("parse", "{log}", "-o", "{out}.txt"),
    "json": ("parse", "{log}", "--json", "-o", "{out}.json"),
    "graph-json": ("graph", "{log}", "-o", "{out}.json"),
    "graph-graphml": ("graph", "{log}", "-o", "{out}.graphml"),
    "graph-dot": ("graph", "{log}", "-o", "{out}.dot"),
}
"""The folder of each form, and the command that makes it, run in the repository's root: no machine's path is inside."""


def golden_files() -> list[Path]:
    """Return what is golden."""
    return sorted(path for form in FORMS for path in (HERE / form).iterdir())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("log", LOGS)
def test_the_output_is_the_golden_one_byte_for_byte(
    log: str,
    form: str,
    tmp_path: Path,
    update_golden: bool,  # noqa: FBT001 - a fixture
) -> None:
    words = [word.format(log=f"testdata/logs/{log}.log", out=tmp_path / log) for word in FORMS[form]]
    assert run_in_process([*words, "--quiet"], ROOT).returncode == 0
    (written,) = tmp_path.iterdir()
    golden = HERE / form / written.name
    if update_golden:
        golden.parent.mkdir(exist_ok=True)
        golden.write_bytes(written.read_bytes())
    assert written.read_bytes() == golden.read_bytes(), f"{golden.relative_to(ROOT)} differs: look at the change first"


def test_stdout_and_a_file_get_the_same_bytes() -> None:
    printed = run_in_process(["parse", f"testdata/logs/{LOGS[0]}.log"], ROOT).stdout
    assert printed == (HERE / "text" / f"{LOGS[0]}.txt").read_bytes()


def test_each_golden_belongs_to_a_test_and_has_line_feeds_only() -> None:
    assert len(golden_files()) == len(FORMS) * len(LOGS)
    for path in golden_files():
        content = path.read_bytes()
        assert content.endswith(b"\n"), path
        assert b"\r" not in content, path
