"""Regexes that are compiled when they are first used: a run uses few of all that there are, and each takes its time."""

from __future__ import annotations

import re
from functools import cached_property
from typing import AnyStr, Generic


class LateRegex(Generic[AnyStr]):
    """A regex by its text; ``compiled`` costs no more than an attribute from its second use on."""

    def __init__(self, text: AnyStr, flags: re.RegexFlag = re.NOFLAG) -> None:
        self._text: AnyStr = text
        self._flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[AnyStr]:
        """The compiled regex."""
        return re.compile(self._text, self._flags)


__all__ = ["LateRegex"]
