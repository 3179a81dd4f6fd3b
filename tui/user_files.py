"""Files of the user: the text that was copied last, the chosen theme, and what is kept of each source.

A terminal does not answer whether it took a copied text (OSC 52), so the file is written each time. Beside it stands,
one file a source, what is kept of it between sessions: its bookmarks with their notes, and where the user left it.
Lines of the source are kept as digests, as they may hold secrets.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from textual.theme import Theme

from trtforensics.console.output import write_text
from trtforensics.console.secrets import masked
from trtforensics.console.terminal import visible
from trtforensics.errors import OutputError
from trtforensics.render.json_text import dumps

LONGEST = 74_000
"""Bytes of the longest text that is sent to the terminal: xterm takes 100,000 bytes of base64 at most, others less."""

THEMES = tuple(Theme(**theme) for theme in json.loads((files("trtforensics.tui") / "themes.json").read_bytes()))
"""One for dark terminals, one for light ones, and one whose good and bad differ for every eye.

The third has the colours of Okabe and Ito, which people with each form of colour blindness tell apart: its good is sky
blue, not green.
"""

_KEY = "theme"


class CopiedText(NamedTuple):
    """A copied text, without secrets and control characters; whether the terminal gets it; what to tell the user."""

    text: str
    through_terminal: bool
    message: str


def copied_file() -> Path:
    """Return the file of the last copied text: in ``$XDG_STATE_HOME``, or ``~/.local/state``."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "trtforensics" / "copied.txt"


def copy(text: str) -> CopiedText:
    """Mask a text's secrets, make its control characters visible, and write it to the file."""
    text = "\n".join(map(visible, masked(text).split("\n")))
    lines = text.count("\n") + 1
    what = f"{lines:,} lines" if lines > 1 else "1 line"
    fits = len(text.encode()) <= LONGEST
    path = copied_file()
    problem = written(path, text, mode=0o700)
    place = f"not written to {problem}" if problem else f"it is in {path} too" if fits else f"it is in {path}"
    how = f"copied {what} to the terminal's clipboard" if fits else f"{what}: too long for a terminal's clipboard"
    return CopiedText(text, fits, f"{how}; {place}")


def settings_path() -> Path:
    """Return the file of the settings: in ``$XDG_CONFIG_HOME``, or ``~/.config``; on Windows in ``%APPDATA%``."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.environ.get("APPDATA") or Path.home() / ".config"
    return Path(home) / "trtforensics" / "tui.json"


def kept_theme() -> str:
    """Return the name of the kept theme; the first one where none is kept or the file does not say one of ours."""
    name = _object_in(settings_path()).get(_KEY)
    return name if name in {theme.name for theme in THEMES} else THEMES[0].name


def _object_in(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; an empty one where there is none."""
    try:
        kept = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return kept if isinstance(kept, dict) else {}


def keep_theme(name: str) -> str:
    """Keep a theme for later sessions; return why that failed, or ""."""
    return written(settings_path(), dumps({_KEY: name}))


def written(path: Path, line: str, *, mode: int = 0o777) -> str:
    """Write a file; return which cannot be written and why, or ""."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=mode)
        write_text(path, line + "\n")
    except OSError as error:
        return f"{path}: {error.strerror or error}"
    except OutputError as error:
        return str(error)
    return ""


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
        kept = _object_in(self._path)
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
