"""Figures that programs state in words of their own, summed up: under each name its number, or the least and most."""

import re
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from statistics import median

from trtforensics.console.counting import counted, grouped, listed, unlike_parts
from trtforensics.knowledge.table import rows
from trtforensics.model.run import RunResult, StatedName
from trtforensics.model.span import SourceSpan
from trtforensics.parsers.notation.sides import is_apart, is_steady, side_of
from trtforensics.render.names import shortened

_Named = tuple[float, StatedName, SourceSpan]
_Group = tuple[int, bool, str, SourceSpan]

_MEASURED = {"latency_ms", "gpu_compute_ms", "build_s"}
"""The results of a program that measures for itself."""
_RANKS = [(int(row["rank"]), re.compile(row["pattern"])) for row in rows("stated_ranks", "trtforensics.render")]
"""What most people look for first: rates, times of inferences, accuracies, other times; by the key."""
_FORMS = {row["what"]: re.compile(row["pattern"]) for row in rows("stated_forms", "trtforensics.render")}
"""What names say: a mean, a step or phase, a whole time or an inference's alone, the GPU's use, a first call."""
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
_STATISTIC = re.compile(f"(?:.*summary: )?{STATED['statistic']}", re.IGNORECASE)
"""A name that does not say of what it is."""
_OF_MANY = re.compile(rf"(?i)\b(?:{STATED['statistic']}|best|overall|latency)\b")
"""What is measured often."""
_ACCURACY = re.compile(STATED["accuracy"].replace("|\\b[WC]ER\\b", ""))
_SIDE = re.compile(STATED["side"])
"""What is compared with another on the same input: a type, a framework."""
_REFERENCE, _OPTIMIZED = (re.compile(STATED[what]) for what in ("reference", "optimized"))
"""What a comparison is measured by, and what it is not."""
_IDLE, _ROUNDED, _PART = 80, 0.03, 0.01
"""Below that percentage of use the GPU waits; a total may lack that share; parts below that share are not told."""
_WHOLE, _NEARLY = 100, 0.9995
"""From here on numbers are shown without decimals; from here to 1 with more."""
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
    """Say what the figures amount to: parts of a sum or of a total, and what does not depend on the title above."""
    named = [(each.number, each.stated, each.span) for each in results if each.stated and each.number]
    times = [each for each in named if _is_time(each[1])]
    steps = grouped(
        [
            (part[0].lower(), each)
            for each in times
            if not each[1].row and (part := _FORMS["step"].search(each[1].name))
        ],
        lambda each: (
            *(each[1][1].side, _FORMS["step"].sub("", each[1][1].name.partition(" per image")[0]).strip()),
            each[1][1].unit,
        ),
    )
    for (side, name, unit), values in steps.items():
        title = ": ".join(filter(None, (side, name)))
        yield from _parts(title, unit, grouped(values, itemgetter(0)))
    phases = [(each[1].group, each) for each in times if re.match("(?i:total)", each[1].name)]
    for (name, unit), values in grouped(phases, lambda each: (each[1][1].name, each[1][1].unit)).items():
        if all(_FORMS["phase"].search(group) for group, _ in values):
            yield from _parts(name, unit, grouped(values, itemgetter(0)))
    for block in grouped(times, lambda each: (each[1].group, each[1].unit, each[1].row and each[1].name)).values():
        yield from _of_total([(of.row or _name_of(of), number, span) for number, of, span in block])
    for (*_, row), block in grouped(times, lambda each: (each[1].group, each[1].unit, each[1].row)).items():
        for words, span in _of_total([(of.name, number, span) for number, of, span in block], {}) if row else ():
            yield f"{row}: {words}", span
    lines = [
        block
        for block in grouped((each for each in times if not each[1].row), lambda each: each[2].line).values()
        if len({of.unit for _, of, _ in block}) == 1
    ]
    for names, alike in grouped(lines, lambda line: tuple(_name_of(of) for _, of, _ in line)).items():
        if len(alike) > 1 and not any(map(_FORMS["mean"].search, names)):
            usual = [median(line[at][0] for line in alike) for at in range(len(names))]
            others = grouped(
                (each for each in times if each[1].unit == alike[0][0][1].unit), lambda each: _name_of(each[1])
            )
            single = {name: median(number for number, *_ in each) for name, each in others.items() if name not in names}
            yield from _of_total(
                [(name, number, alike[0][0][2]) for name, number in zip(names, usual, strict=True)], single
            )
    shares = [each for each in named if _FORMS["busy"].search(each[1].name) and each[1].unit == "%"]
    if shares and (busy := max(shares, key=itemgetter(0)))[0] < _IDLE:
        yield f"the GPU is busy {figure(busy[0])} % of the time at most: it waits for the host", busy[2]


def _parts(
    name: str, unit: str, values: Mapping[str, Sequence[tuple[str, _Named]]]
) -> Iterator[tuple[str, SourceSpan]]:
    """Say what part of their sum each of some times is; below several titles, for the largest its ends."""
    columns = [[each for _, each in figures] for figures in values.values()]
    if len(columns) < 2 or len({*map(len, columns)}) > 1:  # noqa: PLR2004 - a part of something
        return
    totals = [sum(number for number, *_ in row) for row in zip(*columns, strict=True)]
    if is_apart(totals):
        columns = [column[1:] for column in columns]
    sums = {part: sum(number for number, *_ in each) for part, each in zip(values, columns, strict=True)}
    whole, most = sum(sums.values()), max(sums, key=sums.__getitem__)
    titles, *others = ([name.group for _, name, _ in column] for column in columns)
    if 1 < len({*titles} - {""}) == len(titles) and all(each == titles for each in others):
        of_most = columns[[*sums].index(most)]
        shares = sorted((each[0] / total, each[1].group) for each, total in zip(of_most, totals, strict=True))
        ends = ", ".join(f"{share:.0%} for {title}" for share, title in (shares[0], shares[-1]))
        yield f"of {' and '.join(values)} together {most} is {ends}", columns[0][0][2]
    else:
        words = ", ".join(f"{part} {number / whole:.0%}" for part, number in sums.items())
        often = " on average" * (len(titles) > 1) + " after the first" * (len(titles) < len(totals))
        yield f"{name} of {figure(whole / len(titles))} {unit} together{often}: {words}".strip(), columns[0][0][2]


def _of_total(
    times: Sequence[tuple[str, float, SourceSpan]], others: Mapping[str, float] | None = None
) -> Iterator[tuple[str, SourceSpan]]:
    """Say what part of a total each of the times beside it is; that is all of it, or what is left is named too."""
    totals = [each for each in times if _FORMS["whole"].search(each[0])]
    if len(totals) != 1:
        return
    ((name, whole, span),) = totals
    parts = {part: number for part, number, _ in times if part != name}
    are_steps = all(map(_FORMS["step"].search, parts)) and others is None  # which are said as parts of their sum
    if len(times) != len(parts) + 1 or len(parts) < _SEVERAL - 1 or are_steps:
        return
    rest = whole - sum(parts.values())
    if others is not None and rest > _STEP * whole:
        fits = [other for other, number in others.items() if abs(number - rest) <= _ROUNDED * rest]
        parts[fits[0] if len(fits) == 1 else "what is not timed"], rest = rest, 0
    if abs(rest) <= _ROUNDED * whole:
        words = [
            f"{part} {figure(100 * number / whole)}%" for part, number in sorted(parts.items(), key=lambda of: -of[1])
        ]
        yield f"{name} is made of {listed(words, _ROWS)}", span


def _name_of(name: StatedName) -> str:
    """Return what a figure is of, without the number of a run."""
    return re.sub(r"^(?:\w+ )?[0-9N]+(?:/[0-9N]+)?: ", "", name.group if name.name == "time" else name.name)


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
    rest = [each for each in named if (each[2], each[1].name.rpartition(": ")[0]) not in sums]
    groups, families = [], grouped(rest, lambda each: (_FORMS["metric"].sub("", each[1].name), each[1].row)).items()
    kin = {family: of for (family, _), of in families if family and 1 < len({each[1].name for each in of}) == len(of)}
    for family, each in kin.items():
        values = ", ".join(f"{name.name[len(family) :].strip(' _')} {figure(value)}" for value, name, _ in each)
        groups.append((_OTHER - 1, False, f"{family.strip(' _:')}: {values}", each[0][2]))
    together = {id(each) for of_family in kin.values() for each in of_family}
    rest = [each for each in rest if id(each) not in together]
    for group in _quantities(rest):
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
    if low <= 0 or not comparable or high < (1 + _LOST if is_accuracy else _TIMES) * low:
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


def _gains(name: StatedName, tables: Mapping[str, Mapping[str, Sequence[_Named]]]) -> str:
    """Say of several tables of the same sides by how much the best is ahead, and which sides a table lacks."""
    gains = {title: gain for title, sides in tables.items() if (gain := _gain(name, sides))}
    texts = []
    for (first, how, other), titles in grouped(gains, lambda title: gains[title][:3]).items():
        ends = sorted((gains[title][3][0], title) for title in titles)
        words = [f"{value:.3g} ({shortened(title, _NAME)})" for value, title in dict.fromkeys((ends[0], ends[-1]))]
        texts.append(f"{first} is {' to '.join(words)} {how} {other}")
    present = [side for sides in tables.values() for side in sides]
    most = [side for side in dict.fromkeys(present) if present.count(side) > len(tables) / 2]
    lacking = grouped(tables, lambda title: tuple(side for side in most if side not in tables[title]))
    for sides, titles in lacking.items() if gains and not _ACCURACY.search(name.name) else ():
        texts += [f"without {', '.join(sides)}: {listed(titles, _ROWS)}"] if sides else []
    return ", ".join(texts[:_SHOWN])


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
    of_titles = grouped(zip(labels, group, strict=True), lambda each: " ".join(filter(None, each[0][:-1])))
    is_sided = len(of_titles) > 1 and all(side_of(each[-1]) for each in labels)
    tables = {
        title: {label[-1]: [figure for of, figure in each if of == label] for label, _ in each}
        for title, each in of_titles.items()
    }
    gains = _gains(stated, tables) if is_sided else ""
    if len(labels) > _LABELS and gains:
        return f"{name}{unit and f' in{unit}'} of {len(tables)} tables: {gains}"
    if len(labels) > _LABELS:
        ends = [values.index(end(values)) for end in (min, max)]
        words = [f"{shortened(' '.join(filter(None, labels[at])), _NAME)} {figure(values[at])}".strip() for at in ends]
        return f"{name}: {' to '.join(words)}{unit} ({len(labels)} of them, median {figure(median(values))})"
    by_label = grouped(zip(labels, group, strict=True), lambda each: " ".join(filter(None, each[0])))
    sides = {label: [one for _, one in each] for label, each in by_label.items()}
    return f"{_of_sides(stated, unit, sides, is_one=of_one or is_sided)}{gains and f' ({gains})'}"
