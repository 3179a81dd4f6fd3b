"""Every form of a report for other programs is safe, whatever a log holds."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.support.for_each import for_each
from tests.unit.findings.forms.hostile import evil_report
from trtforensics.findings.forms.rendering import FORMS, Look, render

FOR_PROGRAMS = sorted({*FORMS} - {"text", "json"})
"""The text is for a person, and JSON escapes whatever is not ASCII."""
MARKUP = {"html", "junit"}


@for_each("form", FOR_PROGRAMS)
def test_no_control_character_and_no_markup_of_a_log_reaches_any_form(form: str) -> None:
    text = render(evil_report("build.log"), form, Look())
    told = text if form not in {"sarif", "codequality"} else "\n".join(strings(json.loads(text)))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]", told)
    assert "␛[31m" in told
    text.encode()
    if form in MARKUP:
        assert "<b>&" not in text
        assert "</script>" not in text


def strings(value: Any) -> list[str]:
    """Return every text inside a JSON value."""
    if isinstance(value, dict):
        return [*value, *(text for one in value.values() for text in strings(one))]
    if isinstance(value, list):
        return [text for one in value for text in strings(one)]
    return [value] if isinstance(value, str) else []
