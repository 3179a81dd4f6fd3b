"""An answer of a search without anything in it, for tests of what is made of answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from trtforensics.bisection.session.answer import Reuse, SearchAnswer


def search_answer(**changes: Any) -> SearchAnswer:
    """Return the answer; ``changes`` are other values of its fields."""
    answer = SearchAnswer(
        mode="items",
        remedy=False,
        status="certified",
        why="",
        culprits=(),
        items=3,
        atoms=3,
        builds=0,
        reused=0,
        verdicts=Reuse(),
        builds_left=None,
        unresolved=(),
        minimal=(),
        suspects=(),
        unsearched=(),
        confidence=1.0,
        lower_bound=2,
        probes=(),
    )
    return replace(answer, **changes)
