"""A rule: its code, the inputs it needs, the function that judges a build, and the text of ``explain``.

Most rules are functions below :func:`rule`. Those that only report what lines say outright are made by :func:`said`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trtforensics.findings.case import Case
from trtforensics.findings.finding import Confidence, Explanation, Fix, Observation, Severity

if TYPE_CHECKING:
    from trtforensics.findings.case import Need
    from trtforensics.model.notes import Note

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
    reads: frozenset[str] = frozenset()
    """The kinds of notes that it reports, and nothing else; empty where it judges more than single notes."""


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


def said(  # noqa: PLR0913 - one call declares the whole rule
    code: str,
    severity: Severity,
    title: str,
    *,
    kinds: Iterable[str],
    says: str = "",
    cause: str,
    confirm: str,
    fixes: Iterable[Fix | str],
    sources: Iterable[str] = (),
    settle: str = "",
    follows: Iterable[str] = (),
) -> Rule:
    """Make a rule that reports notes of some kinds.

    ``says`` is the observation's title, by default the rule's; ``{field}`` in it is a field of the note. Notes with
    equal titles are one observation. With ``settle`` the lines make the cause likely, without it they state it.
    """
    wanted, form = tuple(kinds), says or title

    def check(case: Case) -> Iterator[Observation]:
        by_title: dict[str, list[Note]] = {}
        for note in case.notes(*wanted):
            by_title.setdefault(_filled(form, note), []).append(note)
        for filled, notes in by_title.items():
            yield Observation(
                filled,
                [note.span for note in notes],
                confidence=Confidence.LIKELY if settle else Confidence.CERTAIN,
                settle=settle,
                same_as=filled,
            )

    explained = rule(code, severity, title, cause=cause, confirm=confirm, fixes=fixes, sources=sources, follows=follows)
    return replace(explained(check), reads=frozenset(wanted))


def _filled(form: str, note: Note) -> str:
    """Put a note's fields into a title; a field that the line does not print reads as "?"."""
    return form.format_map({name: note.text(name).strip() or "?" for name in note.fields})
