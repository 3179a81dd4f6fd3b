"""What makes a node fit that the ONNX parser refuses, by its operator and by what the refusal is about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from trtforensics.knowledge.table import records


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do with a node of an operator; ``when`` is a word of the refusal, empty for any."""

    operator: str
    when: str
    remedy: str
    source: str


def remedy_of(operator: str, refusal: str) -> str:
    """Return what to do with a node of an operator that is refused in these words; empty where nothing is known."""
    fitting = [row for row in remedies() if row.operator == operator and row.when.lower() in refusal.lower()]
    return next((row.remedy for row in sorted(fitting, key=lambda row: not row.when)), "")


@cache
def remedies() -> tuple[Remedy, ...]:
    """Return all rows of ``remedies.tsv``."""
    return records("remedies", Remedy)
