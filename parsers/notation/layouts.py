"""Short words for the layouts that the engine inspector spells as sentences: ``linear``, ``CHW32``, ``HWC8``."""

from __future__ import annotations

import re
from functools import lru_cache

_WIDE = re.compile(r"(Two|Four|Sixteen|Thirty-two) wide channel vectorized row major", re.IGNORECASE)
_CHANNEL_MAJOR = re.compile(r"[Cc]hannel major .*?(?:channel % (\d+) == 0)?(?: with (\d) spatial dimensions)?\Z")
_LINEAR = re.compile(r"[Rr]ow major linear")
_WIDTHS = {"two": 2, "four": 4, "sixteen": 16, "thirty-two": 32}


@lru_cache(maxsize=1 << 12)
def short_layout(format_: str, components: int = 1) -> str:
    """Return a layout in a word; empty where the format is not printed or has no such word.

    ``format_`` is the inspector's sentence (``Thirty-two wide channel vectorized row major Int8 format``: ``CHW32``)
    or a log's short form, of which ``components`` tells the packing. The words are those of ``nvinfer1::TensorFormat``.
    """
    wide = _WIDE.search(format_)
    if wide:
        return f"CHW{_WIDTHS[wide[1].lower()]}"
    if _LINEAR.search(format_):
        return "linear"
    major = _CHANNEL_MAJOR.search(format_)
    if major:
        return f"{'D' if major[2] == '3' else ''}HWC{major[1] or ''}"
    return f"vec{components}" if components > 1 else ""
