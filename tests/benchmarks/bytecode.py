"""Compiles the package before a benchmark: an installed one has its modules compiled, so nobody waits for that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import trtforensics
import trtforensics.parsers
import trtforensics.tui


def keep_in(folder: str | Path) -> None:
    """Compile the package, and have this process's children take the compiled modules from a folder."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "compiled")
    places = [*trtforensics.__path__, *trtforensics.parsers.__path__, *trtforensics.tui.__path__]
    subprocess.run([sys.executable, "-m", "compileall", "-q", *places], check=True)
