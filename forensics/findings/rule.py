"""A rule: a code, what it takes to judge it, the function that judges, and what ``explain`` says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.findings.case import Case
from trtforensics.findings.finding import Explanation, Fix, Observation, Severity

if TYPE_CHECKING:
    from trtforensics.findings.case import Need

Check = Callable[[Case], Iterable[Observation]]
"""Looks at one build and gives what it sees; nothing where all is well."""


@dataclass(frozen=True)
class Rule:
    """A rule of the registry. ``needs`` are the inputs beside the log without which it is not asked."""

    code: str
    severity: Severity
    title: str
    explanation: Explanation
    check: Check
    needs: frozenset[Need] = frozenset()


def rule(  # noqa: PLR0913 - one call declares a rule whole
    code: str,
    severity: Severity,
    title: str,
    *,
    cause: str,
    confirm: str,
    fixes: Iterable[Fix | str],
    sources: Iterable[str] = (),
    needs: Iterable[Need] = (),
) -> Callable[[Check], Rule]:
    """Make a rule of the function that judges a :class:`Case`; a fix that is a text applies to every version."""
    told = tuple(Fix(fix) if isinstance(fix, str) else fix for fix in fixes)
    explanation = Explanation(cause, confirm, told, tuple(sources))

    def declare(check: Check) -> Rule:
        return Rule(code, severity, title, explanation, check, frozenset(needs))

    return declare
