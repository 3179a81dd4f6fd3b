"""Texts that leave the TUI: through the terminal's clipboard (OSC 52), and always in a file as well.

A terminal does not answer whether it took a text, so the file is written each time.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from trtforensics.console.output import write_text
from trtforensics.console.secrets import masked
from trtforensics.console.terminal import visible
from trtforensics.errors import OutputError

LONGEST = 74_000
"""Bytes of the longest text that is sent to the terminal: xterm takes 100,000 bytes of base64 at most, others less."""


@dataclass(frozen=True, slots=True)
class CopiedText:
    """A copied text, without secrets and control characters; whether the terminal gets it; what to tell the user."""

    text: str
    through_terminal: bool
    message: str


def copied_file(environment: os._Environ[str] = os.environ) -> Path:
    """Return the file of the last copied text: in ``$XDG_STATE_HOME``, or ``~/.local/state``."""
    home = environment.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "trtforensics" / "copied.txt"


def copy(text: str) -> CopiedText:
    """Mask a text's secrets, make its control characters visible, and write it to the file."""
    text = "\n".join(map(visible, masked(text).split("\n")))
    lines = text.count("\n") + 1
    what = f"{lines:,} lines" if lines > 1 else "1 line"
    fits = len(text.encode()) <= LONGEST
    path = copied_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_text(path, text + "\n")
    except OSError as error:
        place = f"not written to {path}: {error.strerror or error}"
    except OutputError as error:
        place = f"not written: {error}"
    else:
        place = f"it is in {path} too" if fits else f"it is in {path}"
    how = f"copied {what} to the terminal's clipboard" if fits else f"{what}: too long for a terminal's clipboard"
    return CopiedText(text, fits, f"{how}; {place}")
