"""The forms of a report, each the module of its name with ``render(report, look)``, imported when it is used.

Names of findings that stay the same from log to log, by which CI servers follow them, are common to several forms.
"""

from __future__ import annotations

import hashlib
import importlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.console.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.findings.finding import Finding, Report, Severity
    from trtforensics.plots.figure import Figure


FORMS = ("text", "json", "sarif", "html", "junit", "github", "codequality")
ENDINGS = {".json": "json", ".sarif": "sarif", ".html": "html", ".htm": "html", ".xml": "junit"}
"""What the endings of paths stand for; any other ending stands for text."""


@dataclass(frozen=True, slots=True)
class Look:
    """Options of the forms: ``verbose`` and ``colour`` for text, ``fails_from`` for forms that mark failures.

    ``width`` is that of the terminal, 0 for none. ``fails_from`` is the lowest severity that the user counts as
    failing; None where the user named none. ``figures`` stand at the end of an HTML report.
    """

    verbose: bool = False
    colour: bool = False
    width: int = 0
    fails_from: Severity | None = None
    figures: tuple[Figure, ...] = ()


def render(report: Report, form: str, look: Look) -> str:
    """Return a report in one of :data:`FORMS`."""
    return str(importlib.import_module(f"{__package__}.{form}").render(report, look))


_DIGITS = 16


def fingerprints(findings: Sequence[Finding]) -> list[str]:
    """Return the fingerprint of each finding: 16 hex digits, ``:`` and its number among those that are alike.

    They depend on the finding's signature alone, not on times, lines and paths; those that are alike are numbered in
    the order of their lines.
    """
    alike: Counter[str] = Counter()
    given = [""] * len(findings)
    for index in sorted(range(len(findings)), key=lambda index: (findings[index].source, findings[index].line)):
        signature = visible(findings[index].signature)
        alike[signature] += 1
        digest = hashlib.sha256(signature.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
        given[index] = f"{digest}:{alike[signature]}"
    return given
