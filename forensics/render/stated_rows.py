"""Figures that programs state in words of their own, summed up: under each name its number, or the least and most."""

import re
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from statistics import median

from trtforensics.console.counting import counted, grouped, listed, unlike_parts
from trtforensics.knowledge.table import rows
from trtforensics.model.deferred import regex
from trtforensics.model.run import RunResult, StatedName
from trtforensics.model.span import SourceSpan
from trtforensics.parsers.notation.sides import is_apart, is_steady, side_of
from trtforensics.render.names import shortened

_Named = tuple[float, StatedName, SourceSpan]
_Group = tuple[int, bool, str, SourceSpan]

_MEASURED = {"latency_ms", "gpu_compute_ms", "build_s"}
"""The results of a program that measures for itself."""
_RANKS = [(int(row["rank"]), regex(row["pattern"])) for row in rows("stated_ranks", "trtforensics.render")]
"""What most people look for first: rates, times of inferences, accuracies, other times; by the key."""
_FORMS = {row["what"]: regex(row["pattern"]) for row in rows("stated_forms", "trtforensics.render")}
"""What names say: a mean, a rate, a step of an inference, a whole, a first call."""
_OTHER = len({rank for rank, _ in _RANKS}) - 1
_NAME, _SHOWN, _ROWS = 40, 10, 4
"""Characters of a name, names, and rows of a table or parts of a sum that are shown."""
_FIRST, _HOLDS = 1.3, "as of warm-up, building or loading"
"""How many times the median a first figure is that is named; what is said of one far from the others."""
_LABELS, _SEVERAL, _SHORT = 10, 3, 24
"""Labels that are all shown, of how many the nearest are; characters of one that is shown whole."""
_STEP, _LEAST = 0.1, 5
"""What part values of one level are from the one before at most, and how many it has at least."""
STATED = {row["what"]: row["pattern"] for row in rows("stated", "trtforensics.parsers.builds")}
_STATISTIC = regex(f"(?:.*summary: )?{STATED['statistic']}", re.IGNORECASE)
"""A name that does not say of what it is."""
_OF_MANY = regex(rf"(?i)\b(?:{STATED['statistic']}|best|overall|latency)\b")
"""What is measured often."""
_ACCURACY = regex(STATED["accuracy"].replace("|\\b[WC]ER\\b", ""))
_SIDE = regex(STATED["side"])
"""What is compared with another on the same input: a type, a framework."""
_REFERENCE, _OPTIMIZED = (regex(STATED[what]) for what in ("reference", "optimized"))
"""What a comparison is measured by, and what it is not."""
_WHOLE, _NEARLY, _PART, _ROUNDED = 100, 0.9995, 0.01, 0.03
"""Numbers from the first on are shown without decimals, those from the second to 1 with more. Parts below the third are
not told. What parts add up to may be smaller than their whole by the fourth."""
_UNTOLD = "not told"  # what ran
_TIMES, _ALIKE, _LOST, _DOUBTED = 1.2, 1.1, 0.002, 20
"""From here on it is said how many times apart figures of a name are; below, that they are alike; a part of an accuracy
that is lost; from where on a first call may be among them."""


def figure(value: float) -> str:
    """Spell a number with three significant digits, one that is nearly 1 with more."""
    return f"{value:.0f}" if abs(value) >= _WHOLE else f"{value:.{6 if _NEARLY <= value < 1 else 3}g}"


def first_stated(results: Sequence[RunResult]) -> list[str]:
    """Return the first rate, time of inference and accuracy that a run states; none if it measured for itself."""
    texts = "; ".join(text for _, _, text, _ in _first(results, _groups(results)))
    return [f"stated: {texts}"] if texts else []


def stated_rows(results: Sequence[RunResult]) -> list[tuple[str, SourceSpan]]:
    """Return what a run states besides the first, in the order of its lines, and the line of each."""
    groups = _groups(results)
    first = _first(results, groups)
    rest = sorted([group for group in groups if group not in first], key=itemgetter(0))[:_SHOWN]
    more = len(groups) - len(first) - len(rest)
    rest = sorted(rest, key=lambda group: group[3].line)
    rest += [(0, False, f"and {counted(more, 'more figure')}", rest[-1][3])] if more else []
    return [*((text, span) for *_, text, span in rest), *_conclusions(results)]


def _conclusions(results: Sequence[RunResult]) -> Iterator[tuple[str, SourceSpan]]:
    """Say what part each step of a work is of their sum."""
    named = [(each.number, each.stated, each.span) for each in results if each.stated and each.number]
    times = [each for each in named if _is_time(each[1]) and not each[1].row]
    steps = grouped(
        [(part[0].lower(), each) for each in times if (part := _FORMS["step"].search(each[1].name))],
        lambda each: (
            *(each[1][1].side, _FORMS["step"].sub("", each[1][1].name.partition(" per image")[0]).strip()),
            each[1][1].unit,
        ),
    )
    for (side, name, unit), values in steps.items():
        yield from _parts(": ".join(filter(None, (side, name))), unit, grouped(values, itemgetter(0)))
    alike = grouped(
        (each for each in named if _is_time(each[1])), lambda each: (each[1].side, each[1].group, each[1].unit)
    )
    for block in alike.values():
        yield from _of_total({name.row or name.name: number for number, name, _ in block}, block[-1][2])


def _of_total(times: dict[str, float], span: SourceSpan) -> Iterator[tuple[str, SourceSpan]]:
    """Say what part of a total the times beside it are, where they are all of it."""
    totals = [name for name in times if _FORMS["whole"].search(name)]
    whole = times.pop(totals[0]) if len(totals) == 1 else 0
    is_all = len(times) > 1 and abs(sum(times.values()) - whole) <= _ROUNDED * whole
    if is_all and not all(map(_FORMS["step"].search, times)):
        parts = sorted(times, key=times.__getitem__, reverse=True)
        yield f"{totals[0]} is made of {listed([f'{part} {times[part] / whole:.1%}' for part in parts], _ROWS)}", span


def _parts(
    name: str, unit: str, values: Mapping[str, Sequence[tuple[str, _Named]]]
) -> Iterator[tuple[str, SourceSpan]]:
    """Say what part of their sum each of some times is."""
    columns = [[each for _, each in figures] for figures in values.values()]
    if len(columns) < 2 or len({*map(len, columns)}) > 1:  # noqa: PLR2004 - a part of something
        return
    totals = [sum(number for number, *_ in row) for row in zip(*columns, strict=True)]
    if is_apart(totals):
        columns = [column[1:] for column in columns]
    sums = {part: sum(number for number, *_ in each) for part, each in zip(values, columns, strict=True)}
    whole, often = sum(sums.values()), " on average" * (len(totals) > 1)
    count, later = len(columns[0]), " after the first" * (len(columns[0]) < len(totals))
    words = ", ".join(f"{part} {number / whole:.0%}" for part, number in sums.items())
    yield f"{name} of {figure(whole / count)} {unit} together{often}{later}: {words}".strip(), columns[0][0][2]


def _is_rate(name: StatedName) -> bool:
    return _FORMS["rate"].search(name.unit or name.name) is not None


def _is_time(name: StatedName) -> bool:
    return name.unit.endswith(("s", "ec", "second")) and name.unit != "bytes"


def _is_apart(name: StatedName, values: Sequence[float]) -> bool:
    return (_is_rate(name) or _is_time(name)) and is_apart(values, is_rate=_is_rate(name))


def _first(results: Sequence[RunResult], groups: Sequence[_Group]) -> list[_Group]:
    measured = any(result.key in _MEASURED for result in results)
    ranks = [[] if measured else [group for group in groups if group[0] == rank] for rank in range(_OTHER)]
    first = [max(of_rank, key=itemgetter(1)) for of_rank in ranks if of_rank][:_ROWS]
    return [group for group in first if group[0] < _OTHER - 1] or first


def _groups(results: Sequence[RunResult]) -> list[_Group]:
    """Return the figures under each name; numbers in names do not tell them apart, nor do rows of a table."""
    named = [(each.number or 0.0, each.stated, each.span) for each in results if each.stated is not None]
    parts = grouped(named, lambda each: (each[2], each[1].name.rpartition(": ")[0]))
    sums = {(span, name.name) for _, name, span in named if len(parts.get((span, name.name), ())) > 1}
    groups = list[_Group]()
    for group in _quantities([each for each in named if (each[2], each[1].name.rpartition(": ")[0]) not in sums]):
        (_, name, span), *others = group
        is_of_many = _STATISTIC.fullmatch(name.name) and any(other != span for *_, other in others)
        if is_of_many and not (name.side or _labels(group)):
            continue  # of several quantities, whose names are not read
        of_sum = [each for each in group if (each[2], each[1].name) in sums]
        ends = [_of_sum(*each[:2], parts[each[2], each[1].name]) for each in [*of_sum[:1], *of_sum[1:][-1:]]]
        key = name.key.lower()
        rank = next(rank for rank, words in _RANKS if words.search(key))
        groups.append((rank, _FORMS["mean"].search(key) is not None, ", last ".join(ends) or _of_group(group), span))
    return groups


def _quantities(named: Sequence[_Named]) -> Iterator[list[_Named]]:
    """Give the figures of each name; by their titles where each of a few has several."""
    of_name = grouped(
        named,
        lambda each: (
            each[1].name if each[1].row else _FORMS["digits"].sub("#", each[1].name).lower(),
            each[1].unit,
            bool(each[1].row),
        ),
    )
    for group in of_name.values():
        titles = grouped(group, lambda each: each[1].group)
        has_sides = any(name.side for _, name, _ in group)
        yield from titles.values() if len(titles) <= _LABELS and not has_sides and not _labels(group) else [group]


def _of_sum(whole: float, name: StatedName, parts: Sequence[_Named]) -> str:
    """Say what a figure is the sum of, the largest parts first."""
    most = sorted(parts, key=itemgetter(0), reverse=True)[:_ROWS]
    known = [(number, part) for number, part, _ in most if part.unit == name.unit and number >= _PART * whole > 0]
    words = [f"{part.name.rpartition(': ')[2]} {figure(number)} ({number / whole:.0%})" for number, part in known]
    return f"{name.name} {figure(whole)} {name.unit}{': ' if words else ''}{', '.join(words)}"


def _of_sides(name: StatedName, unit: str, sides: Mapping[str, Sequence[_Named]], *, is_one: bool = False) -> str:
    """Spell figures by what ran, of many the median, of unlike ones the ends; say how much faster the best is."""
    words, cited = [], ""
    for side, ((first, _, span), *rest) in sides.items():
        if side != _UNTOLD and _is_apart(name, [first, *(value for value, *_ in rest)]):
            cited += f" ({side} first {figure(first)}, line {span.line}, {_HOLDS})"
            sides = {**sides, side: rest}
    for side, each in sides.items():
        values = [value for value, *_ in each]
        is_usual = side != _UNTOLD and is_steady(values)
        texts = [*dict.fromkeys(map(figure, [median(values)] if is_usual else values))]
        ends = f"{figure(min(values))} to {figure(max(values))}"
        words.append(f"{shortened(side, _NAME)} {', '.join(texts) if len(texts) <= _ROWS else ends}".strip())
    title = shortened(name.name, _NAME)
    title = _FORMS["digits"].sub("N", title) if max(map(len, sides.values())) > 1 else title
    by_size = grouped((side for side in sides if side != _UNTOLD and not is_one), lambda side: side.partition(", ")[2])
    said = [_quotient(name, {side: sides[side] for side in of_size}) for of_size in by_size.values()]
    return f"{title}{unit and f' in{unit}'}: {', '.join(words)}{''.join(said)}{cited}"


def _gain(name: StatedName, sides: Mapping[str, Sequence[_Named]]) -> tuple[str, str, str, list[float]] | None:
    """Return which of some sides is best, how it stands to the one that it is measured by, and by how much.

    Of accuracies that is the one that loses most.
    """
    usual = {side: median(value for value, *_ in each) for side, each in sides.items()}
    low, high = (min(usual.values()), max(usual.values())) if usual else (0, 0)
    is_rate, is_accuracy = _is_rate(name), _ACCURACY.search(name.name) is not None
    rests = {_SIDE.sub("", side).strip(" _-") for side in sides if not side.startswith("before ")} - {""}
    is_usual = not _FORMS["once"].search(name.name)  # a first call holds what is loaded and built
    comparable = len(sides) > 1 and len(rests) <= 1 and (is_rate or is_accuracy or _is_time(name)) and is_usual
    least = (1 + _LOST if is_accuracy else _TIMES) * low
    if not comparable or low <= 0 or high < least or is_apart([high, low]):  # what was made is in a first call
        return None
    if not all(_SIDE.search(side) or side_of(side) for side in sides):
        return None
    first, *others = sorted(usual, key=usual.__getitem__, reverse=is_rate)
    known = [side for side in sides if side != first and _REFERENCE.search(side) and not _OPTIMIZED.search(side)]
    if is_accuracy:
        below = f"{'points' if name.unit == '%' else name.unit} below".strip()
        return (first, below, known[0], [usual[known[0]] - usual[first]]) if known else None
    other = known[0] if known else others[0]
    pairs = [*zip(sides[first], sides[other], strict=False)]
    steady = all(is_steady([value for value, *_ in sides[side]]) for side in (first, other))
    numbers = [(usual[first], usual[other])] if steady else [(one, two) for (one, *_), (two, *_) in pairs]
    if (not steady and len({len(sides[side]) for side in (first, other)}) > 1) or not all(map(all, numbers)):
        return None
    return first, "x as fast as", other, sorted(one / two if is_rate else two / one for one, two in numbers)


def _quotient(name: StatedName, sides: Mapping[str, Sequence[_Named]]) -> str:
    """Say how many times the best of some sides is as fast as the one it is measured by, figure by figure."""
    gain = _gain(name, sides)
    if gain is None:
        usual = [median(value for value, *_ in each) for each in sides.values()]
        low, high = (min(usual), max(usual)) if usual else (0, 0)
        least = 1 + _LOST if _ACCURACY.search(name.name) else _ALIKE
        is_alike = low > 0 and len(sides) >= _SEVERAL and 1 < high / low < least
        return f" (alike within {high / low - 1:.1%})" if is_alike else ""
    first, how, other, ratios = gain
    times = " to ".join(dict.fromkeys(f"{ratio:.3g}" for ratio in (ratios[0], ratios[-1])))
    lines = sorted({sides[other][0][2].line, sides[first][0][2].line})
    where = f", lines {lines[0]} and {lines[1]}" if len(lines) > 1 else ""
    is_one = len(sides[first]) == len(sides[other]) == 1 and not _is_rate(name) and not _OF_MANY.search(name.key)
    once = ", each printed once: a first call may be in it" * (is_one and ratios[0] >= _DOUBTED)
    return f" ({first} is {times} {how} {other}{where}{once})"


def _levels(values: Sequence[float]) -> str:
    """Say on which few levels values of a measurement lie one behind the other; nothing if they do not."""
    steps = list[list[float]]()
    for value in values:
        if steps and abs(value - steps[-1][-1]) <= _STEP * steps[-1][-1]:
            steps[-1].append(value)
        else:
            steps.append([value])
    if not 1 < len(steps) <= _ROWS or min(map(len, steps)) < _LEAST:
        return ""
    return ", then ".join(f"{figure(median(step))} ({len(step)} times)" for step in steps)


def _of_group(group: Sequence[_Named]) -> str:
    """Say what the figures under a name are: by their labels, else each, or the least and the most."""
    (_, stated, _), *_ = group
    unit = f" {stated.unit or ('(unit not printed)' if _FORMS['time'].search(stated.name) else '')}".rstrip()
    if len({each.side for _, each, _ in group}) > 1:
        return _of_sides(stated, unit, grouped(group, lambda each: each[1].side or _UNTOLD))
    if len({value for value, *_ in group}) == 1 and not all(each.group or each.row for _, each, _ in group):
        return f"{shortened(stated.name, _NAME)} {figure(group[0][0])}{unit}"
    if labels := _labels(group):
        return _of_labels(group, labels, unit)
    means = [each for each in group if _FORMS["mean"].search(each[1].row.lower())]
    if len(row_names := {each.row for _, each, _ in group}) > 1 and all(map(_STATISTIC.fullmatch, row_names)) and means:
        group, stated = [each for each in means if each[1].row == means[0][1].row], means[0][1]
    title, row = ({*map(attrgetter(of), (each for _, each, _ in group))} for of in ("group", "row"))
    name = f"{stated.group}: {stated.name}" if stated.group and len(title) == 1 else stated.name
    name = shortened(f"{name} of {stated.row}" if stated.row and len(row) == 1 else name, _NAME)
    name = _FORMS["digits"].sub("N", name) if len({each.name.lower() for _, each, _ in group}) > 1 else name
    numbers, first = [value for value, *_ in group], ""
    if _is_apart(stated, numbers):
        first = f"first {figure(numbers[0])}{unit}{f' {_HOLDS}' if len(numbers) > _ROWS else ''}, then "
        numbers = numbers[1:]
    values, usual = [*map(figure, numbers)], median(numbers)
    if len({*values}) == 1 or len(values) <= _ROWS:
        return f"{name} {first}{', '.join(values if len({*values}) > 1 else values[:1])}{unit}"
    if levels := _levels(numbers):
        return f"{name} {first}{levels}{unit}"
    low, high = figure(min(numbers)), figure(max(numbers))
    edge = not first and (values[0] in {low, high} or numbers[0] >= _FIRST * usual > 0)
    last = f", last {values[-1]}" if values[-1] not in {low, high} and "acc" in name.lower() else ""
    often = f"{len(values)} times, median {figure(usual)}{f', {numbers.count(0)} of them 0' if 0 in numbers else ''}"
    often += f", first {values[0]}" if edge else ""
    return f"{name} {first}{low} to {high}{unit} ({often}{last})"


def _labels(group: Sequence[_Named]) -> list[tuple[str, ...]]:
    """Return what tells the figures of a name apart: titles above them and rows of a table, or nothing."""
    parts = [
        [*(each.group.split(": ") if each.group else ()), *([each.row] if each.row else ())] for _, each, _ in group
    ]
    most = max(map(len, parts))
    columns = zip(*(["" for _ in range(most - len(each))] + each for each in parts), strict=True)
    unlike = [unlike_parts(each)[1] if max(map(len, each)) > _SHORT else each for each in columns if len({*each}) > 1]
    labels = [*zip(*unlike, strict=True)]
    in_rows = all(each.row for _, each, _ in group) and len({*labels}) > 1
    return labels if len({*labels}) == len(labels) or (in_rows and len(labels) <= _LABELS) else []


def _of_labels(group: Sequence[_Named], labels: Sequence[tuple[str, ...]], unit: str) -> str:
    """Spell figures by what tells them apart, and what that amounts to."""
    (_, stated, _), *_ = group
    of_one = any(_STATISTIC.fullmatch(each[-1]) for each in labels)
    if of_one and len(labels[0]) > 1:
        of_one = False
        means = [place for place, each in enumerate(labels) if each[-1] == labels[0][-1]]
        group, labels = [group[place] for place in means], [labels[place][:-1] for place in means]
        stated = StatedName(f"{labels and group[0][1].row} {stated.name}", "", stated.unit)
    name, values = shortened(stated.name, _NAME), [value for value, *_ in group]
    if len(labels) > _LABELS:
        ends = [values.index(end(values)) for end in (min, max)]
        words = [f"{shortened(' '.join(filter(None, labels[at])), _NAME)} {figure(values[at])}".strip() for at in ends]
        return f"{name}: {' to '.join(words)}{unit} ({len(labels)} of them, median {figure(median(values))})"
    by_label = grouped(zip(labels, group, strict=True), lambda each: " ".join(filter(None, each[0])))
    sides = {label: [one for _, one in each] for label, each in by_label.items()}
    return _of_sides(stated, unit, sides, is_one=of_one)
