"""Which messages a rule reads: the kinds of notes that its function asks for, as patterns of the grammar.

The kinds are found in the compiled function, so that no rule has to name them a second time.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from trtforensics.parsers.grammar import tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.rule import Rule


def kinds_read(rule: Rule) -> tuple[str, ...]:
    """Return the kinds of lines and causes that a rule asks for, in the order of the grammar."""
    named = set(_texts(rule.check, getattr(rule.check, "__module__", ""), set()))
    return tuple(kind for kind in tables.patterns() if kind in named)


def messages_read(rule: Rule) -> tuple[str, ...]:
    """Return the messages that a rule reads: ``<field>`` stands for what is captured, ``…`` for any text."""
    known = tables.patterns()
    return tuple(dict.fromkeys(pattern for kind in kinds_read(rule) for pattern in known[kind]))


def _texts(value: Any, module: str, seen: set[int]) -> Iterator[str]:  # noqa: ANN401 - constants are of any type
    """Give the texts that a function, or what it uses of its module, holds."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(tuple(value), module, seen)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for part in value:
            yield from _texts(part, module, seen)
    elif isinstance(value, CodeType):
        yield from _texts(value.co_consts, module, seen)
    elif isinstance(value, FunctionType) and id(value) not in seen and value.__module__ in {module, _MAKER}:
        seen.add(id(value))
        yield from _texts(value.__code__, module, seen)
        for cell in value.__closure__ or ():
            yield from _texts(cell.cell_contents, module, seen)
        for name in _names(value.__code__):
            yield from _texts(value.__globals__.get(name), module, seen)


_MAKER = "trtforensics.findings.rule"
"""The module whose functions make rules of kinds."""


def _names(code: CodeType) -> Iterator[str]:
    """Give the global names that code uses, nested functions included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
