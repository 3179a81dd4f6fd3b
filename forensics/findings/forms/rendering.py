"""The forms of a report. Each form is a module with ``render(report, look)``, imported when it is used."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trtforensics.findings.finding import Report, Severity
    from trtforensics.plots.figure import Figure

FORMS = {
    "text": "trtforensics.findings.forms.text",
    "json": "trtforensics.findings.forms.document",
    "sarif": "trtforensics.findings.forms.sarif",
    "html": "trtforensics.findings.forms.html",
    "junit": "trtforensics.findings.forms.junit",
}
_ENDINGS = {".json": "json", ".sarif": "sarif", ".html": "html", ".htm": "html", ".xml": "junit"}


@dataclass(frozen=True, slots=True)
class Look:
    """Options of the forms: ``verbose`` and ``colour`` for text, ``fails_from`` for forms that mark failures.

    ``fails_from`` is the lowest severity that the user counts as failing; None where the user named none. ``figures``
    stand at the end of an HTML report.
    """

    verbose: bool = False
    colour: bool = False
    fails_from: Severity | None = None
    figures: tuple[Figure, ...] = ()


def render(report: Report, form: str, look: Look) -> str:
    """Return a report in one of :data:`FORMS`."""
    return str(importlib.import_module(FORMS[form]).render(report, look))


def form_of(path: str) -> str:
    """Return the form that the ending of a path stands for; text for any other ending."""
    return _ENDINGS.get(PurePath(path).suffix.lower(), "text")
