"""Records as objects of JSON documents: ``tables/document_members.tsv`` says which members each has, in order.

A row names the record, the member, what is read of the record and its form: one of a value, a record, or either with
``*`` for a list; a member whose form ends in ``?`` is left out where it is None. A record that is None is null.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from operator import attrgetter, itemgetter
from typing import Any

from trtforensics.console.counting import grouped
from trtforensics.knowledge.table import rows
from trtforensics.model.timings import tactic_text

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
