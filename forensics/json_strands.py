"""The JSON of many objects of one form, a field of all of them at a time.

Objects that are made alike, as the builds of one network are, differ in numbers: lines above all. So a field gives
strands (``json_rendering.woven``): texts that all objects share, and between them what each has for itself.
"""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from trtforensics.json_rendering import number, woven
from trtforensics.rows import Column, Parts, column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from trtforensics.json_rendering import Strand

    _T = TypeVar("_T")

_RECORD = "\n    "
_HOLE = "\0"
"""Marks the place of a number in a text: JSON cannot hold it."""


def each(rendered: Callable[[_T], str], values: Sequence[_T]) -> list[Strand]:
    """Render a value of each object; one that several share once."""
    if not isinstance(values, Column):
        return [map(rendered, values)]
    known = {code: rendered(values.read(code)) for code in set(values.codes.tolist())}
    return [*known.values()] if len(known) == 1 else [map(known.__getitem__, values.codes.tolist())]


def integers(values: Sequence[int]) -> list[Strand]:
    """Render a number of each object."""
    if not isinstance(values, Column):
        return [map(number, values)]
    codes = values.codes
    return [number(values[0])] if (codes == codes[0]).all() else [map(repr, codes.tolist())]


def members(strands: Mapping[str, Iterable[Strand]], indent: int) -> Iterator[Strand]:
    """Render objects of these members, a line each."""
    begin = f"\n{' ' * indent}"
    opening = f"{{{begin}"
    for name, own in strands.items():
        yield f'{opening}"{name}": '
        yield from own
        opening = f",{begin}"
    yield f"{begin[:-1]}}}"


def lists(
    rendered: Callable[..., str], records: Sequence[Sequence[Any]], said: Sequence[str], lines: Sequence[str]
) -> list[Strand]:
    """Render a list of records of each object.

    ``rendered`` takes what a record has under the names of ``said`` and then of ``lines``: whole numbers, printed as
    they stand and in this order. Lists that differ in those alone are rendered once.
    """

    def text(own: Sequence[Any], numbers: Iterable[Iterable[object]]) -> str:
        return listed(map(rendered, *[column(own, path) for path in said], *numbers)) if own else "[]"

    def whole(own: Sequence[Any]) -> str:
        return text(own, [column(own, path) for path in lines])

    if not isinstance(records, Parts):
        return each(whole, records)
    groups = records.alike(said)
    forms: list[list[Strand]] = []
    for places in groups:
        own = records[places[0]]
        if len(places) > 1:
            between, *behind = text(own, [repeat(_HOLE)] * len(lines)).split(_HOLE)
            numbers = [map(repr, values) for values in records.matrix(places, lines).T.tolist()]
            forms.append([between, *chain.from_iterable(zip(numbers, behind, strict=True))])
        else:
            forms.append([whole(own)])
    return forms[0] if len(forms) == 1 else [_in_order(groups, forms)]


def _in_order(groups: list[list[int]], forms: list[list[Strand]]) -> Iterator[str]:
    """Give the texts of groups in the order of the places that each group's are at."""
    texts: dict[int, Iterator[str]] = {}
    for places, strands in zip(groups, forms, strict=True):
        texts.update(dict.fromkeys(places, map("".join, woven(len(places), strands))))
    return (next(texts[place]) for place in range(len(texts)))


def listed(rendered: Iterable[str]) -> str:
    """Render a list of an object, a record a line; there is one at least."""
    return f"[{_RECORD}{f',{_RECORD}'.join(rendered)}\n   ]"
