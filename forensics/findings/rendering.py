"""The forms a report can take. A form is a module with ``render(report, look)``, imported when it is asked for."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trtforensics.findings.finding import Report

FORMS = {
    "text": "trtforensics.findings.text",
    "json": "trtforensics.findings.document",
}


@dataclass(frozen=True, slots=True)
class Look:
    """How a form that is read by a person is to look; programs' forms pay no heed."""

    verbose: bool = False
    colour: bool = False


def render(report: Report, form: str, look: Look) -> str:
    """Return a report in one of :data:`FORMS`."""
    return str(importlib.import_module(FORMS[form]).render(report, look))
