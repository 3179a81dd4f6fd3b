"""Shells complete command lines: the script that the program prints, run by the real shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("argcomplete", reason="argcomplete, a dependency of the product, is not installed here")

COMPLETE = {
    "bash": """
eval "$(trtforensics completions bash)"
COMP_LINE=$1; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9; COMP_WORDS=($COMP_LINE); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
[[ $COMP_LINE == *" " ]] && COMP_WORDS+=("") && COMP_CWORD=$((COMP_CWORD + 1))
_python_argcomplete trtforensics "${COMP_WORDS[COMP_CWORD]}" "" 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
""",
    "fish": 'trtforensics completions fish | source; complete -C "$argv[1]" | string split -f1 \\t',
    "zsh": 'autoload -U compinit; compinit -u; eval "$(trtforensics completions zsh)"; print -l ${(k)_comps} ',
}
LINES = {
    "trtforensics pa": "parse",
    "trtforensics report --form": "--format",
    "trtforensics report --format sa": "sarif",
    "trtforensics bisect prec": "precision",
    "trtforensics bisect tactics --go": "--good",
    "trtforensics doctor --builder": "--builder-python",
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    program = tmp_path / "trtforensics"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m trtforensics "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}


def completed(shell: str, line: str, environment: dict[str, str]) -> list[str]:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    words = [shell, "-c", COMPLETE[shell], shell, line] if shell == "bash" else [shell, "-c", COMPLETE[shell], line]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    return [word.strip() for word in done.stdout.splitlines()]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_shell_completes(shell: str, line: str, environment: dict[str, str]) -> None:
    assert LINES[line] in completed(shell, line, environment)


def test_zsh_knows_the_program(environment: dict[str, str]) -> None:
    assert "trtforensics" in completed("zsh", "", environment)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_script_names_the_program(shell: str) -> None:
    line = [sys.executable, "-m", "trtforensics", "completions", shell]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert "trtforensics" in done.stdout
    assert done.stdout.endswith("\n")
    assert not done.stderr


def test_argcomplete_is_imported_only_for_a_shell(environment: dict[str, str]) -> None:
    script = "import sys; from trtforensics.cli import main; main(['--version']); print('argcomplete' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.endswith("False\n")
