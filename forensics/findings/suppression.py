"""Which findings are not shown: ``--suppress CODE[:layer]``, and the settings of a project."""

from __future__ import annotations

import re
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from trtforensics.errors import UsageError
from trtforensics.findings.finding import Finding, Severity, without_numbers
from trtforensics.findings.registry import rules

OWN_FILE = "trtforensics.toml"
"""Settings under ``[report]``; ``pyproject.toml`` holds them under ``[tool.trtforensics.report]``."""

_KEYS = {"suppress", "fail-on"}
_MOST_BYTES = 1 << 20
"""The longest settings file that is read."""


@dataclass(frozen=True, slots=True)
class Suppression:
    """Codes to suppress, each with a layer or for all layers; ``*`` stands for any text in both.

    The last ``settled`` entries come from the settings in ``file``. ``known`` are findings of ``baseline``, an earlier
    report, as :func:`same_finding` spells them.
    """

    entries: tuple[tuple[str, str], ...] = ()
    settled: int = 0
    file: str = ""
    known: frozenset[str] = frozenset()
    baseline: str = ""

    @classmethod
    def of(cls, texts: Sequence[str], settings: ReportSettings | None = None) -> Suppression:
        """Read entries such as ``TF502`` and ``TF201:/encoder/*``, and those of a project's settings.

        Raises:
            UsageError: No rule has the code.
        """
        settled = settings.suppress if settings else ()
        entries = tuple(
            (code.upper(), layer) for code, _, layer in (text.partition(":") for text in (*texts, *settled))
        )
        for code, _ in entries:
            if not any(_matches(code, rule.code) for rule in rules()):
                raise UsageError(code, "there is no such code", "`trtforensics explain` lists them all")
        return cls(entries, len(settled), settings.file if settings else "")

    def settings_behind(self, findings: Iterable[Finding]) -> str:
        """Return the settings file or the baseline that suppresses some of these findings; empty where none does."""
        of_file = Suppression(self.entries[len(self.entries) - self.settled :])
        hidden = list(findings)
        if any(same_finding(each.code, each.title) in self.known for each in hidden):
            return self.baseline
        return self.file if any(map(of_file.covers, hidden)) else ""

    def covers(self, finding: Finding) -> bool:
        """Whether a finding is suppressed: it is known, its code, all of its layers, or all of its ONNX nodes."""
        if self.known and same_finding(finding.code, finding.title) in self.known:
            return True
        patterns = [layer for code, layer in self.entries if _matches(code, finding.code)]
        if "" in patterns:
            return True
        named = (names for names in (finding.layers, finding.onnx_nodes) if names)
        return any(all(any(_matches(pattern, name) for pattern in patterns) for name in names) for names in named)


def same_finding(code: str, title: str) -> str:
    """Return what is equal for a finding in two reports: its code, and its title without numbers."""
    return f"{code} {without_numbers(title)}"


def _matches(pattern: str, name: str) -> bool:
    return _compiled(pattern).fullmatch(name) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which only ``*`` is special: layer names hold brackets and question marks."""
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


@dataclass(frozen=True, slots=True)
class ReportSettings:
    """The settings of a project: what to suppress, and from which severity the exit code is 1.

    ``file`` is where they stand; empty where there are none.
    """

    suppress: tuple[str, ...] = ()
    fail_on: str | None = None
    file: str = ""


def settings_here() -> ReportSettings:
    """Return the settings of the nearest file where we work or above, ``trtforensics.toml`` before ``pyproject.toml``.

    Raises:
        UsageError: A file cannot be read, or holds a setting that does not exist or is of the wrong kind.
    """
    folder = Path.cwd()
    for place in (folder, *folder.parents):
        for name, path in ((OWN_FILE, ("report",)), ("pyproject.toml", ("tool", "trtforensics", "report"))):
            table = _table(place / name, path)
            if table is not None:
                return _checked(table, str(place / name))
    return ReportSettings()


def _table(file: Path, path: Iterable[str]) -> Mapping[str, Any] | None:
    """Return a table of a TOML file; None where the file or the table is missing."""
    try:
        text = _text(file)  # most reports have no settings, and need no parser of them
        table: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli").loads(text)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except RecursionError as error:
        raise UsageError(str(file), "cannot be read: it nests too deep", "Mend or remove it") from error
    except (OSError, ValueError) as error:  # no UTF-8, no TOML, or a number with more digits than Python reads
        raise UsageError(str(file), f"cannot be read: {error}", "Mend or remove it") from error
    for name in path:
        table = table.get(name) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else None


def _text(file: Path) -> str:
    """Read a settings file; one that is no regular file is not opened, since that could wait forever.

    Raises:
        OSError: it cannot be read, or is no regular file of at most :data:`_MOST_BYTES`.
        UnicodeDecodeError: it is no UTF-8.
    """
    status = file.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError("it is no regular file")
    if status.st_size > _MOST_BYTES:
        raise OSError(f"it is longer than {_MOST_BYTES} bytes")
    return file.read_text("utf-8")


def _checked(table: Mapping[str, Any], where: str) -> ReportSettings:
    unknown = sorted(set(table) - _KEYS)
    if unknown:
        raise UsageError(where, f"there is no setting {unknown[0]!r}", f"There are: {', '.join(sorted(_KEYS))}")
    suppress, fail_on = table.get("suppress", []), table.get("fail-on")
    if not isinstance(suppress, list) or not all(isinstance(entry, str) for entry in suppress):
        raise UsageError(where, "suppress is not a list of texts", 'Write suppress = ["TF502"]')
    levels = [severity.word for severity in Severity]
    if fail_on is not None and fail_on not in levels:
        raise UsageError(where, f"fail-on is {fail_on!r}", f"Write one of {', '.join(levels)}")
    return ReportSettings(tuple(suppress), fail_on, where)
