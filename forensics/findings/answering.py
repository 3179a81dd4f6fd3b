"""What a finding answers: why, in a sentence or two, which causes come into question, and what to do first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trtforensics.findings.finding import Severity

if TYPE_CHECKING:
    from trtforensics.findings.finding import Finding, Step

_LIKELIEST = "Likeliest first: "
"""What opens, in the cause of a rule, the causes that the lines alone do not tell apart; ``;`` parts them."""
_SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z0-9\"'(])")
_MOST = 260
"""Characters of the sentences that say why; the first is given whole."""
_CAUSES = 3


def why_of(finding: Finding) -> str:
    """Return the first sentence of the cause, and the second where both are short."""
    sentences = _SENTENCE_END.split(finding.cause.partition(_LIKELIEST)[0].strip())
    both = " ".join(sentences[:2])
    return both if len(both) <= _MOST else sentences[0]


def candidates_of(finding: Finding) -> tuple[str, ...]:
    """Return the causes that come into question, likeliest first; none where the finding names one."""
    _, _, rest = finding.cause.partition(_LIKELIEST)
    causes = _SENTENCE_END.split(rest)[0].rstrip(".").split("; ") if rest else []
    return tuple(causes[:_CAUSES])


def answer_of(finding: Finding) -> str:
    """Return what is wrong, with the log's values, and why."""
    why = why_of(finding) or "; or ".join(candidates_of(finding))
    title = f"{finding.title}: {finding.message}" if finding.message else finding.title
    return f"{title.rstrip('.')}. {why}".strip()


def first_of(finding: Finding) -> tuple[str, Step | None]:
    """Return the first thing to do, and the step whose command is to be typed, where there is one.

    An error is mended by the rule's first fix; of any other finding a step of this build says more than the rule.
    """
    typed = next((step for step in finding.next_steps if step.command), None)
    worded = next((step.what for step in finding.next_steps), "")
    if finding.severity is Severity.ERROR:
        return (finding.fixes[0] if finding.fixes else worded), typed
    return ("" if typed is not None else worded or next(iter(finding.fixes), "")), typed
