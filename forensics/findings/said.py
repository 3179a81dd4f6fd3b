"""Rules that report what lines say outright: each distinct sentence of some kinds of note is an observation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.finding import Confidence, Fix, Observation
from trtforensics.findings.rule import Rule, rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trtforensics.findings.case import Case
    from trtforensics.findings.finding import Severity
    from trtforensics.model.notes import Note


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

    declare = rule(code, severity, title, cause=cause, confirm=confirm, fixes=fixes, sources=sources)
    return declare(check)


def _filled(form: str, note: Note) -> str:
    """Put a note's fields into a title; a field that the line does not print reads as "?"."""
    return form.format_map({name: note.text(name).strip() or "?" for name in note.fields})
