"""What Python 3.10 lacks of what the product uses; each goes with it."""

from __future__ import annotations

import re
import sys
from enum import Enum
from typing import AnyStr

if sys.version_info >= (3, 11):
    from enum import StrEnum
else:

    class StrEnum(str, Enum):
        """An enum of texts that prints as its value."""

        __str__ = str.__str__
        __format__ = str.__format__


__all__ = ["StrEnum", "compiled", "flags_here"]

_FLAGS = ("ASCII", "DOTALL", "IGNORECASE", "MULTILINE")


def compiled(regex: AnyStr, flags: re.RegexFlag | int = 0) -> re.Pattern[AnyStr]:
    """Compile a regex that holds atomic groups or possessive quantifiers; ``flags`` are those of ``re``."""
    if sys.version_info >= (3, 11):
        return re.compile(regex, flags)
    import regex as newer  # noqa: PLC0415 - only there is it needed

    return newer.compile(regex, flags_here(flags))


def flags_here(flags: re.RegexFlag | int) -> int:
    """Return flags of ``re`` as the numbers that they have in what :func:`compiled` uses."""
    if sys.version_info >= (3, 11):
        return int(flags)
    import regex as newer  # noqa: PLC0415 - only there is it needed

    return sum(int(getattr(newer, name)) for name in _FLAGS if flags & getattr(re, name))
