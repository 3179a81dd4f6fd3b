"""What is kept of a source between sessions: its bookmarks with their notes, and where the user left it.

It stands beside the copied text, one file a source. Lines of the source are kept as digests, as they may hold secrets.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.render.json_text import dumps
from trtforensics.tui.user_files import copied_file, written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A line of the text, from 1, with a note. ``moved`` where another text stands there by now."""

    line: int
    note: str = ""
    moved: bool = False


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class KeptSource:
    """The file about one source; ``text`` returns a line of the source, None where there is none."""

    def __init__(self, source: str, text: Callable[[int], str | None]) -> None:
        path = Path(source).absolute()
        self._path = copied_file().parent / "sources" / f"{_digest(str(path))}.json"
        self._source, self._text = str(path), text
        try:
            kept = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            kept = {}
        kept = kept if isinstance(kept, dict) else {}
        place, marks = kept.get("place"), kept.get("bookmarks")
        self.place: Mapping[str, object] = place if isinstance(place, dict) else {}
        """Where the user left it, as :meth:`keep` took it."""
        self.bookmarks: dict[int, Bookmark] = {}
        self._digests: dict[int, str] = {}
        for mark in marks if isinstance(marks, list) else ():
            if isinstance(mark, dict) and isinstance(mark.get("line"), int):
                line, digest = mark["line"], str(mark.get("digest"))
                moved = digest != _digest(text(line) or "")
                self.bookmarks[line] = Bookmark(line, str(mark.get("note", "")), moved)
                self._digests[line] = digest

    def mark(self, line: int, note: str) -> None:
        """Bookmark a line, or give its bookmark another note."""
        self.bookmarks[line], self._digests[line] = Bookmark(line, note), _digest(self._text(line) or "")

    def keep(self, place: Mapping[str, object] | None = None) -> str:
        """Write the file, with another place if one is given; return why that failed, or ""."""
        self.place = self.place if place is None else place
        if not self.bookmarks and not self.place and not self._path.exists():
            return ""
        marks = [
            {"line": mark.line, "note": mark.note, "digest": self._digests[mark.line]}
            for mark in sorted(self.bookmarks.values(), key=lambda mark: mark.line)
        ]
        return written(self._path, dumps({"source": self._source, "place": self.place, "bookmarks": marks}), mode=0o700)
