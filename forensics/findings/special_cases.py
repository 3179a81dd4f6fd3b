"""Special cases of a rule: what the log says elsewhere decides which of its causes holds, and what mends that."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from math import isqrt, prod
from typing import NamedTuple

from trtforensics.findings.case import LoggedBuild
from trtforensics.findings.versions import Version
from trtforensics.knowledge.periods import dotted, told_of
from trtforensics.knowledge.platforms import stack_of
from trtforensics.knowledge.table import release

_ABOVE, _BELOW = 150, 40
"""Lines around a finding's first line in which its circumstances stand."""
_compiled = cache(re.compile)  # they are more than "re" keeps
_VALUE = re.compile(r"\{(\w+)\}")
_OF_VERSIONS = ("since", "before")
_OF_JETSON = re.compile(r"jetson|jetpack|tegra|orin\b|xavier", re.IGNORECASE)
"""Words of machines whose CUDA comes with the system."""


class SpecialCase(NamedTuple):
    """A special case: it holds where each term does. Groups of their patterns are values that the texts name."""

    terms: tuple[tuple[str, str], ...]  # the fact, with "not " where it must not hold, and the pattern or release
    cause: str
    fix: str
    alone: bool = False  # it names the cause by itself, and follows from no other finding
    title: str = ""
    settle: str = ""
    lines: tuple[int, ...] = ()  # those of the facts, from 1, in which what holds was found


def terms_of(text: str) -> tuple[tuple[str, str], ...]:
    """Read terms: ``line: PATTERN; not log: PATTERN; since: 8.6``."""
    return tuple((fact, pattern) for fact, _, pattern in (term.partition(": ") for term in text.split("; ")))


def lines_around(line: int, last: int) -> range:
    """Return the lines around one of a file that has so many lines."""
    return range(max(1, line - _ABOVE), min(last, line + _BELOW) + 1)


def special(cases: Sequence[SpecialCase], about: LoggedBuild, line: str, around: str) -> SpecialCase | None:
    """Return the first special case that holds, with its values; None where none does.

    ``line`` is the title of the finding with the lines that it cites, ``around`` what stands near its first line.
    """
    if not cases:
        return None
    build = about.build
    version = Version.of(build)
    numbers = None if version is None or version.rtx else version.numbers
    facts = {
        **dict.fromkeys(("gone", "deprecated"), ""),
        "package": told_of(around, None).get("package", ""),
        **told_of(line, numbers),
        "python": _python(line, around),
        "reshaped": _reshaped(line),
        "line": line,
        "log": around,
        "command": build.command or "",
        "program": about.program,
        "stack": "" if numbers is None or _OF_JETSON.search(around) else _stack(numbers, around),
    }
    for case in cases:
        values: dict[str, str] = {}
        lines: set[int] = set()
        for fact, pattern in case.terms:
            name = fact.removeprefix("not ")
            if name in _OF_VERSIONS:
                holds = version is not None and version.has(**{name: pattern})
            else:
                match = _compiled(pattern).search(facts[name])
                holds = match is not None
                lines |= {facts[name].count("\n", 0, match.start()) + 1} if match else set()
                values |= {group: text.strip() for group, text in match.groupdict("").items()} if match else {}
            if holds is not (name == fact):
                break
        else:
            cause, fix, title = (_filled(text, values) for text in (case.cause, case.fix, case.title))
            return case._replace(cause=cause, fix=fix, title=title, lines=(*sorted(lines),))
    return None


def _stack(numbers: tuple[int, ...], around: str) -> str:
    """Return the CUDA, cuDNN and driver of a release in words; empty for a release that is not known."""
    stacks = stack_of(numbers, "SBSA" if "sbsa" in around or "aarch64" in around else "x86-64")
    return f"TensorRT {dotted(numbers)} is made for {stacks[0].words}" if stacks else ""


_WHEEL = re.compile(r"tensorrt(?:[_-]\w+)*==(\d+\.\d+(?:\.\d+)?)")
_PYTHON = re.compile(r"(?i:python[ -]?)(3\.\d\d?)\b")


def _python(line: str, around: str) -> str:
    """Say for which Python the wheel that is asked for is made, where another is named."""
    wheel, here = _WHEEL.search(line), _PYTHON.search(around)
    for stack in stack_of(release(wheel[1])) if wheel and here else ():
        least, _, most = stack.python.partition("-")
        if here and most and not release(least) <= release(here[1]) <= release(most):
            return f"TensorRT {dotted(stack.release)} has wheels for Python {least} to {most}, and here is {here[1]}"
    return ""


_RESHAPED = re.compile(r"array (?:of size|from(?: the)? shape) \(?([\d, ]+)\)? into shape \((?!.*newaxis)([\d, ]+)\)")


def _reshaped(line: str) -> str:
    """Say how an array that is cut into another shape would fit: as other channels, rows, grid or batch, or in part."""
    cut = _RESHAPED.search(line)
    _, sizes = first = [[int(size) for size in re.findall(r"\d+", side)] for side in cut.groups()] if cut else ([], [0])
    count, whole = map(prod, first)
    if not count * whole or count == whole:
        return "equal" * (whole > 0)
    if whole == count * sizes[0] and sizes[0] == sizes[1]:
        return f"twice {sizes[0]}"
    if whole % count == 0 or count % whole == 0:
        return f"part 1/{whole // count}" if whole > count else f"batch {count // whole}"
    if sizes[3:] and count * sizes[1] % whole == 0:
        return f"channels {count * sizes[1] // whole} for {sizes[1]}"
    side = isqrt(count // prod(sizes[:2]))
    is_grid = sizes[3:] and side * side * prod(sizes[:2]) == count
    return f"grid {side} x {side}" if is_grid else f"rows {count // sizes[-1]}" * (count % sizes[-1] == 0)


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _VALUE.sub(lambda match: values.get(match[1], match[0]), text)
