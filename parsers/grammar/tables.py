"""What is derived from the grammars, kept in the user's cache folder: most starts then need neither Lark nor a second.

Plain data, under a digest of the grammars and of the modules that derive it. A file that is missing or damaged is made
again; a folder that cannot be written only costs the next start its speed.
"""

from __future__ import annotations

import json
import os
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from trtforensics.parsers.grammar import grammar
from trtforensics.parsers.grammar import layouts as reading
from trtforensics.parsers.grammar.grammar import CAUSE, LINE, PREFIX, Kind
from trtforensics.parsers.grammar.layouts import Anchor, Content, Layout, Segment

if TYPE_CHECKING:
    from collections.abc import Iterable

_DERIVE = (grammar.__file__, reading.__file__, __file__)


class Tables(NamedTuple):
    """The kinds of each grammar by its start rule, those of lines that also come bare, and the bulk kinds' layouts."""

    kinds: dict[str, tuple[Kind, ...]]
    bare: tuple[Kind, ...]
    layouts: tuple[Layout, ...]


def kinds(start: str = LINE) -> tuple[Kind, ...]:
    """Return every kind of line (or of prefix, or of cause)."""
    return tables().kinds[start]


def bare_kinds() -> tuple[Kind, ...]:
    """Return the kinds of line that also come without a logger prefix."""
    return tables().bare


def layouts() -> tuple[Layout, ...]:
    """Return the layouts of the bulk kinds; see :func:`trtforensics.parsers.grammar.layouts.layouts`."""
    return tables().layouts


@cache
def tables() -> Tables:
    """Return the tables, from the cache folder or freshly derived."""
    path = _path()
    found = _read(path) if path else None
    if found is None:
        found = derived()
        if path:
            _write(path, found)
    return found


def derived() -> Tables:
    """Compile the grammars, which takes about a second."""
    rules = {start: tuple(grammar.compile_rules(start)) for start in (LINE, PREFIX, CAUSE)}
    of_start = {start: tuple(rule.kind for rule in compiled) for start, compiled in rules.items()}
    return Tables(of_start, _named(of_start[LINE], grammar.bare_names()), tuple(reading.layouts(rules[LINE])))


def _named(found: Iterable[Kind], names: Iterable[str]) -> tuple[Kind, ...]:
    wanted = set(names)
    return tuple(kind for kind in found if kind.name in wanted)


def _path() -> str | None:
    """Return where the tables are kept; None for a user without a home."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - see grammar.py
    if not os.path.isabs(root):  # noqa: PTH117 - see grammar.py
        return None
    digest = sha256(b"".join(grammar.files().values()))
    for module in _DERIVE:
        with open(module, "rb") as file:  # noqa: PTH123 - see grammar.py
            digest.update(file.read())
    return os.path.join(root, "trtforensics", f"grammar-{digest.hexdigest()[:16]}.json")  # noqa: PTH118 - see grammar.py


def _read(path: str) -> Tables | None:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - see grammar.py
            table = json.load(file)
        of_start = {start: tuple(map(_kind, table["kinds"][start])) for start in (LINE, PREFIX, CAUSE)}
        by_name = {kind.name: kind for kind in of_start[LINE]}
        found = tuple(_layout(by_name[name], *row) for name, *row in table["layouts"])
        return Tables(of_start, _named(of_start[LINE], table["bare"]), found)
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None


def _write(path: str, found: Tables) -> None:
    table = {
        "kinds": {
            start: [(kind.name, kind.regex, kind.fields, kind.openers, kind.needle) for kind in own]
            for start, own in found.kinds.items()
        },
        "bare": [kind.name for kind in found.bare],
        "layouts": list(map(_row, found.layouts)),
    }
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - see grammar.py
        with open(temporary, "w", encoding="utf-8") as file:  # noqa: PTH123 - see grammar.py
            json.dump(table, file)
        os.replace(temporary, path)  # noqa: PTH105 - see grammar.py
    except OSError:
        return


def _kind(row: tuple[str, str, list[str], list[str], str]) -> Kind:
    name, regex, fields, openers, needle = row
    return Kind(name, regex, tuple(fields), tuple(openers), needle)


def _row(layout: Layout) -> tuple[Any, ...]:
    return (
        layout.kind.name,
        [(a.text.decode("latin-1"), a.offset, a.place, a.from_right, a.searched) for a in layout.anchors],
        [(s.content.name, s.fields, s.regex, s.terminal) for s in layout.segments],
        layout.separators,
        layout.closed,
        layout.first_byte.decode("latin-1"),
    )


def _layout(kind: Kind, anchors: list[Any], segments: list[Any], *rest: Any) -> Layout:  # noqa: ANN401 - what _row wrote
    separators, closed, first_byte = rest
    return Layout(
        kind,
        tuple([Anchor(text.encode("latin-1"), *place) for text, *place in anchors]),
        tuple([Segment(Content[content], tuple(fields), *more) for content, fields, *more in segments]),
        separators,
        closed,
        first_byte.encode("latin-1"),
    )
