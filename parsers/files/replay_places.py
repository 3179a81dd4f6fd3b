"""The JSON of a replay: its values, and where they stand."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from trtforensics.errors import NotAReplayError
from trtforensics.parsers.files.located_json import EVERYTHING, LocatedJson, Members
from trtforensics.parsers.text.document import values_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.model.replay import FieldPath, TextSpan

_ENTRIES = 2
"""The depth at which the entries of a replay lie."""
_MOST_LOCATED = 1 << 16
"""Values of a text whose every place is known: they take tens of megabytes."""
_LEAST_BYTES_A_MEMBER = 64
_LONGEST_KEY = 1 << 20
GIVE = "Give the file that Polygraphy's `--save-tactics` wrote"


class ReplayJson(LocatedJson):
    """A replay's text, read down to its entries, or further."""

    def __init__(self, text: str, file: str, depth: int = _ENTRIES) -> None:
        """Read the text.

        Raises:
            NotAReplayError: this is no JSON; it says where and what was expected.
        """
        super().__init__(text, file)
        self._file = file
        self._twice: list[str] = []
        self.repeated_below: dict[int, list[str]] = {}
        """Keys that stand twice somewhere in a value that was left to the json module, by the value's offset."""
        self.decoder = json.JSONDecoder(object_pairs_hook=self._joined)
        self.begin = self.skip(0)
        self.top, end = self.value(self.begin, depth)
        if self.skip(end) < len(text):
            raise self.missing(self.skip(end), "the end of the file")

    def refused(self, at: int, what: str, next_step: str) -> NotAReplayError:
        """Return the error for what stands at an offset."""
        return NotAReplayError(str(self.lines.place(at)), what, next_step)

    def check(self, members: Members, begin: int, end: int) -> None:
        """Refuse what no replay has.

        Raises:
            NotAReplayError: the object has more members than a replay of its size, or a key of a million characters.
        """
        last = members[-1]
        if members.is_object and len(str(last.key)) > _LONGEST_KEY:
            what = f"holds a name of {len(str(last.key)):,} characters, which no layer has"
            raise NotAReplayError(self._file, what, GIVE)
        if len(members) > _MOST_LOCATED and len(members) * _LEAST_BYTES_A_MEMBER > end - begin:
            what = f"an object begins with {len(members):,} members in {end - begin:,} characters, which no replay does"
            raise NotAReplayError(self._file, what, GIVE)
        if self._twice:
            self.repeated_below[last.at] = [*self._twice]
            self._twice.clear()

    def _joined(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            self._twice += (key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return value

    def has_repeated(self) -> bool:
        """Whether some object has a key twice."""
        return bool(self.repeated_below) or any(True for _ in self.repeated())

    def of(self, path: FieldPath) -> TextSpan:
        """Return the place of a value; of a missing value, the place of the container that should hold it."""
        value, at = self.top, self.begin
        for key in path:
            member = value.last.get(key) if isinstance(value, Members) else None
            if member is None:
                break
            value, at = member.value, member.at
        return self.lines.place(at)

    def key(self, path: FieldPath) -> TextSpan:
        """Return the place of the last of the keys of a path that is known."""
        value, at = self.top, self.begin
        for key in path:
            if not isinstance(value, Members) or key not in value.last:
                break
            _, at, value, _ = value.last[key]
        return self.lines.place(at)

    def repeated(self) -> Iterator[tuple[FieldPath, TextSpan]]:
        """Yield the keys that are repeated later in the same object, each with its own place, or with its entry's."""
        todo: list[tuple[FieldPath, Any]] = [((), self.top)]
        while todo:
            path, value = todo.pop()
            for member in value if isinstance(value, Members) else ():
                inside = (*path, member.key)
                if value.last[member.key] is not member:
                    yield inside, self.lines.place(member.key_at)
                else:
                    todo.append((inside, member.value))
                for name in self.repeated_below.get(member.at, ()):
                    yield (*inside, name), self.lines.place(member.key_at)


def locate(text: str, file: str) -> ReplayJson:
    """Read every place of a replay; of a large one, only the places of its entries.

    Raises:
        NotAReplayError: this is no JSON; it says where and what was expected.
    """
    return ReplayJson(text, file, EVERYTHING if values_in(text) <= _MOST_LOCATED else _ENTRIES)
