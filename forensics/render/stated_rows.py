"""Figures that programs state in words of their own, summed up: under each name its number, or the least and most."""

import re
from collections.abc import Iterator, Sequence
from operator import itemgetter

from trtforensics.console.counting import grouped
from trtforensics.knowledge.table import rows
from trtforensics.model.run import RunResult, StatedName
from trtforensics.model.span import SourceSpan
from trtforensics.render.names import shortened

_Named = tuple[float, StatedName, SourceSpan]
_Group = tuple[int, bool, str, SourceSpan]

_MEASURED = {"latency_ms", "gpu_compute_ms", "build_s"}
"""The results of a program that measures for itself."""
_RANKS = [(int(row["rank"]), re.compile(row["pattern"])) for row in rows("stated_ranks", "trtforensics.render")]
"""What most people look for first: rates, times of inferences, accuracies, other times; by the key."""
_OTHER = len({rank for rank, _ in _RANKS}) - 1
_METRIC = re.compile(
    r"(?:(?<=[_ ])(?:precision|recall|m?ap(?:50)?(?:[_-]?(?:50[_-])?95)?|accuracy|f1))$", re.IGNORECASE
)
"""What a name ends with that has others of its kind beside it."""
_SHIFT, _SAME = 0.005, 5
"""From which change of precision and recall on they moved; how many times smaller that of the AP must be."""
_MEAN = re.compile(r"average|\bavg|\bmean|overall")
_DIGITS = re.compile(r"(?<![A-Za-z@0-9.-])[0-9][0-9.]*")
_TIME = re.compile(r"(?i:latency|time|took|elapsed|duration)(?!.*\b[mun]?s\b)")
_NAME, _SHOWN, _ROWS = 40, 10, 4
"""Characters of a name, names, and rows of a table or parts of a sum that are shown."""
_STEP, _LEAST = 1.06, 12
"""How far values of one level lie apart at most, and what part of all (one of so many) a level has at least."""
_STATISTIC = re.compile(r"(?i:(?:.*summary: )?(?:min|max|mean|median|average|avg|std(?:dev)?|p[0-9]{2}))")
"""A name that does not say of what it is."""
_STEP_NAME = re.compile(r"(?i:\b(?:pre|post)[-_ ]?process\w*|\binfer(?:ence)?\b|^[^:]+: (?=total\b))")
"""What tells times apart that are parts of one: a step of the inference, the heading of a total."""
_WHOLE = 100
"""From here on numbers are shown without decimals."""
_TIMES = 1.2
"""From here on it is said how many times apart figures of a name are."""
_PART = 0.01
"""The least part of a sum that is shown."""


def figure(value: float) -> str:
    """Spell a number with three significant digits."""
    return f"{value:.0f}" if abs(value) >= _WHOLE else f"{value:.3g}"


def first_stated(results: Sequence[RunResult]) -> list[str]:
    """Return the first rate, time of inference and accuracy that a run states; none if it measured for itself."""
    texts = "; ".join(text for _, _, text, _ in _first(results, _groups(results)))
    return [f"stated: {texts}"] if texts else []


def stated_rows(results: Sequence[RunResult]) -> list[tuple[str, SourceSpan]]:
    """Return what a run states besides the first, in the order of its lines, and the line of each."""
    groups = _groups(results)
    first = _first(results, groups)
    rest = sorted([group for group in groups if group not in first], key=itemgetter(0))[:_SHOWN]
    return [*((text, span) for _, _, text, span in sorted(rest, key=lambda group: group[3].line)), *_shares(results)]


def _shares(results: Sequence[RunResult]) -> Iterator[tuple[str, SourceSpan]]:
    """Say what part of their sum the steps of an inference take, or totals under different headings."""
    parts: dict[tuple[str, str], dict[str, list[tuple[float, SourceSpan]]]] = {}
    for each in results:
        if each.stated and each.number and (part := _STEP_NAME.search(each.stated.name)):
            key = _STEP_NAME.sub("", each.stated.name.partition(" per image")[0]).strip(), each.stated.unit
            parts.setdefault(key, {}).setdefault(part[0].strip(": "), []).append((each.number, each.span))
    for (name, unit), values in parts.items():
        sums = {part: sum(number for number, _ in figures) for part, figures in values.items()}
        (_, span), *further = next(iter(values.values()))
        is_told = len(values) > 1 and len({*map(len, values.values())}) == 1
        if is_told and unit.endswith(("s", "ec", "seconds")):
            words = ", ".join(f"{part} {number / sum(sums.values()):.0%}" for part, number in sums.items())
            often = " on average" if further else ""
            whole = sum(sums.values()) / (len(further) + 1)
            yield f"{name} of {figure(whole)} {unit} together{often}: {words}".strip(), span


def _first(results: Sequence[RunResult], groups: Sequence[_Group]) -> list[_Group]:
    measured = any(result.key in _MEASURED for result in results)
    ranks = [[] if measured else [group for group in groups if group[0] == rank] for rank in range(_OTHER)]
    best = [(max(of_rank, key=itemgetter(1)), of_rank) for of_rank in ranks if of_rank]
    first = [group for one, all_ in best for group in all_ if _bare(group) == _bare(one)][:_ROWS]
    return [group for group in first if group[0] < _OTHER - 1] or first


def _bare(group: _Group) -> str:
    """Return what a figure is called below any heading."""
    return _DIGITS.sub("", group[2]).rpartition(": ")[2]


def _groups(results: Sequence[RunResult]) -> list[_Group]:
    """Return the figures under each name; numbers in names do not tell them apart, nor do rows of a table."""
    named = [(each.number or 0.0, each.stated, each.span) for each in results if each.stated is not None]
    parts = grouped(named, lambda each: (each[2], each[1].name.rpartition(": ")[0]))
    sums = {(span, name.name) for _, name, span in named if len(parts.get((span, name.name), ())) > 1}
    rest = [each for each in named if (each[2], each[1].name.rpartition(": ")[0]) not in sums]
    groups, families = [], grouped(rest, lambda each: (_METRIC.sub("", each[1].name), each[1].row)).items()
    kin = {family: each for (family, _), each in families if family and len({name.name for _, name, _ in each}) > 1}
    kin = {family: each for family, each in kin.items() if len(each) == len({name.name for _, name, _ in each})}
    for family, each in kin.items():
        values = ", ".join(f"{name.name[len(family) :].strip(' _')} {figure(value)}" for value, name, _ in each)
        groups.append((_OTHER - 1, False, f"{family.strip(' _:')}: {values}{_moved(each)}", each[0][2]))
    together = {id(each) for of_family in kin.values() for each in of_family}
    rest = [each for each in rest if id(each) not in together]
    for group in grouped(rest, lambda each: (_DIGITS.sub("#", each[1].name).lower(), each[1].unit)).values():
        (_, name, span), *others = group
        if _STATISTIC.fullmatch(name.name) and any(other != span for *_, other in others):
            continue  # of several quantities, whose names are not read
        of_sum = [each for each in group if (each[2], each[1].name) in sums]
        ends = [_of_sum(*each[:2], parts[each[2], each[1].name]) for each in [*of_sum[:1], *of_sum[1:][-1:]]]
        key = name.key.lower()
        rank = next(rank for rank, words in _RANKS if words.search(key))
        groups.append((rank, _MEAN.search(key) is not None, ", last ".join(ends) or _of_group(group), span))
    return groups


def _moved(family: Sequence[_Named]) -> str:
    """Say what differences of detection's figures mean where only precision and recall changed, in opposite ways."""
    change = {name.name.rpartition("_")[2]: value for value, name, _ in family if "minus" in name.name}
    precision, recall, ap = (change.get(name, 0.0) for name in ("precision", "recall", "map50"))
    moved = precision * recall < 0 and min(abs(precision), abs(recall)) > _SHIFT > _SAME * abs(ap)
    return ": a shift of the operating point, while the AP is the same" * moved


def _of_sum(whole: float, name: StatedName, parts: Sequence[_Named]) -> str:
    """Say what a figure is the sum of, the largest parts first."""
    most = sorted(parts, key=itemgetter(0), reverse=True)[:_ROWS]
    known = [(number, part) for number, part, _ in most if part.unit == name.unit and number >= _PART * whole > 0]
    words = [f"{part.name.rpartition(': ')[2]} {figure(number)} ({number / whole:.0%})" for number, part in known]
    return f"{name.name} {figure(whole)} {name.unit}{': ' if words else ''}{', '.join(words)}"


def _apart(group: Sequence[_Named]) -> str:
    """Say how many times the least figure of a time or a rate the largest is."""
    numbers = [number for number, *_ in group if number > 0]
    ratio = max(numbers) / min(numbers) if len(numbers) == len(group) else 1.0
    is_speed = re.fullmatch(r"[nuµm]?s(?:ec\w*)?|\S+/s\w*|(?i:fps|qps)", group[0][1].unit) is not None
    return f" (up to {ratio:.2g} times apart)" if is_speed and ratio >= _TIMES else ""


def _levels(values: Sequence[float]) -> str:
    """Return the few levels that values of a measurement lie on, with how many on each; nothing if they do not."""
    steps: list[list[float]] = []
    for value in sorted(values):
        if steps and value <= _STEP * steps[-1][-1]:
            steps[-1].append(value)
        else:
            steps.append([value])
    alike = all(len(step) * _LEAST >= len(values) and step[-1] <= _STEP * step[0] for step in steps)
    is_stepped = 1 < len(steps) <= _ROWS and len(values) >= 2 * _LEAST and alike
    return ", ".join(f"{figure(step[len(step) // 2])} ({len(step)} times)" for step in steps) if is_stepped else ""


def _of_group(group: Sequence[_Named]) -> str:
    """Say what the figures under a name are: of a table its first rows, of others each, or the least and the most."""
    (_, stated, _), *_ = group
    unit = f" {stated.unit or ('(unit not printed)' if _TIME.search(stated.name) else '')}".rstrip()
    values, name = [figure(value) for value, *_ in group], shortened(stated.name, _NAME)
    if stated.row:
        cells = [f"{shortened(each.row, _NAME)} {value}" for (_, each, _), value in zip(group, values, strict=True)]
        rest = f" and {len(cells) - _ROWS} more" if len(cells) > _ROWS else ""
        return f"{name}{unit and f' in{unit}'}: {', '.join(cells[:_ROWS])}{rest}"
    if len({*values}) == 1 or len(values) <= _ROWS:
        return f"{name} {', '.join(values if len({*values}) > 1 else values[:1])}{unit}{_apart(group)}"
    if levels := _levels([value for value, *_ in group]):
        return f"{_DIGITS.sub('N', name)} in steps, {levels}{unit}, as by the clock or the power mode"
    low, high = (figure(end(group, key=itemgetter(0))[0]) for end in (min, max))
    first = f", first {values[0]}" if values[0] in {low, high} else ""
    last = f", last {values[-1]}" if values[-1] not in {low, high} and "acc" in name.lower() else ""
    return f"{_DIGITS.sub('N', name)} {low} to {high}{unit} ({len(values)} times{first}{last})"
