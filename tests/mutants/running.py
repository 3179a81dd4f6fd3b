"""A copy of the repository in which mutants are tried, one after the other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from tests.support.repository import PRODUCT, ROOT, files_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tests.mutants.operators import Mutant

_PYTEST = (sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider")
_FAST, _SLOW = ("-m", "not slow"), ("-m", "slow")
_USAGE = 4
_NO_CONFTEST = b"while loading conftest"
"""What pytest says, with the status of a usage error, where a mutant breaks what the tests' own set-up imports."""
_DEADLINE = 1800
"""Seconds after which tests that a mutant keeps busy have noticed it."""


class Trial(NamedTuple):
    """Which tests noticed a mutant, and after how many seconds."""

    killed_by: str
    seconds: float


class Copy:
    """The files of the repository in a folder, installed by links in another one."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        for path in files_of(ROOT):
            place = self.root / path.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
        self._links = folder / "links"
        package = self._links / "trtforensics"
        package.mkdir(parents=True)
        for path in (self.root / "forensics").iterdir():
            (package / path.name).symlink_to(path)
        for name in PRODUCT.keys() - {"trtforensics"}:
            (package / name.rpartition(".")[2]).symlink_to(self.root / name.rpartition(".")[2])

    def tests(self, *words: str) -> int:
        """Run pytest; return its status, that of a failure where it does not come to an end."""
        path = os.pathsep.join([str(self._links), *filter(None, [os.environ.get("PYTHONPATH")])])
        # What is compiled stays for the next mutant: each writes its module anew, and runs longer than a second.
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONPYCACHEPREFIX": str(self.root.parent / "cache")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        try:
            done = subprocess.run(
                [*_PYTEST, *words], cwd=self.root, env=environment, check=False, capture_output=True, timeout=_DEADLINE
            )
        except subprocess.TimeoutExpired:
            return 1
        return 1 if _NO_CONFTEST in done.stderr else done.returncode

    def fails(self, *words: str) -> bool:
        """Whether a test fails, or none can be collected for the mutant's sake; no test at all is no failure."""
        status = self.tests(*words)
        if status == _USAGE:
            sys.exit(f"pytest does not understand {words}")
        return status not in {0, 5}

    def tests_by_line(self) -> Mapping[str, Mapping[int, frozenset[str]]]:
        """Run the fast tests; return which of them ran each line of each file, "" for the import of it."""
        folders = [f"--cov={self.root / folder.relative_to(ROOT)}" for folder in PRODUCT.values()]
        status = self.tests(*_FAST, "-n", "2", "--cov-context=test", "--cov-report=", *folders)
        if status:
            sys.exit(f"the tests end with status {status} without any mutant")
        return _contexts(self.root / ".coverage", self.root)

    def trial(self, path: Path, mutant: Mutant, covering: Iterable[str], tiers: Sequence[str]) -> Trial:
        """Change a file, run the tests that may notice it, the nearest ones first, and change it back."""
        place = self.root / path.relative_to(ROOT)
        source, begin = place.read_bytes(), time.monotonic()
        place.write_bytes(mutant.applied_to(source))
        try:
            for name, words in self._steps(path, covering, tiers):
                if self.fails(*words):
                    return Trial(name, time.monotonic() - begin)
        finally:
            place.write_bytes(source)
        return Trial("none", time.monotonic() - begin)

    def _steps(self, path: Path, covering: Iterable[str], tiers: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
        """Give the words for pytest, step by step; without tests that cover a line, any may notice its change."""
        near, others = _mirrored(path), self.root.parent / "covering.txt"
        others.write_text("".join(f"{test}\n" for test in sorted(covering)))
        if near:
            yield "near", [*_FAST, *near]
        if "fast" in tiers:
            yield "fast", [*_FAST, "-n", "2", *([f"@{others}"] if others.stat().st_size else [])]
        if "slow" in tiers:
            yield "slow", [*_SLOW, "-n", "2"]


def _mirrored(path: Path) -> tuple[str, ...]:
    """Return the tests of a module by where they lie: its own module, or the folder for its package."""
    inside = path.relative_to(ROOT)
    folder = ROOT / "tests" / "unit" / inside.parent.relative_to("forensics" if inside.parts[0] == "forensics" else ".")
    own = folder / f"test_{path.stem}.py"
    place = own if own.is_file() else folder
    return (place.relative_to(ROOT).as_posix(),) if place.exists() and place.name != "unit" else ()


def _contexts(database: Path, root: Path) -> Mapping[str, Mapping[int, frozenset[str]]]:
    from coverage import CoverageData  # noqa: PLC0415 - only this way of running needs it

    data = CoverageData(str(database))
    data.read()
    lines: dict[str, dict[int, frozenset[str]]] = defaultdict(dict)
    for name in data.measured_files():
        real = os.path.realpath(name)
        if real.startswith(f"{root}{os.sep}"):
            for line, contexts in data.contexts_by_lineno(name).items():
                # without parameters: some hold line ends and brackets, which pytest reads otherwise from a file
                tests = frozenset(context.partition("|")[0].partition("[")[0] for context in contexts)
                lines[os.path.relpath(real, root)][line] = tests
    return lines
