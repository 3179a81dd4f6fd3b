"""A rule: its code, the inputs it needs, the function that judges a build, and the text of ``explain``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.findings.case import Case
from trtforensics.findings.finding import Explanation, Fix, Observation, Severity

if TYPE_CHECKING:
    from trtforensics.findings.case import Need

Check = Callable[[Case], Iterable[Observation]]
"""Judges one build and gives its observations; none where all is well."""


@dataclass(frozen=True)
class Rule:
    """A rule of the registry. It runs only where all inputs in ``needs`` (beside the log) are given.

    ``follows`` are codes (``*`` is any text) of which its findings are consequences, likeliest first, where the same
    build has them and they begin no later. A rule that is ``last`` runs after all others and sees, in
    :attr:`Case.explained`, which lines their findings cite.
    """

    code: str
    severity: Severity
    title: str
    explanation: Explanation
    check: Check
    needs: frozenset[Need] = frozenset()
    follows: tuple[str, ...] = ()
    last: bool = False


def rule(  # noqa: PLR0913 - one call declares the whole rule
    code: str,
    severity: Severity,
    title: str,
    *,
    cause: str,
    confirm: str,
    fixes: Iterable[Fix | str],
    sources: Iterable[str] = (),
    needs: Iterable[Need] = (),
    follows: Iterable[str] = (),
    last: bool = False,
) -> Callable[[Check], Rule]:
    """Make a rule of a function that judges a :class:`Case`; a fix given as a text applies to every version."""
    every_fix = tuple(Fix(fix) if isinstance(fix, str) else fix for fix in fixes)
    explanation = Explanation(cause, confirm, every_fix, tuple(sources))

    def declare(check: Check) -> Rule:
        return Rule(code, severity, title, explanation, check, frozenset(needs), tuple(follows), last)

    return declare
