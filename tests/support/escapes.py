"""Reverses the escapes of characters that do not print, independently of the product."""

from __future__ import annotations

import re

_ESCAPED = re.compile(r"\\(?:\\|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")


def unescape(text: str) -> str:
    """Reverse ``escape``."""

    def character(match: re.Match[str]) -> str:
        digits = match[1] or match[2] or match[3]
        return chr(int(digits, 16)) if digits else "\\"

    return _ESCAPED.sub(character, text)
