"""The keys of every screen, as its help lists them: groups of keys, each with what it does."""

from __future__ import annotations

from importlib.resources import files
from itertools import groupby

Keys = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


def keys_of(screen: str) -> Keys:
    """Return the titles of a screen's groups, each with its keys and what they do; ``keys.tsv`` names the screens."""
    _, *lines = (files("trtforensics.tui") / "keys.tsv").read_text("utf-8").splitlines()
    rows = [
        (group, key, does)
        for screens, group, key, does in (line.split("\t") for line in lines)
        if screen in screens.split()
    ]
    return tuple((group, tuple(row[1:] for row in members)) for group, members in groupby(rows, key=lambda row: row[0]))
