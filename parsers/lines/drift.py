"""Counts the lines that no rule reads by their shape, and keeps the first line of each shape as a sample.

A shape is the line with its numbers, ids and quoted names blanked out. A thousand lines of a new message of TensorRT
are so one entry, and a person sees at a glance which messages this tool does not know.
"""

from __future__ import annotations

import re

from trtforensics.console.secrets import masked
from trtforensics.model.log import UnknownShape

MAX_SAMPLES = 20
_MAX_SHAPES = 4096
_TEXT_LIMIT = 500
_SHAPE_LIMIT = 200
_MARGIN = 200
"""Bytes that are kept beyond those shown, so that a secret is masked before it is cut."""
_VARYING = re.compile(rb"0x[0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?|'[^']*'|\"[^\"]*\"|\{ForeignNode\[.*?\]\}")


class Drift:
    """Counts the shapes of unknown lines, in bounded memory: shapes beyond 4,096 share one entry."""

    def __init__(self) -> None:
        self._shapes: dict[bytes, list[int]] = {}
        self._texts: dict[bytes, bytes] = {}

    def add(self, line: int, body: bytes) -> None:
        """Note an unknown line."""
        shape = _VARYING.sub(b"#", body[:_TEXT_LIMIT])[:_SHAPE_LIMIT]
        if shape not in self._shapes and len(self._shapes) >= _MAX_SHAPES:
            shape = b""
        entry = self._shapes.setdefault(shape, [line, 0])
        entry[1] += 1
        self._texts.setdefault(shape, body[: _TEXT_LIMIT + _MARGIN])

    def join(self, other: Drift, shift: int) -> None:
        """Take over the shapes of the lines that follow, ``shift`` lines further down."""
        for shape, (line, count) in other._shapes.items():
            known = shape if shape in self._shapes or len(self._shapes) < _MAX_SHAPES else b""
            entry = self._shapes.setdefault(known, [line + shift, 0])
            entry[1] += count
            self._texts.setdefault(known, other._texts[shape])

    def __len__(self) -> int:
        return len(self._shapes)

    def samples(self) -> tuple[UnknownShape, ...]:
        """Return the most frequent shapes, most frequent first."""
        order = sorted(self._shapes.items(), key=lambda item: (-item[1][1], item[1][0]))
        return tuple(
            UnknownShape(line, masked(self._texts[shape].decode("utf-8", "replace"))[:_TEXT_LIMIT], count)
            for shape, (line, count) in order[:MAX_SAMPLES]
        )
