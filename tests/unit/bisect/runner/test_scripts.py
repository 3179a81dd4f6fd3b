"""Which programs a command names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trtforensics.bisect.runner.scripts import surroundings_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with scripts, data and an executable, and another one on the path."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    files = {"a.sh": "x", "b": "#!/bin/sh", "c": "plain", "run": "ELF", "m.onnx": "x", "bin/d": "#!"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for name in ("run", "bin/d"):
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{bin_}:/usr/bin:/bin")  # version managers put scripts there that are named python3


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("true", set()),
        ("./run {engine}", {"./run"}),
        ("X=1 ./run --model=m.onnx > a.sh 2>>b", {"./run"}),
        ("sh a.sh; . c; python3 -u c", {"a.sh", "c"}),
        ("test -e c && ! { b; } || ./b", {"./b"}),
        ("d {items} | ./b\n./run", {"d", "./b", "./run"}),
        ("sh -c 'sleep 1 && ./b' a.sh", {"./b", "a.sh"}),
        ("tool --script=a.sh --data=m.onnx c", {"a.sh"}),
        ("echo 'unbalanced ./run", {"./run"}),
        (f"echo {'x' * 5000} {{dir}}/a.sh ''", set()),
    ],
)
def test_programs_of_a_command(command: str, programs: set[str]) -> None:
    assert set(surroundings_of(command).programs) == programs


def test_another_content_is_another_program(tmp_path: Path) -> None:
    before = surroundings_of("sh a.sh")
    (tmp_path / "a.sh").write_text("y")
    after = surroundings_of("sh a.sh")
    assert (before.cwd, str(tmp_path)) == (after.cwd, before.cwd)
    assert before.programs != after.programs
