"""Makes text safe for a terminal: no secrets, no control characters of the input, colour only if wanted."""

import os
import unicodedata
from typing import IO

from trtforensics.console.secrets import masked

TAB = "    "
_PICTURES = 0x2400

# Cc: controls; Cf: bidirectional and zero-width marks; Cs: lone surrogates; Zl, Zp: line and paragraph separators.
_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


class _Visible(dict[int, str]):
    """A table for ``str.translate``: ␞ for 0x1E. It fills itself as it meets new characters."""

    def __missing__(self, code: int) -> str:
        unsafe = unicodedata.category(chr(code)) in _UNSAFE
        picture = chr(_PICTURES + code) if code < ord(" ") else "\N{REPLACEMENT CHARACTER}"
        self[code] = picture if unsafe else chr(code)
        return self[code]


_VISIBLE = _Visible({ord("\t"): TAB, 0x7F: "␡"})


def visible(text: str) -> str:
    """Return the text with secrets masked, and every control, bidirectional and zero-width character made visible.

    A log may hold terminal escapes; none of them may reach the terminal.
    """
    text = masked(text)
    return text if text.isascii() and text.isprintable() else text.translate(_VISIBLE)


def wants_colour(stream: IO[str] | None) -> bool:
    """Whether a stream gets colour: never with NO_COLOR, always with FORCE_COLOR, else where it is a terminal.

    See https://no-color.org and https://force-color.org; where both are set, Python's own tools print no colour.
    """
    if stream is None or os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")
