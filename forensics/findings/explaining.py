"""The texts of ``explain``: cause, how to confirm, fixes by TensorRT version, sources."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

from trtforensics.findings.messages_read import messages_read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.findings.rule import Rule
    from trtforensics.findings.searching import Hit

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
    messages = messages_read(rule)
    if messages:
        lines += ["", "Messages that this rule reads", *(f"  {message}" for message in messages)]
    if explanation.sources:
        lines += ["", "Sources", *(line for source in explanation.sources for line in _wrapped(source, "- "))]
    return "\n".join(lines) + "\n"


def list_codes(rules: Iterable[Rule]) -> str:
    """Return one line for each code."""
    return "".join(f"{rule.code} {rule.severity.word:<7} {rule.title}\n" for rule in rules)


def list_hits(hits: Iterable[Hit]) -> str:
    """Return two lines for each rule that was found: its code and title, and the text that speaks of the words."""
    lines = []
    for hit in hits:
        lines.append(f"{hit.rule.code} {hit.rule.severity.word:<7} {hit.rule.title}\n")
        if hit.text != hit.rule.title:
            lines.append(f"      {textwrap.shorten(hit.text, _WIDTH, placeholder=' …')}\n")
    return "".join(lines)


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
                "messages": list(messages_read(rule)),
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
