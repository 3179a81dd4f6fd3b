"""The texts of ``explain`` (cause, how to confirm, fixes by TensorRT version, sources), and the search in them."""

import json
import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from trtforensics.findings.registry import rules
from trtforensics.findings.rule import Rule
from trtforensics.findings.versions import flags, interface
from trtforensics.knowledge.periods import Lifetime, dotted
from trtforensics.knowledge.table import records
from trtforensics.knowledge.terms import ErrorCode, terms_of
from trtforensics.parsers.notation.kernels import read_kernel
from trtforensics.render.names import wrapped

_WIDTH = 100
_TITLE, _MESSAGE, _CAUSE, _FIX, _CONFIRM = 6.0, 5.0, 3.0, 2.0, 1.0
"""What a word counts, by where it stands."""
_OF_LIBRARIES = {"cuda": "CUDA error", "cudnn": "cuDNN status", "cublas": "cuBLAS status"}
_CODES = 5
"""Codes that are named behind the meaning of a name."""
_OF_NAME = "its name, which NVIDIA does not document"
_OF_ARCHITECTURE = re.compile(r"(?:sm\d{2,3}|maxwell|volta|turing|ampere|ada|hopper|blackwell)_\w")
"""The beginning of a kernel's name that names an architecture."""
_OF_MYELIN = re.compile(r"__myl_((?:[A-Z][a-z]+){2,})_")
"""The beginning of the name of a kernel that Myelin wrote: the operations in it."""
_PHRASE = 4.0
"""How many times as much a text counts that holds all words in a row."""


class Hit(NamedTuple):
    """A rule that was found, and the text of it that speaks most of what was looked for."""

    rule: Rule
    text: str


def explain(rule: Rule) -> str:
    """Return the whole explanation of a code, as text."""
    explanation = rule.explanation
    lines = [f"{rule.code} ({rule.severity.word}): {rule.title}"]
    if rule.needs:
        lines.append(f"needs, beside a log: {', '.join(sorted(rule.needs))}")
    lines += [
        "",
        "Cause",
        *_wrapped(explanation.cause),
        "",
        "How to confirm",
        *_wrapped(explanation.confirm),
        "",
        "Fix",
    ]
    for fix in explanation.fixes:
        lines += _wrapped(fix.of_versions, "- ")
    if rule.messages:
        lines += ["", "Messages that this rule reads", *(f"  {message}" for message in rule.messages)]
    if explanation.sources:
        lines += ["", "Sources", *(line for source in explanation.sources for line in _wrapped(source, "- "))]
    return "\n".join(lines) + "\n"


class Meaning(NamedTuple):
    """What a name means: a layer type, an error code, a kernel or a word."""

    name: str
    kind: str
    text: str
    source: str


def meanings(name: str) -> list[Meaning]:
    """Return what a name means; nothing where neither a table knows it nor it is built as kernels' names are."""
    known = [Meaning(name, term.kind, term.meaning, term.source) for term in terms_of(name)]
    for entry in records("error_codes", ErrorCode):
        if name.casefold() in {str(entry.code), entry.name.casefold()}:
            kind = _OF_LIBRARIES.get(entry.kind, f"error code of the {entry.kind}")
            known.append(Meaning(f"{entry.code} {entry.name}", kind, entry.meaning, entry.source))
    return list(_kernel(name)) or [*known, *_options(name)]


def _options(name: str) -> Iterator[Meaning]:
    """Say which releases have an option of trtexec, or a name of the Python interface."""
    if flag := flags().get(f"--{name.lstrip('-')}"):
        since = f", since TensorRT {flag.since}" if flag.since else ""
        until = f", refused from {flag.before} on" if flag.before else ""
        phases = flag.when.replace("both", "build and run")
        text = f"{'takes a value' if flag.takes_value else 'a switch'}; for {phases}{since}{until}"
        yield Meaning(flag.name, "option of trtexec", text, "trtexec's option parser, 6.0 to 11.1")
    for row in records("lifetimes", Lifetime):
        if name in {row.name, row.name.lstrip("-")}:
            since = f"; deprecated from {dotted(row.deprecated)} on" if row.deprecated else ""
            instead = f"; in its place: {row.instead}" if row.instead else ""
            text = f"{row.of} has it {row.words or 'in all releases that are described'}{since}{instead}"
            yield Meaning(row.name, "name with its releases", text, row.source)
    if name in interface() and name.islower():
        first, last = interface()[name]
        text = f"the bindings have it from TensorRT {first or '8.0 or before'} to {last or 'the newest'}"
        yield Meaning(name, "name of the Python interface", text, "TensorRT's Python bindings, 8.0 to 11.1")


def _kernel(name: str) -> Iterator[Meaning]:
    """Read a kernel's name aloud: the facts that it states, then what its words mean."""
    facts = read_kernel(name)
    if facts.family is None and not _OF_ARCHITECTURE.match(name):
        return
    named = sorted(("not " if getattr(facts, name) is False else "") + name for name in facts.by_convention)
    conventional = ", ".join(named).replace("_", " ")
    implied = f" (by convention: {conventional})" if conventional else ""
    text = facts.text or "its name tells no more" if facts.family else "names of this form are not read whole here"
    if operations := _OF_MYELIN.match(name):
        text = f"by its name, of {' '.join(re.findall('[A-Z][a-z]*', operations[1]))}, shortened names of operations"
    yield Meaning(name, f"kernel of {facts.family}" if facts.family else "kernel", f"{text}{implied}", _OF_NAME)
    for word in dict.fromkeys(re.split(r"[^a-z0-9]+", name.casefold())):
        for term in terms_of(word):
            if term.kind == "kernel word":
                yield Meaning(word, term.kind, term.meaning, term.source)


def sayings(names: Iterable[str]) -> list[str]:
    """Return a sentence for each meaning of each name, or that none is known; of codes their cause."""
    sentences: list[str] = []
    for name in dict.fromkeys(filter(None, names)):
        rule = next((rule for rule in rules() if rule.code == name), None) if name.startswith("TF") else None
        if rule is not None:
            sentences.append(f"{name} ({rule.severity.word}): {rule.title}. {rule.explanation.cause}")
        else:
            known = [f"{each.name} ({each.kind}): {each.text}" for each in meanings(name)]
            sentences += known or [f"{name}: no explanation is known"]
    return sentences


def explain_meanings(known: Iterable[Meaning], hits: Sequence[Hit]) -> str:
    """Return what a name means as text, and the codes that speak of it."""
    lines = []
    for meaning in known:
        lines += _wrapped(f"{meaning.name} ({meaning.kind}): {meaning.text}", "")
        lines += _wrapped(f"source: {meaning.source}")
    codes = list_hits(hits[:_CODES])
    return "\n".join(lines) + "\n" + (f"\nCodes that speak of it\n{codes}" if codes else "")


def list_codes(rules: Iterable[Rule]) -> str:
    """Return one line for each code."""
    return "".join(f"{rule.code} {rule.severity.word:<7} {rule.title}\n" for rule in rules)


def list_hits(hits: Iterable[Hit]) -> str:
    """Return two lines for each rule that was found: its code and title, and the text that speaks of the words."""
    lines = []
    for hit in hits:
        lines.append(f"{hit.rule.code} {hit.rule.severity.word:<7} {hit.rule.title}\n")
        if hit.text != hit.rule.title:
            lines.append(f"      {textwrap.shorten(hit.text, _WIDTH, placeholder=' …')}\n")
    return "".join(lines)


def explain_json(rules: Iterable[Rule], known: Sequence[Meaning] = ()) -> str:
    """Return the codes, and the meanings of a name where it has any, as a JSON document, schema 1."""
    document = {
        "schema": 1,
        "kind": "codes",
        "codes": [
            {
                "code": rule.code,
                "severity": rule.severity.word,
                "title": rule.title,
                "needs": sorted(rule.needs),
                "cause": rule.explanation.cause,
                "confirm": rule.explanation.confirm,
                "fixes": [{"since": f.since, "before": f.before, "text": f.text} for f in rule.explanation.fixes],
                "messages": list(rule.messages),
                "sources": list(rule.explanation.sources),
            }
            for rule in rules
        ],
        **({"meanings": [meaning._asdict() for meaning in known]} if known else {}),
    }
    return f"{json.dumps(document, indent=1)}\n"


def _wrapped(text: str, bullet: str = "  ") -> list[str]:
    indent = "  " if bullet.strip() else ""
    return wrapped(text, _WIDTH, f"{indent}{bullet}", f"{indent}  ")


class _Text(NamedTuple):
    """A text of a rule: what a word in it counts, and the text in the form that is searched."""

    worth: float
    shown: str
    searched: str


def search(rules: Sequence[Rule], query: str) -> list[Hit]:
    """Return the rules that hold all words of a query, else those that hold most of them; the best first.

    A word is found where a word of the text begins with it, whatever the case. Rare words count more.
    """
    phrase = " ".join(query.casefold().split())
    words = [re.compile(rf"(?<![a-z0-9]){re.escape(word)}") for word in phrase.split()]
    texts = {rule.code: _texts(rule) for rule in rules}
    held = {code: {word for word in words if any(word.search(text.searched) for text in texts[code])} for code in texts}
    most = max(map(len, held.values()), default=0)
    rarity = {word: math.log(1 + len(rules) / (1 + sum(word in mine for mine in held.values()))) for word in words}

    def score(text: _Text) -> float:
        hits = sum(text.worth * rarity[word] for word in words if word.search(text.searched))
        return hits * (_PHRASE if phrase in text.searched else 1)

    ranked = []
    for rule in rules:
        if most and len(held[rule.code]) == most:
            best = max(texts[rule.code], key=score)
            ranked.append((sum(map(score, texts[rule.code])), Hit(rule, best.shown)))
    return [hit for _, hit in sorted(ranked, key=lambda pair: (-pair[0], pair[1].rule.code))]


def _texts(rule: Rule) -> list[_Text]:
    explanation = rule.explanation
    parts = [(_TITLE, rule.title)]
    parts += [(_MESSAGE, message) for message in rule.messages]
    parts += [(_CAUSE, sentence) for sentence in re.split(r"(?<=[.;:]) ", explanation.cause)]
    parts += [(_FIX, fix.text) for fix in explanation.fixes]
    parts += [(_CONFIRM, explanation.confirm)]
    return [_Text(worth, text, " ".join(text.casefold().split())) for worth, text in parts]
