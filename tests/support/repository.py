"""Where things lie in the repository, and which files belong to it."""

from __future__ import annotations

import os
import re
from fnmatch import translate
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "testdata" / "logs"
"""The logs that this project made itself."""

PRODUCT = {
    "trtforensics": ROOT / "forensics",
    "trtforensics.parsers": ROOT / "parsers",
    "trtforensics.tui": ROOT / "tui",
}
"""The folders of the product, by the package that each installs as."""

_IGNORED = (".git", *(line.rstrip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").split()))
_is_ignored = re.compile("|".join(map(translate, _IGNORED))).match


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files that belong to the repository, whether git is there to ask or not."""
    for path in sorted(folder.iterdir()):
        if _is_ignored(path.name):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from files_of(path)
        elif path.is_file():
            yield path


def label(path: Path) -> str:
    """Return a path from the root of the repository, for test ids."""
    return path.relative_to(ROOT).as_posix()


def import_path(*first: Path) -> str:
    """Return a PYTHONPATH of these folders and of those that are on it already."""
    inherited = os.environ.get("PYTHONPATH")
    return os.pathsep.join([*map(str, first), *([inherited] if inherited else [])])
