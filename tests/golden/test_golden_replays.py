"""Every form of output of ``replay``, byte for byte; ``--update-golden`` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.in_process import run_in_process

HERE = Path(__file__).resolve().parent / "replay"
ROOT = HERE.parents[2]
EDITED = "testdata/replays/edited.json"
LOG = "testdata/logs/emulated-trtexec-8.6.log"
OUTPUTS = {
    "show.txt": (0, "show", EDITED),
    "show.json": (0, "show", EDITED, "--json"),
    "lint.txt": (1, "lint", EDITED, "--log", LOG),
    "lint.json": (1, "lint", EDITED, "--log", LOG, "--json"),
    "converted.json": (0, "convert", LOG),
    "two-profiles.json": (0, "convert", "testdata/logs/emulated-python-10.16-two-profiles.log"),
}
"""The golden file, the exit code and the command, run in the repository's root: no machine's path is inside."""


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_output_is_the_golden_one_byte_for_byte(
    name: str,
    update_golden: bool,  # noqa: FBT001 - a fixture
) -> None:
    code, *words = OUTPUTS[name]
    done = run_in_process(["replay", *map(str, words), "--quiet"], ROOT)
    assert (done.returncode, done.stderr) == (code, b"")
    if update_golden:
        HERE.mkdir(exist_ok=True)
        (HERE / name).write_bytes(done.stdout)
    assert done.stdout == (HERE / name).read_bytes(), f"{name} differs: look at the change first"


def test_each_golden_belongs_to_a_test() -> None:
    assert {path.name for path in HERE.iterdir()} == OUTPUTS.keys()
