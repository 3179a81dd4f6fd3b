"""The JSON of many objects of one form, a field of all of them at a time.

Objects that are made alike, as the builds of one network are, differ in numbers: lines above all. So a field gives
strands (``json_rendering.woven``): texts that all objects share, and between them what each has for itself.
"""

from __future__ import annotations

from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from trtforensics.model.table import Column, Parts, Ranges, Rows, column
from trtforensics.model.timings import NO_TACTIC, tactic_text
from trtforensics.render.json_rendering import number, text, woven

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from trtforensics.render.json_rendering import Strand

    _T = TypeVar("_T")

_RECORD = "\n    "
_HOLE = "\0"
"""Marks the place of a number in a text: JSON cannot hold it."""


def each(rendered: Callable[[_T], str], values: Sequence[_T]) -> list[Strand]:
    """Render a value of each object; one that several share once."""
    if not isinstance(values, Column):
        return [map(rendered, values)]
    return [rendered(values[0])] if values.is_constant() else [values.each(rendered)]


def integers(values: Sequence[int]) -> list[Strand]:
    """Render a number of each object."""
    if not isinstance(values, Column):
        return [map(number, values)]
    return [number(values[0])] if values.is_constant() else [map(repr, values.codes.tolist())]


def members(strands: Mapping[str, Iterable[Strand]], indent: int) -> Iterator[Strand]:
    """Render objects of these members, a line each."""
    begin = f"\n{' ' * indent}"
    opening = f"{{{begin}"
    for name, own in strands.items():
        yield f'{opening}"{name}": '
        yield from own
        opening = f",{begin}"
    yield f"{begin[:-1]}}}"


class Record:
    """How a record is printed: by the names of its members, what it has under a name and what renders that."""

    def __init__(self, members: Mapping[str, tuple[str, Callable[[Any], str]]]) -> None:
        self._members = [(f"{text(name)}: ", *said) for name, said in members.items()]

    def lists(self, records: Sequence[Sequence[Any]]) -> list[Strand]:
        """Render a list of records of each object; lists that differ in whole numbers alone are rendered once."""
        if not isinstance(records, Parts):
            return each(self.one, records)
        sizes = np.diff(records.limits)
        if not sizes.any():
            return ["[]"]
        columns = records.table.columns
        numbered = [path for _, path, rendered in self._members if _is_plain(columns[path], rendered)]
        said = [path for _, path, _ in self._members if path not in numbered]
        groups = records.alike(said) if all(isinstance(columns[path], Column) for path in said) else []
        if 0 < 2 * len(groups) <= len(records):
            return self._of_groups(records, groups, numbered)
        rows = self._rendered(Rows(records.table, records.limits[0], records.limits[-1]))
        return [(listed(islice(rows, size)) if size else "[]" for size in sizes.tolist())]

    def one(self, records: Sequence[Any], but: Sequence[str] = ()) -> str:
        """Render a list of records of one object, with a hole ``but`` for what they have under some names."""
        return listed(self._rendered(records, but)) if records else "[]"

    def _of_groups(self, records: Parts[Any], groups: list[list[int]], numbered: list[str]) -> list[Strand]:
        """Render lists of which those of a group differ in what they have under the names of numbers alone."""
        forms: list[list[Strand]] = []
        for places in groups:
            between, *behind = self.one(records[places[0]], numbered).split(_HOLE)
            numbers = [map(repr, values) for values in records.matrix(places, numbered).T.tolist()]
            forms.append([between, *chain.from_iterable(zip(numbers, behind, strict=True))])
        return forms[0] if len(forms) == 1 else [_in_order(groups, forms)]

    def _rendered(self, records: Sequence[Any], but: Sequence[str] = ()) -> Iterator[str]:
        """Render records; what all of them have alike is a part of their form."""
        forms, cells = [], []
        for opening, path, rendered in self._members:
            values = column(records, path)
            if path in but:
                form = _HOLE
            elif isinstance(values, Column) and values.is_constant():
                form = rendered(values[0]).replace("%", "%%")
            else:
                form, own = _cells(rendered, values)
                cells.append(own)
            forms.append(f"{opening}{form}")
        record = f"{{{', '.join(forms)}}}"
        return map(record.__mod__, zip(*cells, strict=True)) if cells else repeat(record % (), len(records))


def _in_order(groups: list[list[int]], forms: list[list[Strand]]) -> Iterator[str]:
    """Give the texts of groups in the order of the places that each group's are at."""
    texts: dict[int, Iterator[str]] = {}
    for places, strands in zip(groups, forms, strict=True):
        texts.update(dict.fromkeys(places, map("".join, woven(len(places), strands))))
    return (next(texts[place]) for place in range(len(texts)))


def _is_plain(values: Sequence[Any], rendered: Callable[[Any], str]) -> bool:
    """Whether these are whole numbers, which are their own codes."""
    return isinstance(values, Column) and values.read is int and rendered is number


def _cells(rendered: Callable[[_T], str], values: Sequence[_T]) -> tuple[str, Iterable[object]]:
    """Return how to write a value of each record, and what; what several share is rendered once."""
    if not isinstance(values, Column):
        return "%s", map(rendered, values)
    codes = values.codes
    if _is_plain(values, rendered) or (rendered is number and _is_finite(codes)):
        return "%r", codes.tolist()
    if rendered is tactic and not (codes == NO_TACTIC).any():
        return _TACTIC, codes.tolist()
    if rendered is size and isinstance(values, Ranges):
        return "%r", values.sizes.tolist()
    if codes.dtype == np.float64:
        return "%s", map(rendered, values)
    return "%s", values.each(rendered)


def _is_finite(codes: npt.NDArray[Any]) -> bool:
    return codes.dtype == np.float64 and bool(np.isfinite(codes).all())


def size(values: Sequence[object]) -> str:
    """Render how many values there are."""
    return repr(len(values))


def tactic(value: int | None) -> str:
    """Render a tactic id, a text: no number in JSON is sure to keep 64 bits."""
    printed = tactic_text(value)
    return "null" if printed is None else f'"{printed}"'


_TACTIC = '"0x%016x"'


def listed(rendered: Iterable[str]) -> str:
    """Render a list of an object, a record a line; there is one at least."""
    return f"[{_RECORD}{f',{_RECORD}'.join(rendered)}\n   ]"
