"""The lever over named switches: a probe's build gets the active names, one a line."""

import json
import os
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from trtforensics.bisection.search import Item
from trtforensics.bisection.session.lever import DescribedItem, Lever
from trtforensics.console.output import write_bytes
from trtforensics.errors import SourceError, UsageError
from trtforensics.parsers.text.document import read_document

_BLANK = b" \t\r"


class ItemsLever(Lever):
    """Names from a file; active ones are on."""

    mode = "items"
    placeholder = "items"
    file = "items.txt"

    def __init__(self, names: Sequence[str]) -> None:
        self.items = tuple(Item(name) for name in names)

    def content(self) -> object:
        """Return the names."""
        return [item.name for item in self.items]

    def describe(self, index: int) -> DescribedItem:
        """Return the name; on is bad."""
        return DescribedItem(self.items[index].name, sides={"good": {"active": False}, "bad": {"active": True}})

    def prepare(self, active: frozenset[int], folder: Path) -> Mapping[str, Path]:
        """Write the active names, one a line, in the file's order."""
        path = folder / self.file
        write_bytes(path, self._lines(active))
        return {self.placeholder: path}

    def fix(self, culprits: Sequence[frozenset[int]], folder: Path) -> Sequence[str]:
        """Write the names that may stay on, and the sets that may not be on together."""
        everything = frozenset(range(len(self.items)))
        write_bytes(folder / self.file, self._lines(everything.difference(*culprits)))
        sets = (b"# set %d\n%s" % (number, self._lines(members)) for number, members in enumerate(culprits, 1))
        write_bytes(folder / "culprits.txt", b"\n".join(sets))
        return ("items.txt: every item but the culprits", "culprits.txt: the sets that are bad together")

    def _lines(self, indexes: frozenset[int]) -> bytes:
        """Return names as they stood in the file they were read from, byte for byte."""
        return b"".join(os.fsencode(self.items[index].name) + b"\n" for index in sorted(indexes))


def read_items(path: str, *, max_bytes: int) -> ItemsLever:
    """Read the items of a file: a name a line, ``#`` comments and blank lines skipped.

    Names may hold any bytes; those that are no UTF-8 are kept as surrogates, as Python does in names of files.

    Raises:
        SourceError: the file cannot be read, or holds zero bytes.
        UsageError: it holds no name, or one twice.
    """
    data = read_document(path, max_bytes=max_bytes).data.removeprefix(BOM_UTF8)
    if b"\0" in data:
        raise SourceError(path, f"is no text in UTF-8 (byte {data.index(0)} is zero)", "Give names, one a line")
    lines = (os.fsdecode(line.strip(_BLANK)) for line in data.split(b"\n"))
    names = [line for line in lines if line and not line.startswith("#")]
    if not names:
        raise UsageError(path, "holds no items", "Give names, one a line")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice and _is_json(data):
        raise UsageError(path, "is JSON, no list of names", "Give a text with one name a line")
    if twice:
        raise UsageError(path, f"names {twice[0]!r} more than once", "Name each item once")
    return ItemsLever(names)


def _is_json(data: bytes) -> bool:
    """Whether a text is a document of JSON; names may begin with brackets too."""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True
