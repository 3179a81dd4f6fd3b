"""JSON in ASCII with a record a line: it reads and compares well.

:func:`render` takes plain dicts and lists. The functions for single values serve documents that are too large to be
made of dicts first. All write what ``json.dumps`` does, with secrets masked.

Records become objects by ``tables/document_members.tsv``: a row names the record, the member, what is read of it and
its form: one of a value, a record, or either with ``*`` for a list; a member whose form ends in ``?`` is left out where
it is None. A record that is None is null.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from json.encoder import encode_basestring_ascii
from math import isfinite
from operator import attrgetter, itemgetter
from typing import Any

from trtforensics.console.counting import grouped
from trtforensics.console.secrets import masked_anew, masked_values, remembered
from trtforensics.knowledge.table import rows
from trtforensics.model.kernel import KernelFacts
from trtforensics.model.timings import tactic_text

encode = json.JSONEncoder(allow_nan=False).encode
"""Render a value whose texts are the program's own words: they are not masked. ValueError: JSON has no such number."""
_FACTS = tuple(field.name for field in fields(KernelFacts) if field.name != "name")


def dumps(value: Any, indent: int | None = None) -> str:  # noqa: ANN401 - any JSON value
    """Render a value as ``json.dumps`` does; a ValueError where JSON has no such number."""
    values = masked_values(value)
    return encode(values) if indent is None else json.dumps(values, indent=indent, allow_nan=False)


text = remembered(lambda value: encode_basestring_ascii(masked_anew(value)), 1 << 16)
"""Render a text; a document has the same texts again and again, such as the names of its layers in each list."""


def text_or_null(value: str | None) -> str:
    """Render a text, or null."""
    return "null" if value is None else text(value)


def texts(values: Iterable[str]) -> str:
    """Render a list of texts."""
    return f"[{', '.join(map(text, values))}]"


def number(value: float | None) -> str:
    """Render a number, or null; a ValueError where JSON has no such number."""
    if value is None:
        return "null"
    return repr(value) if value.__class__ is int or isfinite(value) else encode(value)


def boolean(value: bool | None) -> str:  # noqa: FBT001 - the value itself
    """Render true, false or null."""
    return "null" if value is None else "true" if value else "false"


def kernel_facts(facts: KernelFacts) -> dict[str, Any] | None:
    """Return what the lines of a tactic tell of its kernel as an object of every document; None where nothing is known.

    docs/reference/commands/parse.md describes it.
    """
    if facts == KernelFacts(facts.name):
        return None
    values = {name: getattr(facts, name) for name in _FACTS}
    tile = list(facts.tile) if facts.tile else None
    return {**values, "tile": tile, "by_convention": sorted(facts.by_convention)}


def render(value: object, record_depth: int) -> str:
    """Render a document with each value at ``record_depth`` on a separate line."""
    return f"{_indented(value, record_depth, 0)}\n"


def _indented(value: object, record_depth: int, depth: int) -> str:
    if not (depth < record_depth and value and isinstance(value, dict | list)):
        return encode(masked_values(value))
    begin, end = f"\n{' ' * (depth + 1)}", f"\n{' ' * depth}"
    if isinstance(value, dict):
        members = [f"{text(key)}: {_indented(item, record_depth, depth + 1)}" for key, item in value.items()]
        return f"{{{begin}{f',{begin}'.join(members)}{end}}}"
    items = [_indented(item, record_depth, depth + 1) for item in value]
    return f"[{begin}{f',{begin}'.join(items)}{end}]"


JsonObject = dict[str, Any]
Forms = Mapping[str, Callable[[Any], Any]]
_MS_DIGITS = 7

FORMS: Forms = {
    "": lambda value: value,
    "or_null": lambda value: value or None,
    "list": list,
    "object": dict,
    "fields": lambda value: None if value is None else asdict(value),
    "length": lambda values: None if values is None else len(values),
    "line": lambda span: None if span is None else span.line,
    "place": lambda span: None if span is None else {"path": span.file, "line": span.line},
    "rounded": lambda value: None if value is None else round(value, _MS_DIGITS),
    "tactic": tactic_text,
}
"""The forms of values that tables have in common."""


def reader(path: str) -> Callable[[Any], Any]:
    """Return what reads a path of attributes of a record, all of it where that is empty; None behind ``?`` is None."""
    first, may_lack, rest = path.partition("?.")
    if not may_lack:
        return attrgetter(path) if path else FORMS[""]
    read, read_on = attrgetter(first), attrgetter(rest)
    return lambda record: None if (value := read(record)) is None else read_on(value)


_MEMBERS = {
    record: [(row["member"], reader(row["reads"]), row["form"]) for row in members]
    for record, members in grouped(rows("document_members", "trtforensics.render"), itemgetter("record")).items()
}


def document_of(record: str, value: Any, forms: Forms = FORMS) -> JsonObject:  # noqa: ANN401 - records of all kinds
    """Return a value as the object of a record; ``forms`` are those of this document alone."""
    members = [(member, _formed(form, read(value), forms), form) for member, read, form in _MEMBERS[record]]
    return {member: formed for member, formed, form in members if formed is not None or not form.endswith("?")}


def _formed(form: str, value: Any, forms: Forms) -> Any:  # noqa: ANN401 - a JSON value
    form = form.removesuffix("?")
    if form.endswith("*"):
        return [_formed(form[:-1], each, forms) for each in value]
    if form in _MEMBERS:
        return None if value is None else document_of(form, value, forms)
    return (forms.get(form) or FORMS[form])(value)
