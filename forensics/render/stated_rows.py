"""What programs state in words of their own, told in few words: under each name the one number, or least and most."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from trtforensics.console.counting import grouped
from trtforensics.render.names import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.model.run import RunResult, StatedName
    from trtforensics.model.span import SourceSpan

    _Named = tuple[RunResult, StatedName]

_MEASURED = {"latency_ms", "gpu_compute_ms", "build_s"}
"""The results of a program that measures for itself."""
_MEAN = re.compile(r"average|\bavg|\bmean|overall")
_DIGITS = re.compile(r"(?<![A-Za-z@0-9.-])[0-9][0-9.]*")
_WHOLE = 100
"""From here on numbers are shown without decimals."""
_NAME = 40
_ROWS = 3
"""Rows of a table, and parts of a sum, that are shown."""
_SHOWN = 6
_PART = 0.01
"""The least part of a sum that is shown."""
_RANKS = (
    r"^(?=.*(?:fps|throughput|/s|per second))",
    r"latency|infer|^network|per image|batch time|speed|request|loop|took",
    r"accuracy|\bacc|ap[0-9@]|\bm?ap\b|wer|bleu|iou|psnr|recall|top|diff|similarity|cosine|ms?e\b",
    r"time|buil[dt]|load",
)
"""What most people look for first, by the key."""


class _Group(NamedTuple):
    rank: int
    is_mean: bool
    text: str
    span: SourceSpan


def figure(value: float) -> str:
    """Spell a number with three significant digits."""
    return f"{value:.0f}" if abs(value) >= _WHOLE else f"{value:.3g}"


def first_stated(results: Sequence[RunResult]) -> list[str]:
    """Return the first rate, time of inference and accuracy that a run states; none if it measured for itself."""
    told = "; ".join(group.text for group in _first(results, _groups(results)))
    return [f"stated: {told}"] if told else []


def stated_rows(results: Sequence[RunResult]) -> Iterator[tuple[str, SourceSpan]]:
    """Give what a run states besides the first, in the order of its lines, and the line of each."""
    told = _groups(results)
    first = _first(results, told)
    rest = sorted([group for group in told if group not in first], key=lambda group: group.rank)[:_SHOWN]
    yield from ((group.text, group.span) for group in sorted(rest, key=lambda group: group.span.line))


def _first(results: Sequence[RunResult], told: Sequence[_Group]) -> list[_Group]:
    if any(result.key in _MEASURED for result in results):
        return []
    of_rank = ([group for group in told if group.rank == rank] for rank in range(len(_RANKS)))
    first = [max(groups, key=lambda group: group.is_mean) for groups in of_rank if groups]
    return [group for group in first if group.rank < len(_RANKS) - 1] or first


def _groups(results: Sequence[RunResult]) -> list[_Group]:
    """Return the figures under each name; numbers in names do not tell them apart, nor do rows of a table."""
    named = [(result, result.stated) for result in results if result.stated is not None]
    whole = {(result.span, name.name) for result, name in named}
    parts = grouped(named, lambda each: (each[0].span, each[1].name.rpartition(": ")[0]))
    rest = [each for each in named if (each[0].span, each[1].name.rpartition(": ")[0]) not in whole]
    told = []
    for group in grouped(rest, _key).values():
        result, name = group[0]
        of_sum = parts.get((result.span, name.name))
        text = _of_sum(result, name, of_sum) if of_sum else _of_group(group)
        key = name.key.lower()
        rank = next((place for place, words in enumerate(_RANKS) if re.search(words, key)), len(_RANKS))
        told.append(_Group(rank, bool(_MEAN.search(key)), text, result.span))
    return told


def _key(named: _Named) -> tuple[str, str, bool]:
    return _DIGITS.sub("#", named[1].name).lower(), named[1].unit, not named[1].row


def _of_sum(result: RunResult, name: StatedName, parts: Sequence[_Named]) -> str:
    """Say what a figure is the sum of, the largest parts first."""
    whole = result.number or 0.0
    most = sorted(((each.number or 0.0, part) for each, part in parts), key=itemgetter(0), reverse=True)[:_ROWS]
    words = [
        f"{part.name.rpartition(': ')[2]} {figure(number)}"
        + (f" ({number / whole:.0%})" if part.unit == name.unit else f" {part.unit}".rstrip())
        for number, part in most
        if part.unit != name.unit or number >= _PART * whole > 0
    ]
    return f"{name.name} {figure(whole)} {name.unit}{': ' if words else ''}{', '.join(words)}"


def _unknown_unit(name: str) -> str:
    return "(unit not printed)" if re.search(r"(?i:latency|time|took|elapsed|duration)(?!.*\b[mun]?s\b)", name) else ""


def _of_group(group: Sequence[_Named]) -> str:
    """Say what the figures under a name are: of a table its first rows, of others the least and the most."""
    (_, stated), *_ = group
    name, unit = shortened(stated.name, _NAME), f" {stated.unit or _unknown_unit(stated.name)}".rstrip()
    values = [result.number or 0.0 for result, _ in group]
    if stated.row:
        rows = [f"{shortened(each.row, _NAME)} {figure(value)}" for (_, each), value in zip(group, values, strict=True)]
        rest = f" and {len(rows) - _ROWS} more" if len(rows) > _ROWS else ""
        return f"{name}{unit and f' in{unit}'}: {', '.join(rows[:_ROWS])}{rest}"
    low, high = figure(min(values)), figure(max(values))
    if low == high:
        return f"{name} {low}{unit}"
    first = f", first {figure(values[0])}" if values[0] in {min(values), max(values)} else ""
    return f"{_DIGITS.sub('N', name)} {low} to {high}{unit} ({len(values)} times{first})"
