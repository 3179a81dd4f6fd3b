"""The keys of screens, lists and dialogs: rows of ``bindings.tsv``, by the class whose they are."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from textual.binding import Binding


@cache
def _rows() -> tuple[list[str], ...]:
    _, *lines = (files("trtforensics.tui") / "bindings.tsv").read_text("utf-8").splitlines()
    return tuple(line.split("\t") for line in lines)


def bound(owner: str) -> list[Binding]:
    """Return the keys of a class, those of the footer with how they are shown."""
    return [
        Binding(key, action, does, show="shown" in flags, priority="first" in flags, key_display=display or None)
        for each, key, action, does, display, flags in _rows()
        if each == owner
    ]
