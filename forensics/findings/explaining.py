"""The texts of ``explain``: cause, how to confirm, fixes by TensorRT version, sources."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.findings.rule import Rule

_WIDTH = 100


def explain(rule: Rule) -> str:
    """Return the whole explanation of a code, as text."""
    explanation = rule.explanation
    lines = [f"{rule.code} ({rule.severity.word}): {rule.title}"]
    if rule.needs:
        lines.append(f"needs, beside a log: {', '.join(sorted(rule.needs))}")
    lines += [
        "",
        "Cause",
        *_wrapped(explanation.cause),
        "",
        "How to confirm",
        *_wrapped(explanation.confirm),
        "",
        "Fix",
    ]
    for fix in explanation.fixes:
        lines += _wrapped(f"{fix.versions}: {fix.text}" if fix.versions else fix.text, "- ")
    if explanation.sources:
        lines += ["", "Sources", *(line for source in explanation.sources for line in _wrapped(source, "- "))]
    return "\n".join(lines) + "\n"


def list_codes(rules: Iterable[Rule]) -> str:
    """Return one line for each code."""
    return "".join(f"{rule.code} {rule.severity.word:<7} {rule.title}\n" for rule in rules)


def explain_json(rules: Iterable[Rule]) -> str:
    """Return the codes as a JSON document, schema 1."""
    document = {
        "schema": 1,
        "kind": "codes",
        "codes": [
            {
                "code": rule.code,
                "severity": rule.severity.word,
                "title": rule.title,
                "needs": sorted(rule.needs),
                "cause": rule.explanation.cause,
                "confirm": rule.explanation.confirm,
                "fixes": [{"since": f.since, "before": f.before, "text": f.text} for f in rule.explanation.fixes],
                "sources": list(rule.explanation.sources),
            }
            for rule in rules
        ],
    }
    return f"{json.dumps(document, indent=1)}\n"


def _wrapped(text: str, bullet: str = "  ") -> list[str]:
    indent = "  " if bullet.strip() else ""
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"{indent}{bullet}",
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
