"""Bodies that differ in their digits only: whether all of them are of one kind.

Programs that share a file with TensorRT print numbers by the hundred thousand, and so do profiles. Most rules do not
ask which digit stands where: they hold ``[0-9]`` and no digit of their own. What such a rule says of one body it says
of every body with other digits in the same places, and for those that hold digits a look at their literals is enough
to say that they read none of these bodies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.parsers.grammar.grammar import Kind

DIGITS = b"0123456789"

_SAME = bytes.maketrans(DIGITS, DIGITS[:1] * len(DIGITS))


class DigitMinders:
    """Those of some kinds that mind digits, by what a body of theirs must hold."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        minding = [kind for kind in kinds if kind.minds_digits]
        literal = {opener for kind in minding if "" not in kind.openers for opener in kind.openers}
        self._openers = tuple(map(_same, literal))
        self._needles = [_same(kind.needle) for kind in minding if "" in kind.openers]

    def may_read(self, body: bytes) -> bool:
        """Whether one of them may read this body, or one with other digits."""
        body = body.translate(_SAME)
        return body.startswith(self._openers) or any(needle in body for needle in self._needles)


def _same(literal: str) -> bytes:
    return literal.encode("latin-1").translate(_SAME)
