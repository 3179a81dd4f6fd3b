"""Fields that are computed on first access, and regexes that are compiled on first use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, AnyStr, cast


class Deferred:
    """A base of dataclasses with slots: some fields of an instance may be left to be computed on first access.

    What computes them serves many instances: it has a sequence under each field's name, and every instance knows its
    place in these sequences.
    """

    __slots__ = ("_place", "_source")

    def defer(self, names: Iterable[str], source: object, place: int) -> None:
        """Leave these fields to ``source``, replacing what the constructor was given for them."""
        self._source, self._place = source, place
        for name in names:
            delattr(self, name)

    if not TYPE_CHECKING:  # else a type checker would take any name for a field

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any field
            if name not in self.__dataclass_fields__:
                message = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(message)
            value = getattr(self._source, name)[self._place]
            setattr(self, name, value)
            return value

    def __getstate__(self) -> tuple[None, dict[str, object]]:
        """Return every field, for pickle: the source stays behind."""
        names: Iterable[str] = type(self).__dataclass_fields__  # type: ignore[attr-defined]  # its subclasses have it
        return None, {name: getattr(self, name) for name in names}


class DeferredRegex:
    """Stands for a compiled regex. What was asked of it once is kept, so that the next use costs no call."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._arguments = text, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute of a compiled regex
        compiled: re.Pattern[Any] = re.compile(*self._arguments)
        self.__dict__.update({each: getattr(compiled, each) for each in dir(compiled) if not each.startswith("_")})
        return getattr(compiled, name)


def regex(text: AnyStr, flags: re.RegexFlag | int = 0) -> re.Pattern[AnyStr]:
    """Return a regex that is compiled when it is first used: of all that a command knows, a log asks for a few."""
    return cast("re.Pattern[AnyStr]", DeferredRegex(text, flags))
