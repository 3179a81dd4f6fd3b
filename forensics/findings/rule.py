"""A rule: its code, the inputs it needs, the messages it reads, the function that judges a build, its explanation.

Rules that only report what lines say are rows of the tables in ``rules/tables``, one table a program or topic. Rules
that need more are functions (below :func:`rule` in other packages); the texts of those that are :func:`explained` are
rows too, in the folder ``texts`` beside the module, one table a module. They may lack ``reads``, in which ``sentences``
stands for all kinds of errors that explain themselves, have no ``says``, name in ``needs`` the inputs that they need,
and have ``last`` where they are to see which lines other findings cite. ``cause NAME`` and ``fix NAME`` are those of a
special case: one that the function names (:attr:`~.rule.Rule.variants`), or, in any row, one that the log shows where
``when NAME`` states how (:mod:`~trtforensics.findings.special_cases`): the first that holds stands in the place of the
rule's own texts, and ``{value}`` in it is a named group. ``line`` is the title with the lines cited, ``log`` what
stands near::

    when int32: line: inputs must not be Int32; program: ONNX Runtime; before: 7.0

A row is a paragraph; one that begins with ``#`` is a comment. Its first line has code, severity and title, every other
line has a field, and an indented line continues the one above. ``fix``, ``source`` and ``says`` may come several times;
``says``, ``settle``, ``same`` and ``follows`` may be left out::

    TF645 error: A tensor has no address when the engine runs
    reads: address_unset
    says: Tensor {tensor} has neither address nor allocator
    cause: Each input and output needs setTensorAddress, or an output allocator where its shape depends on the data,
        before enqueueV3.
    confirm: Print for each tensor whether its address was set in this context.
    fix: Set the address of every tensor.
    fix since 8.5 before 10: Use the allocator.
    settle: Which program binds the tensors.
    source: IExecutionContext::enqueueV3 of 8.5 and later
    follows: TF1* TF640

``reads`` are kinds of notes. ``says`` is the title of a finding, ``{field}`` in it a field of the note: of several, the
first all of whose fields the line prints, else the row's title. Notes with equal titles are one finding, those that
have the row's go with a note nearby. ``{field:listed}`` are the values of all notes, which are one finding. ``follows``
may have ``errors`` and ``errors-below`` (:data:`~trtforensics.findings.rule.SPECIFIC`). With ``settle`` the lines make
the cause likely, without it they state it. Builds have the same finding where the titles are equal, or where ``same``
gives the finding a name. ``says: {sentence}`` stands for the sentence of an error that explains itself; such a rule
runs last, and is ``general`` where the sentence names no cause. ``refuted`` names kinds of notes that
refute the rule (:meth:`~.rule.Rule.stands`).
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib.resources import files

from trtforensics.console.counting import grouped
from trtforensics.findings.case import Case, Need
from trtforensics.findings.finding import Observation, Severity
from trtforensics.findings.observations import CLASSES, near, observe, sentences
from trtforensics.findings.special_cases import SpecialCase, terms_of
from trtforensics.model.notes import Note
from trtforensics.parsers.grammar import tables

Check = Callable[[Case], Iterable[Observation]]
"""Judges one build and gives its observations; none where all is well."""

SPECIFIC = "errors"
"""Among what a rule follows: any error before it that names a cause by itself."""
WRAPPED = "errors-below"
"""As :data:`SPECIFIC`, and such an error right below it: the rule's line opens the record that names the cause."""

_CODE = re.compile(r"TF[1-9]\d{2,3}|(?!TF).+")
"""The first digit names a family, whose three-digit codes may be used up; codes of other packages begin otherwise."""
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
    ``variants`` are cause and fix of special cases, by names that its function knows; ``cases`` are those that hold by
    what the log says.

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
    cases: tuple[SpecialCase, ...] = ()

    def __post_init__(self) -> None:
        explanation = self.explanation
        if not _CODE.fullmatch(self.code):
            raise ValueError(f"{self.code} is no code: TF and 3 or 4 digits, or a text without TF in front")
        wanted = (explanation.fixes, explanation.sources) if self.code.startswith("TF") else ()
        if not all(
            (self.title, explanation.cause, explanation.confirm, *wanted, *(fix.text for fix in explanation.fixes))
        ):
            raise ValueError(f"{self.code} lacks a title, cause, confirm, fix or source")
        if not all(_BOUND.fullmatch(bound) for fix in explanation.fixes for bound in (fix.since, fix.before)):
            raise ValueError(f"{self.code} bounds a fix by what is no version")

    def observations(self, case: Case) -> Iterator[Observation]:
        """Give what it observes; lines that only inform found no error, those that warn a warning at most."""
        for each in self.check(case):
            levels = {case.levels.get(span, "E") for span in each.spans}
            is_error = (each.severity or self.severity) is Severity.ERROR
            if self._stands(each, case) and not (is_error and levels <= {"I", "V"}):
                yield replace(each, severity=Severity.WARNING) if is_error and "E" not in levels else each

    def _stands(self, observation: Observation, case: Case) -> bool:
        """Whether the refuters do not name all that the cited notes name."""
        refuted = {note.text("name") for kind in self.refuters for note in case.notes(kind)}
        if not refuted:
            return True
        cited = [note for note in case.notes(*(self.reads - self.refuters)) if note.span in observation.spans]
        named = {note.text("name") or note.text("op") for note in cited} - {""}
        return not named or not named <= refuted

    def concerns(self, kinds: Collection[str]) -> bool:
        """Whether a build's notes are of a kind that it reads, or it judges by more than notes."""
        return not (self.notes_alone and self.reads.isdisjoint(kinds))

    @property
    def messages(self) -> tuple[str, ...]:
        """The messages that it reads (``<field>``: captured, ``…``: any text); none of a class, which words show."""
        known = tables.tables().patterns
        shown = self.reads.difference(CLASSES, {"parse_failed"} if self.last else ())
        return tuple(dict.fromkeys(message for kind in known if kind in shown for message in known[kind]))


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


_LISTED = re.compile(r"\{(\w+):listed\}")
_FIELD = re.compile(r"\{(\w+)\}")
_ONCE = frozenset({"reads", "cause", "confirm"})
_OPTIONAL = {"reads", "needs", "settle", "same", "follows", "general", "refuted", "last"}
_OF_VARIANTS = {"cause", "fix", "when"}
_OF_WORDS = frozenset({"TF615", "TF616", "TF622", "TF624", "TF716", "TF718"})
"""Rules for lines that no other rule knows; to them the special cases of errors in their own words apply."""
_OF_LOADERS = frozenset({"TF410", "TF656"})
"""Rules for what a loader does not find; those for errors in their own words share their special cases."""
_OWN_WORDS = "sentences"


def table_rules() -> Iterator[Rule]:
    """Give the rules of all tables.

    Raises:
        ValueError: A row is not of the form that this module describes.
    """
    for table in (files("trtforensics.findings.rules") / "tables").iterdir():
        if table.name.endswith(".rules"):
            yield from read_table(table.read_text("utf-8"))


def explained(code: str) -> Callable[[Check], Rule]:
    """Make a rule of a function; its texts are the row of that code in the table of the function's module.

    Raises:
        KeyError: The table has no such row.
    """
    return lambda check: replace(_texts(check.__module__)[code], check=check, notes_alone=False)


@cache
def _texts(module: str) -> dict[str, Rule]:
    package, _, name = module.rpartition(".")
    table = files(package) / "texts" / f"{name}.rules"
    return {rule.code: rule for rule in read_table(table.read_text("utf-8"), _ONCE - {"reads"})}


def read_table(text: str, required: frozenset[str] = _ONCE) -> Iterator[Rule]:
    """Give the rules of a table's text; each row has the ``required`` fields.

    Raises:
        ValueError: A row is not of the form that this module describes.
    """
    for row in text.strip().split("\n\n"):
        if not row.startswith("#"):
            yield _rule(row.replace("\n    ", " ").split("\n"), required)


def _rule(lines: list[str], required: frozenset[str]) -> Rule:
    head, _, title = lines[0].partition(": ")
    code, _, severity = head.partition(" ")
    fixes, sources, says, fields = [], [], [], {}
    variants: dict[str, dict[str, str]] = {}
    for line in lines[1:]:
        field, _, text = line.partition(": ")
        name, *bounds = field.split(" ")
        if name in _OF_VARIANTS and len(bounds) == 1:
            texts = variants.setdefault(bounds[0], {})
            if name in texts:
                raise ValueError(f"{code}: a second {field!r}")
            texts[name] = text
        elif name == "fix":
            named = dict(zip(bounds[::2], bounds[1::2], strict=True))
            fixes.append(Fix(text, rtx=named.pop("rtx", "") != "no", **named))
        elif name == "source":
            sources.append(text)
        elif name == "says":
            says.append(text)
        elif field in fields or field not in _ONCE | _OPTIONAL:
            raise ValueError(f"{code}: a second or unknown field {field!r}")
        else:
            fields[field] = text
    if not fields.keys() >= required:
        raise ValueError(f"{code} lacks a field of {', '.join(sorted(required))}")
    words = fields.get("reads", "").split()
    kinds = tuple(kind for word in words for kind in (CLASSES if word == "sentences" else (word,)))
    settle, same = fields.get("settle", ""), fields.get("same", "")
    of_class = says == ["{sentence}"]
    shared = ("loaders", _OWN_WORDS) if of_class or code in _OF_WORDS else ("loaders",) * (code in _OF_LOADERS)
    return Rule(
        code,
        Severity[severity.upper()],
        title,
        Explanation(fields["cause"], fields["confirm"], tuple(fixes), tuple(sources)),
        partial(sentences, kinds, settle) if of_class else partial(_observations, kinds, (*says, title), settle, same),
        needs=frozenset(map(Need, fields.get("needs", "").split())),
        follows=tuple(fields.get("follows", "").split()),
        last=of_class or "last" in fields,
        reads=frozenset((*kinds, "parse_failed") if of_class else kinds),
        notes_alone=True,
        general="general" in fields,
        refuters=frozenset(fields.get("refuted", "").split()),
        variants={name: (texts["cause"], texts.get("fix", "")) for name, texts in variants.items()},
        cases=(*_cases(variants.values()), *(case for name in shared for case in shared_cases(name))),
    )


def _cases(rows: Iterable[Mapping[str, str]], *, alone: bool = False) -> Iterator[SpecialCase]:
    for row in rows:
        if "when" in row:
            fix, title, settle = (row.get(name, "") for name in ("fix", "says", "settle"))
            stands = alone and "follows" not in row
            yield SpecialCase(terms_of(row["when"]), row["cause"], fix, stands, title, settle)


@cache
def shared_cases(name: str) -> tuple[SpecialCase, ...]:
    """Return the special cases that several rules share, of a table: rows as those of rules, a name for the head."""
    table = (files("trtforensics.findings.rules") / "tables" / f"{name}.cases").read_text("utf-8")
    rows = (row.replace("\n    ", " ").split("\n") for row in table.strip().split("\n\n"))
    cases = (dict(line.split(": ", 1) for line in row if ": " in line) for row in rows)
    return tuple(_cases(cases, alone=name == _OWN_WORDS))


def _observations(
    kinds: tuple[str, ...], says: tuple[str, ...], settle: str, same: str, case: Case
) -> Iterator[Observation]:
    """Report the notes of some kinds: one observation for each title, or one that lists the values of a field."""
    notes, listed = case.notes(*kinds), _LISTED.search(says[0])
    if listed is not None:
        named = any(note.text(listed.group(1)) for note in notes)
        title = says[0].replace(listed.group(), "{names}") if named else says[-1]
        yield from observe(notes, title, names=listed.group(1), settle=settle, same_as=same)
        return
    by_title = grouped(notes, partial(_filled, says))
    bare = by_title.pop(says[-1], []) if len(by_title) > 1 else []
    first = next(iter(by_title.values()), [])
    first += [note for note in bare if near(note.span.line, first)]
    by_title |= {says[-1]: rest} if (rest := [note for note in bare if note not in first]) else {}
    for title, alike in by_title.items():
        yield from observe(alike, title, settle=settle, same_as=same or title)


def _filled(says: tuple[str, ...], note: Note) -> str:
    """Put a note's fields into the first title all of whose fields the line prints; the last has none."""
    printed = {name: text for name in note.fields if (text := note.text(name).strip())}
    return next(form.format_map(printed) for form in says if printed.keys() >= set(_FIELD.findall(form)))
