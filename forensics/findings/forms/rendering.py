"""The forms of a report: each is the module of its name, with ``render(report, look)``, imported when it is used."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trtforensics.findings.finding import Report, Severity
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
