"""Numbers of things and lengths of time, for people; things in groups."""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

MEBIBYTE = 1 << 20
_MINUTE = 60
_Item = TypeVar("_Item")
_Key = TypeVar("_Key", bound="Hashable")


_DECIMALS = ((0.01, 6), (0.1, 5), (1, 4), (10, 3), (100, 2))
"""Decimal places of a duration below each limit, in ms."""


def counted(number: int, noun: str) -> str:
    """Return ``1 layer``, ``3 layers``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(names: Sequence[str], most: int = 3, more: str = "more") -> str:
    """Return the first names, and how many more there are: ``a, b, c and 4 more``."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} {more}" if rest > 0 else "")


def head_lines(lines: Sequence[str], most: int, more: str = "more in result.json") -> list[str]:
    """Return the first of some lines, and one that says how many more there are."""
    rest = len(lines) - most
    return [*lines[:most], *([f"  and {rest} {more}"] if rest > 0 else [])]


def grouped(items: Iterable[_Item], key: Callable[[_Item], _Key]) -> dict[_Key, list[_Item]]:
    """Return things by their key, keys and things in the order in which they come."""
    groups: dict[_Key, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def unlike_parts(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the words that all texts begin with, and of each the ones that tell it apart, no numbers if others do."""
    words = [re.split(r"[\s/]+", text) for text in texts]
    first = next((at for at, each in enumerate(zip(*words, strict=False)) if len({*each}) > 1), min(map(len, words)))
    columns = [column for column in zip(*words, strict=False) if len({*column}) > 1]
    if columns and len({*map(len, words)}) == 1:
        named = [column for column in columns if all(re.search("[A-Za-z]{2}|^[A-Za-z]$", each) for each in column)]
        alone = [column for column in named if len({*column}) == len(column)]
        return words[0][:first], [" ".join(each) for each in zip(*(alone[:1] or named or columns), strict=True)]
    behind = [each[first:][::-1] for each in words]
    last = next((at for at, each in enumerate(zip(*behind, strict=False)) if len({*each}) > 1), min(map(len, behind)))
    return words[0][:first], [" ".join(each[first : len(each) - last]) for each in words]


def ranges(numbers: Iterable[int]) -> list[str]:
    """Spell numbers in ascending order, those in a row as one range: ``7``, ``211-215``."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ["-".join(map(str, run)) for run in runs]


def duration(seconds: float) -> str:
    """Return a time as ``1:02:03``."""
    minutes, rest = divmod(int(seconds), _MINUTE)
    hours, minutes = divmod(minutes, _MINUTE)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def milliseconds(value: float | None) -> str:
    """Spell a duration in ms with about four significant digits; ``-`` where the log has none."""
    if value is None:
        return "-"
    digits = next((digits for limit, digits in _DECIMALS if abs(value) < limit), 1)
    return f"{value:.{digits}f}"
