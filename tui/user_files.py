"""Files of the user: the text that was copied last, and the chosen theme.

A terminal does not answer whether it took a copied text (OSC 52), so the file is written each time.
"""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

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
    try:
        settings = json.loads(settings_path().read_bytes())
    except (OSError, ValueError, RecursionError):
        settings = {}
    name = settings.get(_KEY) if isinstance(settings, dict) else None
    return name if name in {theme.name for theme in THEMES} else THEMES[0].name


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
