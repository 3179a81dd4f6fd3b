"""A rule: its code, the inputs it needs, the messages it reads, the function that judges a build, its explanation.

Rules are functions below :func:`rule`; those that only report what lines say are rows of tables (``rule_tables``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trtforensics.findings.case import Case
from trtforensics.findings.finding import Observation, Severity
from trtforensics.parsers.grammar import tables

if TYPE_CHECKING:
    from trtforensics.findings.case import Need

Check = Callable[[Case], Iterable[Observation]]
"""Judges one build and gives its observations; none where all is well."""

SPECIFIC = "errors"
"""Among what a rule follows: any error before it that names a cause by itself."""
WRAPPED = "errors-below"
"""As :data:`SPECIFIC`, and such an error right below it: the rule's line opens the record that names the cause."""

_CODE = re.compile(r"TF[1-9]\d\d|(?!TF).+")
"""The first of three digits names a family; codes of other packages begin otherwise."""
_BOUND = re.compile(r"(?:\d+(?:\.\d+)*)?")


@dataclass(frozen=True, slots=True)
class Fix:
    """How to mend it. ``since`` and ``before`` bound the TensorRT versions (``10.8``); empty means no bound.

    ``rtx`` is False where TensorRT-RTX lacks what it takes: tactics, timing caches and build routes.
    """

    text: str
    since: str = ""
    before: str = ""
    rtx: bool = True

    @property
    def versions(self) -> str:
        """The versions in words, empty for all."""
        if self.since and self.before:
            return f"TensorRT {self.since} and later, before {self.before}"
        if self.since:
            return f"TensorRT {self.since} and later"
        return f"TensorRT before {self.before}" if self.before else ""

    @property
    def of_versions(self) -> str:
        """The text with the versions before it."""
        return f"{self.versions}: {self.text}" if self.versions else self.text


@dataclass(frozen=True, slots=True)
class Explanation:
    """The text of ``explain CODE``: the cause, how to confirm it, fixes by version, and the sources of all that."""

    cause: str
    confirm: str
    fixes: tuple[Fix, ...]
    sources: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Rule:
    """A rule of the registry. It runs only where all inputs in ``needs`` (beside the log) are given.

    ``follows`` are the codes (``*`` is any text) that may be the cause of its findings, likeliest first: those that the
    same build has and that begin no later; :data:`SPECIFIC` and :data:`WRAPPED` stand for any error. A rule that is
    ``last`` runs after all others and sees, in :attr:`Case.explained`, which lines their findings cite. ``reads`` are
    the kinds of notes that it asks for; a rule of ``notes_alone`` judges by nothing else. ``general``: it only repeats
    or classes a message. A note of a kind in ``refuters`` refutes what the cited notes say of its ``name``.
    ``variants`` are cause and fix of special cases, by names that its function knows.

    Raises:
        ValueError: The code has another form, a version is none, or a text is missing: rules of other packages may do
            without fixes and sources.
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
    notes_alone: bool = False
    general: bool = False
    refuters: frozenset[str] = frozenset()
    variants: Mapping[str, tuple[str, str]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        explanation = self.explanation
        if not _CODE.fullmatch(self.code):
            raise ValueError(f"{self.code} is no code: TF and three digits, or a text that does not begin with TF")
        wanted = (explanation.fixes, explanation.sources) if self.code.startswith("TF") else ()
        if not all(
            (self.title, explanation.cause, explanation.confirm, *wanted, *(fix.text for fix in explanation.fixes))
        ):
            raise ValueError(f"{self.code} lacks a title, cause, confirm, fix or source")
        if not all(_BOUND.fullmatch(bound) for fix in explanation.fixes for bound in (fix.since, fix.before)):
            raise ValueError(f"{self.code} bounds a fix by what is no version")

    def stands(self, observation: Observation, case: Case) -> bool:
        """Whether the refuters do not name all that the cited notes name."""
        refuted = {note.text("name") for kind in self.refuters for note in case.notes(kind)}
        if not refuted:
            return True
        cited = [note for note in case.notes(*(self.reads - self.refuters)) if note.span in observation.spans]
        named = {note.text("name") or note.text("op") for note in cited} - {""}
        return not named or not named <= refuted

    def concerns(self, case: Case) -> bool:
        """Whether the build has a note of a kind that it reads, or it judges by more than notes."""
        return not (self.notes_alone and self.reads.isdisjoint(case.kinds))

    @property
    def messages(self) -> tuple[str, ...]:
        """The messages that it reads: ``<field>`` stands for what is captured, ``…`` for any text."""
        known = tables.tables().patterns
        return tuple(dict.fromkeys(message for kind in known if kind in self.reads for message in known[kind]))


def rule(  # noqa: PLR0913 - one call declares the whole rule
    code: str,
    severity: Severity,
    title: str,
    *,
    cause: str,
    confirm: str,
    fixes: Iterable[Fix | str],
    sources: Iterable[str] = (),
    reads: Iterable[str] = (),
    needs: Iterable[Need] = (),
    follows: Iterable[str] = (),
    last: bool = False,
    general: bool = False,
    refuters: Iterable[str] = (),
) -> Callable[[Check], Rule]:
    """Make a rule of a function that judges a :class:`Case`; a fix given as a text applies to every version."""
    every_fix = tuple(Fix(fix) if isinstance(fix, str) else fix for fix in fixes)
    explanation = Explanation(cause, confirm, every_fix, tuple(sources))

    def declare(check: Check) -> Rule:
        rest = frozenset(needs), tuple(follows), last, frozenset(reads)
        return Rule(code, severity, title, explanation, check, *rest, general=general, refuters=frozenset(refuters))

    return declare
