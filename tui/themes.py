"""The themes of the TUI, and the file of the user that keeps the choice."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path

from textual.theme import Theme

from trtforensics.console.output import write_text
from trtforensics.errors import OutputError
from trtforensics.render.json_text import dumps

THEMES = tuple(Theme(**theme) for theme in json.loads((files("trtforensics.tui") / "themes.json").read_bytes()))
"""One for dark terminals, one for light ones, and one whose good and bad differ for every eye.

The third has the colours of Okabe and Ito, which people with each form of colour blindness tell apart: its good is sky
blue, not green.
"""

_KEY = "theme"


def settings_path(environment: os._Environ[str] = os.environ) -> Path:
    """Return the file of the settings: in ``$XDG_CONFIG_HOME``, or ``~/.config``; on Windows in ``%APPDATA%``."""
    home = environment.get("XDG_CONFIG_HOME") or environment.get("APPDATA") or Path.home() / ".config"
    return Path(home) / "trtforensics" / "tui.json"


def stored() -> str:
    """Return the name of the kept theme; the first one where none is kept or the file does not say one of ours."""
    try:
        settings = json.loads(settings_path().read_bytes())
    except (OSError, ValueError, RecursionError):
        settings = {}
    name = settings.get(_KEY) if isinstance(settings, dict) else None
    return name if name in {theme.name for theme in THEMES} else THEMES[0].name


def store(name: str) -> str:
    """Keep a theme for later sessions; return why that failed, or ""."""
    path = settings_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, dumps({_KEY: name}) + "\n")
    except OSError as error:
        return f"{path}: {error.strerror or error}"
    except OutputError as error:
        return str(error)
    return ""
