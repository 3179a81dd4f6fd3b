"""Finds rules by words, in their titles, causes, messages and fixes; the best first."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.findings.messages_read import messages_read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.findings.rule import Rule

_TITLE, _MESSAGE, _CAUSE, _FIX, _CONFIRM = 6.0, 5.0, 3.0, 2.0, 1.0
"""What a word counts, by where it stands."""
_PHRASE = 4.0
"""How many times as much a text counts that holds all words in a row."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule that was found, and the text of it that speaks most of what was looked for."""

    rule: Rule
    text: str


def search(rules: Sequence[Rule], query: str) -> list[Hit]:
    """Return the rules that hold all words of a query, else those that hold most of them; the best first.

    A word is found where a word of the text begins with it, whatever the case. Rare words count more.
    """
    words = [re.compile(rf"(?<![a-z0-9]){re.escape(word)}") for word in query.casefold().split()]
    phrase = " ".join(query.casefold().split())
    texts = {rule.code: _texts(rule) for rule in rules}
    held = {rule.code: [any(word.search(text) for _, text, _ in texts[rule.code]) for word in words] for rule in rules}
    most = max((sum(own) for own in held.values()), default=0)
    if not most:
        return []
    rarity = [math.log(1 + len(rules) / (1 + sum(own[at] for own in held.values()))) for at in range(len(words))]
    found = []
    for rule in rules:
        if sum(held[rule.code]) == most:
            scores = [
                (sum(worth * rare for word, rare in zip(words, rarity, strict=True) if word.search(text))
                 * (_PHRASE if phrase in text else 1), shown)
                for worth, text, shown in texts[rule.code]
            ]  # fmt: skip
            found.append((sum(score for score, _ in scores), Hit(rule, max(scores, key=lambda one: one[0])[1])))
    return [hit for _, hit in sorted(found, key=lambda one: (-one[0], one[1].rule.code))]


def _texts(rule: Rule) -> list[tuple[float, str, str]]:
    """Return the texts of a rule: what a word in each counts, the text to search, the text to show."""
    explanation = rule.explanation
    sentences = re.split(r"(?<=[.;:]) ", explanation.cause)
    parts = [(_TITLE, rule.title), *((_MESSAGE, one) for one in messages_read(rule))]
    parts += [
        *((_CAUSE, one) for one in sentences),
        *((_FIX, fix.text) for fix in explanation.fixes),
        (_CONFIRM, explanation.confirm),
    ]
    return [(worth, " ".join(text.casefold().split()), text) for worth, text in parts]
