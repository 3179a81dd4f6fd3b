"""Figures that do not depend on how a Python adds up: from 3.12 on, ``sum`` makes up for what was rounded off."""

from __future__ import annotations

import re

_LONG = re.compile(r"\d+\.\d{7,}(?:e-?\d+)?")


def rounded(text: str) -> str:
    """Return a text with six significant digits of each number that has more than six behind its point."""
    return _LONG.sub(lambda number: f"{float(number[0]):.6g}", text)
