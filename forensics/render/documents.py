"""Records as objects of JSON documents: ``tables/document_members.tsv`` says which members each has, in order.

A row names the record, the member, what is read of the record (all of it, where that is empty) and its form: one of a
value, a record, or either with ``*`` for a list. A record that is None is null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter, itemgetter
from typing import Any

from trtforensics.console.counting import grouped
from trtforensics.knowledge.table import rows
from trtforensics.model.timings import tactic_text

JsonObject = dict[str, Any]
Forms = Mapping[str, Callable[[Any], Any]]

_MS_DIGITS = 7


def _itself(value: Any) -> Any:  # noqa: ANN401 - any value
    return value


_ROWS = grouped(rows("document_members", "trtforensics.render"), itemgetter("record"))
_MEMBERS = {
    record: [(row["member"], attrgetter(row["reads"]) if row["reads"] else _itself, row["form"]) for row in members]
    for record, members in _ROWS.items()
}
"""The members of each record: name, reader and form."""
_FORMS: Forms = {
    "": _itself,
    "or_null": lambda value: value or None,
    "list": list,
    "object": dict,
    "length": lambda values: None if values is None else len(values),
    "line": lambda span: None if span is None else span.line,
    "place": lambda span: None if span is None else {"path": span.file, "line": span.line},
    "rounded": lambda value: None if value is None else round(value, _MS_DIGITS),
    "tactic": tactic_text,
}


def document_of(record: str, value: Any, forms: Forms = _FORMS) -> JsonObject:  # noqa: ANN401 - records of all kinds
    """Return a value as the object of a record; ``forms`` are those of this document alone."""
    return {member: _formed(form, read(value), forms) for member, read, form in _MEMBERS[record]}


def _formed(form: str, value: Any, forms: Forms) -> Any:  # noqa: ANN401 - a JSON value
    if form.endswith("*"):
        return [_formed(form[:-1], each, forms) for each in value]
    if form in _MEMBERS:
        return None if value is None else document_of(form, value, forms)
    return (forms.get(form) or _FORMS[form])(value)
