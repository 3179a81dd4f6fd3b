"""What programs state of themselves in words of their own: times, rates, accuracies, memory, each under its own name.

Read are ``name: number unit`` in any line that no rule reads, several in a line too, and tables of such numbers.
"""

import re
from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite, nan
from operator import itemgetter

from trtforensics.console.counting import grouped, unlike_parts
from trtforensics.knowledge.table import rows
from trtforensics.model.deferred import regex
from trtforensics.model.run import StatedName
from trtforensics.parsers.builds.views import LinesView
from trtforensics.parsers.notation.sides import BEFORE, FORMS, UNKNOWN, begun_by, is_steady, side_of

_Figure = tuple[StatedName, str]
_Stated = tuple[int, float, StatedName]
_Titled = tuple[int, tuple[str, str]]

_LOADED = ("loaded_file", "loaded_file_said")
_ENGINE = ("own_building", "own_built", "loaded_file", "own_loaded", "engine_built", "poly_built", "engine_loaded")
_TF_TRT = ("of_tf_trt", "tftrt_version", "tftrt_engine", "tftrt_segment")
"""Kinds of line that show an engine of TensorRT, and TensorFlow's use of it."""
_REFERRED = FORMS["referred"]
_FILE, _TAIL, _MODEL = "engine", regex(r"(?=([._-][A-Za-z].*))"), regex(r"\.(?:onnx|pth?|uff|caffemodel)\b")
"""The form of titles that name an engine's file, which hold down to the next; ends of such names; a model's file."""
_COMPILER, _FRAMEWORK, _TEXT, _LABEL = range(4)
"""What begins a side: Torch-TensorRT's message, other lines of frameworks, a text, the label of a figure."""
_MOST = 20_000
"""Figures that are read of a log."""
_LONGEST, _LONGEST_NAME, _LONGEST_NUMBER, _GAP = 300, 60, 24, 4
"""Characters of a line, of a name, of a number; lines from a row of a table to the next, with rules and headings."""
_WORDS = {row["what"]: row["pattern"] for row in rows("stated", "trtforensics.parsers.builds")}
_FORMS = {what: regex(pattern) for what, pattern in _WORDS.items()}
"""By what lines, names, titles and cells are taken apart."""
_UNIT = "|".join(_WORDS[kind] for kind in ("rate", "time", "amount"))
_EACH = r" ?(?:/|per) ?(?:images?|imgs?|im|frames?|iter\w*|it|batch|samples?|tokens?|infer\w*|runs?|call|step)\b"
"""What a unit of time is for."""
_NUMBER = r"-?[0-9]+(?:[.,][0-9]+)*(?:e[-+]?[0-9]+)?"
_FIGURE = regex(
    rf"(?<![\w./'\"-])(?<![\d:]:)(?P<number>{_NUMBER})(?! ?[0-9:])(?:{_WORDS['spread']}(?= ?(?:{_UNIT})))?"
    rf"(?: ?(?P<unit>{_UNIT})(?:{_EACH})?(?![\w/]| ?=))?"
    r"(?![\w:'/]|\.[0-9]|-[0-9]{2}-)"
)
_MEASURES, _MEMORY, _SIGNED, _LOGGED = (_FORMS[what] for what in ("measure", "memory", "signed", "logger"))
_NO_RESULT = regex("|".join(f"(?:{_WORDS[word]})" for word in ("setting", "progress", "notebook", "source code")))
_TIMES = _FORMS["time"]
"""Units of measured things: a figure of 0 in one of them means that nothing was measured."""
_EDGES = " \t:=~<>-*+#.,;|()[]{}'\"→≈"
_CELL = regex(rf"(?:x(?=[0-9]))?({_NUMBER})(?:{_WORDS['spread']})?(?: *({_UNIT}))?")
_NO_HEAD = regex(rf"{_CELL.pattern}|[\u2580-\u259f ]+")
_RULE = regex(r"[\s|:+]*-{2,}[\s:-]*[|+][\s|:+-]*")
"""A cell that is a number; what no head of a table holds, a bar of progress too; the line below such a head."""
_UNIT_OF_COLUMN = regex(rf"[(\[]({_UNIT})(?:{_EACH})?[)\]]")
_WITH_UNIT = regex(rf"[0-9] ?(?:{_UNIT})(?:{_EACH})?(?![\w/])|{_UNIT_OF_COLUMN.pattern}")
_LITERALS = _WORDS["literals"].split()
"""Of which :data:`_MEASURES` holds one, in small letters: they are found twenty times as fast."""
_STATISTIC = _FORMS["statistic"]
"""The head of a column that says of what each row's name stands for: ``inference_ms | 4.1 | 3.9``."""
_TAG = regex(rf"^\W*\[(PTQ|QAT|(?:(?:{_WORDS['side']})[ +_-]?)+)\]")
"""What a line's figures are of, in brackets before them."""
_OF_TOPIC = regex(
    rf"(?<![\w-])(?P<stat>{_WORDS['statistic']})(?: (?P<of>[A-Za-z][A-Za-z ]{{2,20}}?))?\s*[:=]?\s*"
    rf"(?P<number>{_NUMBER})(?: ?(?P<unit>{_UNIT}))?(?:{_EACH})?(?![\w./])"
)
"""A statistic of a quantity that is named before or above it."""
_TOPIC = regex(rf"\W*((?=[A-Za-z])[A-Za-z /_-]*?(?:{_WORDS['measure']})[A-Za-z /_-]*?) *(?:[(\[]({_UNIT})[)\]])?\W*")
"""A title that names the quantity of the statistics below it, and its unit."""
_STATISTICS, _GROUPS, _ABOVE, _WORDS_OF_TITLE = 12, 64, 60, 14
"""Lines from such a title to its last statistic, titles of figures at most, lines to a figure, words of a title."""
_SIZE = _FORMS["size"]
"""A number of a run that is a title: a batch, a length, a level."""
_MARKS = "#=*-~"
"""What stands around the title of a table."""
_SIZES = regex(rf"(?:{_SIZE.pattern}[ _]*)+[=:-]* *[0-9]+\b")
_SIDES = regex(rf"{_WORDS['side']}|{_SIZES.pattern}")
_UNIT_OF_NAME = regex(rf"{_UNIT_OF_COLUMN.pattern}\s*[:=]\s*$")


def stated(log: LinesView, known: set[int]) -> Sequence[_Stated]:
    """Return what programs state, by its line; lines that are ``known`` already are left out."""
    found, tables, heading, topic, since = list[_Stated](), _Tables(), "", ("", ""), 0
    for line, whole in log.each("untyped", "text"):
        text = _FORMS["status"].sub("  ", whole)
        if titled := _FORMS["heading"].match(text[:_LONGEST]):
            heading = tables.title = titled[1] or titled[2]
            continue
        if line in known or tables.take(line, text[:_LONGEST], heading):
            continue
        below = topic if line <= since + _STATISTICS else ("", "")
        is_hinted = _WITH_UNIT.search(text) or any(map(text.lower().__contains__, _LITERALS))
        if not (is_hinted or (below[0] and _OF_TOPIC.search(text))):
            continue
        tags = _TAG.findall(text[:_LONGEST])
        plain = _LOGGED.sub("", _FORMS["conditions"].sub("", text[:_LONGEST]))
        plain = _FORMS["epoch"].sub("", plain) if tags else _FORMS["item number"].sub("", plain)
        if not tables.begin(line, _cells(plain), heading) and "success" not in plain:
            named = _TOPIC.fullmatch(plain)
            topic, since = ((named[1], named[2] or ""), line) if named else (topic, since)
        of_line = ": ".join(_FORMS["item"].findall(plain))
        conditions = re.findall(r"([A-Za-z]+) *= *([\w.:]+)", "".join(_FORMS["conditions"].findall(text[:_LONGEST])))
        labelled = _FORMS["labelled row"].match(plain)
        of_row = labelled[1] if labelled and side_of(labelled[1]) and not _MEASURES.search(labelled[1]) else ""
        for name, number in [*_statistics(plain, below)] or _in_line(plain.replace(of_row, "", 1)):
            of_what = filter(None, (heading, *tags, of_line, " ".join(map("=".join, conditions)), name.group))
            found.append((line, number_of(number), replace(name, group=": ".join(of_what), row=name.row or of_row)))
        if len(found) + tables.cells >= _MOST:
            break
    found += tables.figures()
    known_values = (each for each in found if isfinite(each[1]) and (each[1] or not _TIMES.fullmatch(each[2].unit)))
    return sorted(known_values, key=itemgetter(0))


def of_titles(log: LinesView, found: list[_Stated], others: list[_Stated]) -> list[_Stated]:
    """Tell figures apart that come again with another side, or below another title.

    That is the line of a form before each that is never the same. ``others`` are read by rules and have no titles.
    """
    if not found and not others:
        return []
    found = _by_sides(log, [*_by_side(found), *others])
    if log.has("own_options"):  # runs of one script are told apart as they are
        return found
    titles = titles_of(log, {line for line, *_ in found})
    in_rows = {line for line, _, name in others if name.row}
    places: dict[str, list[int]] = {}
    for line, _, name in found:
        places.setdefault(name.key, []).extend([] if line in in_rows else [line])
    groups = {each: labels_of(titles, each) for each in {*map(tuple, places.values())}}
    return [(line, value, _below(name, groups[tuple(places[name.key])].get(line, ""))) for line, value, name in found]


def titles_of(log: LinesView, figures: Container[int]) -> list[_Titled]:
    """Return the lines that may say of what figures are, but those with figures, and their forms and texts."""
    kinds = (*((kind, "name") for kind in _LOADED), ("untyped", "text"))
    said = sorted({line: str(text) for kind, field in kinds for line, text in log.each(kind, field) if text}.items())
    return [(line, title) for line, text in said if line not in figures and (title := _title(text)) is not None]


def _segments(log: LinesView, found: Sequence[_Stated]) -> list[tuple[int, str]]:
    """Return the sides with the lines at which they begin; those without a figure between make one."""
    loggers, figures = [(0, ""), *log.each("dialect", "dialect")], {line for line, *_ in found}
    texts = ((line, str(text)) for line, text in log.each("untyped", "text") if line not in figures)
    is_tf = log.has(*_TF_TRT[1:]) or len(log.lines(_TF_TRT[0])) > len(log.lines("tftrt_unloaded"))
    of_engines, framework = (_TF_TRT, "TF-TRT") if is_tf else (_ENGINE, "TensorRT")
    changes: list[tuple[int, int, Mapping[str, str]]]
    changes = [(line, _FRAMEWORK, {"framework": framework}) for line in log.lines(*of_engines)]
    for line, path in log.each("own_saved", "name") if of_engines is _TF_TRT else ():
        changes.append((line, _FRAMEWORK, side_of(str(path).replace("/", " "))))
    for line, text in log.each("message", "text"):
        if _last(loggers, line).startswith("torch_tensorrt"):
            given = side_of(text.partition("dtype as")[2].partition(",")[0])
            changes.append((line, _COMPILER, {"framework": "Torch-TensorRT", **given}))
    changes += [(line, _TEXT, begun) for line, text in texts if (begun := begun_by(text)) is not None]
    changes += [(line, _LABEL, {} if _REFERRED.search(name.name) else side_of(name.name)) for line, _, name in found]
    state, segments, figured = dict[str, str](), [(0, "")], False
    for line, rank, begun in sorted(changes, key=itemgetter(0, 1)):
        if any(begun.values()) or (begun and (figured or state)):
            old = state.get("framework")
            goes_on = begun.get("framework", old) == old and not (rank == _COMPILER and figured)
            state = {**(state if goes_on else {}), **begun}
            label = " ".join(filter(None, (state.get(of) for of in UNKNOWN)))
            segments[len(segments) if figured else max(1, len(segments) - 1) :] = [(line, label)]
        figured = rank == _LABEL or (figured and not begun)
    return segments


def _is_sided(name: StatedName) -> bool:
    """Whether a figure's own names say what ran, as those of a table's rows do."""
    if name.name == "build time" or (name.row and not _STATISTIC.fullmatch(name.row)):
        return True  # what is built is named before
    told = side_of(f"{'' if _REFERRED.search(name.name) else name.name} {name.group}")
    return not told.keys() <= {"device"}


def _by_sides(log: LinesView, found: list[_Stated]) -> list[_Stated]:
    """Name the sides of figures that come again under one name with another side; those of an unsure one stay."""
    groups = grouped((each for each in found if not _is_sided(each[2])), lambda each: each[2].key)
    segments = _segments(log, found) if any(len(group) > 1 for group in groups.values()) else []
    if {line for line, _ in segments[1:]} <= {*log.lines(*_LOADED)}:
        return found  # the names of engine files tell them apart
    first = next((label for _, label in segments if label), "")
    before = BEFORE.get(first.partition(" ")[0], "")
    texts = [(line, str(text)[:_LONGEST]) for line, text in log.each("untyped", "text")]
    if not before and all(re.match("TensorRT|$", label) for _, label in segments):
        is_torch = any(line < segments[1][0] and FORMS["signs"].search(text) for line, text in texts)
        before = "PyTorch" if is_torch else f"before {first}"
    segments[0] = 0, before
    sizes = [(line, match[1]) for line, text in texts if (match := FORMS["input"].search(text))]
    ends = [line for line, _ in (*segments[1:], (log.last_line + 1, ""))]
    loaded = [(0, ""), *log.each("loaded_file", "name")]
    of: dict[tuple[int, StatedName], str] = {}
    for group in groups.values():
        parts = grouped(group, lambda each: bisect_right(segments, each[0], key=itemgetter(0)) - 1)
        told = {at: segments[at][1] if is_steady([value for _, value, _ in each]) else "" for at, each in parts.items()}
        if 0 in told and before:
            told[0] = told[0] or f"before {first}"
        given = {at: {size for line, size in sizes if segments[at][0] <= line < ends[at]} for at in told}
        is_unlike = len({frozenset(each) for each in given.values() if each}) > 1
        engines = {(told[at], _last(loaded, line)) for at, each in parts.items() for line, *_ in each}
        is_sure = len({*told.values()} - {""}) > 1 and len({side for side, _ in engines}) == len(engines)
        for at, each in parts.items() if is_sure else ():
            size = f", input {min(given[at])}" if is_unlike and len(given[at]) == 1 and told[at] else ""
            of |= {(line, name): told[at] + size for line, _, name in each}
    return [(line, value, replace(name, side=of.get((line, name), ""))) for line, value, name in found]


def _last(texts: Sequence[tuple[int, str]], line: int) -> str:
    """Return the last of some texts that begin at lines, up to a line."""
    return texts[bisect_right(texts, line, key=itemgetter(0)) - 1][1]


def _below(name: StatedName, title: str) -> StatedName:
    sided = side_of(title) and side_of(f"{name.name} {name.row}")  # which may be another
    new = title and not name.side and not sided
    return replace(name, group=": ".join(filter(None, (title, name.group)))) if new else name


def _by_side(found: list[_Stated]) -> list[_Stated]:
    """Tell figures apart by what their names say of the side that they are of, or of its size: ``FP16 latency``."""
    told: list[tuple[int, float, StatedName, str, str]] = []
    for line, value, name in found:
        sides = [] if _REFERRED.search(name.name) else [each[0].strip(_EDGES) for each in _SIDES.finditer(name.name)]
        rest = re.sub(r"[\s_]*\x00[\s_]*", " ", _SIDES.sub("\0", name.name)).strip(_EDGES)
        if rest or not _TIMES.fullmatch(name.unit):
            told.append((line, value, name, " ".join(sides), rest))
        else:
            told.append((line, value, StatedName("time", name.row, name.unit, name.name), "", "time"))
    sides_of = grouped(told, lambda each: (each[4], each[2].unit))
    several = {key for key, each in sides_of.items() if len({side for *_, side, _ in each}) > 1}
    return [
        (line, value, replace(name, name=rest, group=": ".join(filter(None, (side, name.group)))))
        if side and _MEASURES.search(rest) and (rest, name.unit) in several and not _SIGNED.search(name.name)
        else (line, value, name)
        for line, value, name, side, rest in told
    ]


def _title(text: str) -> tuple[str, str] | None:
    """Return the form of a line that may be a title of figures, and what it says; None if it is none."""
    plain = _LOGGED.sub("", text[:_LONGEST]).strip()
    if engine := _FORMS["engine file"].search(text):
        return _FILE, "_".join(engine[1].split("_")[-2:])
    if not plain or plain.count("|") > 1 or _FORMS["counted"].search(plain) or _NO_RESULT.search(plain):
        return None
    if ruled := _FORMS["ruled"].fullmatch(plain):
        return f"{ruled[1][0]}=", ruled[2]
    if _FORMS["series"].search(text):
        return None
    if named := _FORMS["named"].match(plain):
        is_number = not re.search(r"[A-Za-z]", named[2])
        return named[1].lower(), "" if is_number and not _SIZE.search(named[1]) else f"{named[1]} {named[2]}"
    words = plain.split()
    return (words[0].lower(), plain) if len(words) <= _WORDS_OF_TITLE else None


def labels_of(titles: Sequence[_Titled], lines: Sequence[int], *, of_engines: bool = False) -> Mapping[int, str]:
    """Return by line what the nearest titles of one form before some lines say, without what all of them say."""
    if not 1 < len({*lines}) == len(lines) <= _GROUPS:
        return {}
    ends = [*pairwise((0, *lines))]
    parts = [[bisect_right(titles, (end, ("",))) for end in each] for each in ends]
    near = [
        [(form, text) for at, (form, text) in titles[low:high] if form == _FILE or line - at < _ABOVE]
        for (low, high), line in zip(parts, lines, strict=True)
    ]
    common = {*near[0]}.intersection(*near)  # tell nothing apart
    said = [{form: text for form, text in each if (form, text) not in common} for each in near]
    behind = {text for at, (form, text) in titles[parts[-1][1] :] if form == _FILE and at - lines[-1] < _ABOVE}
    for form in (_FILE, *reversed(said[-1])):
        texts = [each.get(form, "") for each in said]
        if not all(texts) or (of_engines and form == _FILE and behind - {*texts}):  # each file is named behind
            continue
        before, labels = unlike_parts(texts)
        labels = [label.strip(" :=,;|#*.") for label in labels]
        tails = [tail for tail in _TAIL.findall(labels[0]) if all(label.endswith(tail) for label in labels)]
        labels = [label.removesuffix(tails[0]) for label in labels] if form == _FILE and tails else labels
        if before and _SIZE.search(before[-1]):
            labels = [f"{before[-1].strip(_EDGES)} {label}" for label in labels]
        are_owners = not of_engines or form == _FILE or all(map(side_of, labels)) or all(map(_MODEL.search, texts))
        if are_owners and len({*labels}) == len(labels) and all(map(_FORMS["label"].fullmatch, labels)):
            return dict(zip(lines, labels, strict=True))
    return {}


def number_of(text: str) -> float:
    """Return a number whose point may be a comma; a comma before three digits groups them. NaN if it is none."""
    mark = max(".,", key=text.rfind)
    head, found, tail = text.rpartition(mark)
    if mark == "," and "." not in head and len(tail) == 3 and head != "0":  # noqa: PLR2004 - digits of a group
        head, found, tail = text, "", ""
    try:
        return float("nan" if mark in head and found else f"{re.sub('[.,]', '', head)}{found and '.'}{tail}")
    except ValueError:
        return nan


def _cells(text: str) -> list[str]:
    """Return the cells of a row: between commas or rules, else between blanks."""
    if _FORMS["csv"].fullmatch(text):
        return text.split(",")
    cells = _FORMS["rule"].split(text.strip(" |│┃┆\t"))
    return [cell.strip("* ") for cell in (cells if len(cells) > 1 else _FORMS["cells"].split(cells[0]))]


def _is_measure(text: str) -> bool:
    return _MEASURES.search(text) is not None or _UNIT_OF_COLUMN.search(text) is not None


class _Tables:
    """The tables of a log, each with the title that stands before it."""

    def __init__(self) -> None:
        self.title, self.cells, self._above, self._tables = "", 0, "", list[_Table]()

    def begin(self, line: int, cells: list[str], heading: str) -> bool:
        """Begin a table, where cells name what is measured and are no numbers."""
        named = any(_is_measure(cell) or _STATISTIC.fullmatch(cell) for cell in cells[1:])
        begins = (named or _FORMS["metric"].fullmatch(cells[0]) is not None) and not any(map(_NO_HEAD.fullmatch, cells))
        if begins:
            self._tables.append(_Table(cells, line, heading, self.title))
        return begins

    def take(self, line: int, text: str, heading: str) -> bool:
        """Whether a line is a row of the table before it; another may be a title, or the rule below a head."""
        table = self._tables[-1] if self._tables and line <= self._tables[-1].last + _GAP else None
        above, self._above = self._above, text
        if table and table.takes(line, _cells(text)):
            self.title, self.cells = "", self.cells + len(table.header)
            return True
        if _RULE.fullmatch(text) and not (table and (table.rows or table.last == line - 1)):
            self._tables.append(_Table(_cells(above), line, heading, self.title))
        elif text[:1] in _MARKS or text.endswith(":"):
            self.title = text.strip(f"{_MARKS} :")
        return False

    def figures(self) -> Iterator[_Stated]:
        """Give the figures of all tables. Titles tell tables of one head apart, if each table has its own."""
        of_header = grouped((table for table in self._tables if table.rows), lambda table: tuple(table.header))
        for alike in of_header.values():
            is_titled = len({table.title for table in alike} - {""}) == len(alike) > 1
            for table in alike:
                yield from table.figures(table.title if is_titled else table.heading)


class _Table:
    """A table of figures: what its columns hold is known when all its rows are."""

    def __init__(self, header: list[str], line: int, heading: str, title: str) -> None:
        self.header, self.last, self.heading, self.title = header, line, heading, title
        self.rows: list[tuple[int, list[str]]] = []

    def takes(self, line: int, cells: list[str]) -> bool:
        """Add a row, where cells are one."""
        if len(cells) == len(self.header) + 1 and cells[0].isdigit():
            cells = cells[1:]  # a row's number has no header
        cells = [*cells, *[""] * (len(cells) == len(self.header) - 1 > 1)]  # the last may be empty
        is_row = len(cells) == len(self.header) and any(map(_CELL.fullmatch, cells[1:]))
        if is_row:
            self.rows.append((line, cells))
            self.last = line
        return is_row

    def figures(self, group: str) -> Iterator[_Stated]:
        """Give the cells below measures and those with units, by what their rows are of."""
        columns = [*zip(*(cells for _, cells in self.rows), strict=True)]
        found = [[_CELL.fullmatch(cell) for cell in column] for column in columns]
        are_measured = [_is_measure(head) or _STATISTIC.fullmatch(head) is not None for head in self.header]
        measured = [
            at for at, each in enumerate(found) if at and any(cell and (are_measured[at] or cell[2]) for cell in each)
        ]
        of_rows = self._labels(columns, [at for at in range(len(columns)) if at not in measured])
        are_statistics = sum(map(bool, map(_STATISTIC.fullmatch, self.header))) > 1
        of_metric = _FORMS["metric"].fullmatch(self.header[0])
        heads = [re.split(r"[:)] (?! *\()| ?(?:\+-|±)", _UNIT_OF_COLUMN.sub("", head))[0] for head in self.header]
        short = [head.strip(_EDGES).partition("(")[0].strip() for head in heads]
        for (line, (of_row, *_)), (label, of_what), *numbers in zip(self.rows, of_rows, *found, strict=True):
            for at, number in enumerate(numbers):
                row, titles, unit = self.header[at], [group, of_what], (number and number[2]) or ""
                kind = next((kind for kind in ("time", "rate") if _FORMS[kind].fullmatch(unit)), "")
                if not number or not at:
                    continue
                is_statistic = (_STATISTIC.fullmatch(row) or of_metric) and not side_of(label)
                if is_statistic and (_is_measure(of_row) or are_statistics):
                    name, unit = _UNIT_OF_COLUMN.sub("", of_row).strip(), unit or _unit_of(of_row)
                elif at not in measured:
                    continue
                elif kind and not are_measured[at] and side_of(row).keys() - {"device"}:
                    name, titles = kind, [*titles, label]
                else:
                    name = short[at] if short.count(short[at]) == 1 else re.sub("[()]", "", heads[at]).strip(_EDGES)
                    row, unit = label, unit or _unit_of(self.header[at])
                yield line, number_of(number[1]), StatedName(name, row, unit, ": ".join(filter(None, titles)))

    def _labels(self, columns: Sequence[Sequence[str]], rest: Sequence[int]) -> list[tuple[str, str]]:
        """Say what ran in each row, and what else tells it apart; where no column says what ran, that is its name."""
        texts = [at for at in rest if not all(map(_CELL.fullmatch, columns[at])) or _SIZE.search(self.header[at])]
        sided = {at for at in texts if all(map(side_of, columns[at]))}
        taken: list[int] = []
        for at in sorted(texts, key=lambda at: at not in sided):
            is_unlike = len({*columns[at]}) > 1 or len(self.rows) == 1
            if is_unlike and len({*zip(*map(columns.__getitem__, taken), strict=True)}) < len(self.rows):
                taken.append(at)
        sides, others = sided.intersection(taken), [at for at in taken or [0] if at not in sided]
        parts = []
        for _, cells in self.rows:
            spelt = [
                f"{self.header[at]} " * (at > 0 and _CELL.fullmatch(cells[at]) is not None) + cells[at] for at in others
            ]
            parts.append((" ".join(cells[at] for at in sorted(sides)), " ".join(spelt)))
        return parts if sides else [(other, side) for side, other in parts]


def _unit_of(text: str) -> str:
    """Return the unit that a name holds, as ``Latency (ms)`` and ``latency_ms`` do."""
    unit = _UNIT_OF_COLUMN.search(text)
    return str(unit[1] if unit else _FORMS["unit at end"].findall(text)[0].lower())


def _statistics(text: str, topic: tuple[str, str]) -> Iterator[_Figure]:
    """Give the statistics of one quantity: of a line with several, else of the title above: ``P99: 7.0``."""
    found = [*_OF_TOPIC.finditer(text)]
    of_line = next((each["of"] for each in found if each["of"]), "") or (text[: found[0].start()] if found else "")
    unit = _UNIT_OF_COLUMN.search(of_line)
    of_line = _UNIT_OF_COLUMN.sub("", of_line).strip(_EDGES)
    if len(found) > 1 and len({each["of"] for each in found} - {None, ""}) < 2:  # noqa: PLR2004 - one quantity
        timed = all(each["unit"] and _TIMES.fullmatch(each["unit"]) for each in found)
        topic = (of_line, unit[1] if unit else "") if _MEASURES.search(of_line) else topic
        topic = ("time", "") if not topic[0] and timed else topic
    elif not found or found[0]["of"] or of_line:
        return
    for each in found if topic[0] else ():
        yield StatedName(topic[0], each["stat"], each["unit"] or topic[1]), each["number"]


def _in_line(text: str) -> Iterator[_Figure]:
    """Give the figures of a line; the name of each stands before it, or behind it in a list of such."""
    found = [m for m in _FIGURE.finditer(text) if m["unit"] or _FORMS["assigned"].search(text[: m.start()].rstrip())]
    found = [] if not found or _NO_RESULT.search(_SIZES.sub("", text)) else found
    is_list = len(found) > 1 and all(
        _FORMS["listed"].fullmatch(text, one.end(), two.start()) for one, two in pairwise(found)
    )
    base, start, first = "", 0, next((each for each in found if each["unit"]), found[0] if found else None)
    for match in found:
        before = text[start : match.start()]
        if _FORMS["bound"].search(before):
            continue
        of_name = None if match["unit"] else _UNIT_OF_NAME.search(before)
        before = before[: of_name.start()] + ":" if of_name else _FORMS["counted of"].sub("", before)
        name = " ".join(_FORMS["divided"].split(before.rstrip(_EDGES))[-1].strip(_EDGES).split())
        behind = _FORMS["behind"].match(text, match.end()) if is_list or not name else None
        sized = _SIZES.fullmatch(name) is not None
        label = _FORMS["alone"].fullmatch(text[: first.start()]) if first and (sized or not (name or behind)) else None
        if label and _FORMS["of a run"].fullmatch(match["unit"] or ""):
            yield (
                StatedName("time" if _TIMES.fullmatch(match["unit"]) else "rate", "", match["unit"], label[1]),
                match["number"],
            )
            name = ""
        name, start = behind[1] if behind else name, match.end()
        base = "" if ")" in before else base
        name = f"{side[1]} {name}" if not base and (side := _FORMS["before brackets"].match(before)) and name else name
        whole, base = f"{base}: {name}" if base else name, base or (name if text.startswith(" (", start) else "")
        unit = match["unit"] or (of_name[1] if of_name else _FORMS["unit at end"].findall(name)[0])
        if name and _is_result(match["number"], whole, unit):
            yield StatedName(whole, "", unit), match["number"]


def _is_result(number: str, name: str, unit: str) -> bool:
    """Whether a figure is one: by its unit; one without, or with one of settings too, by its name."""
    if len(name) > _LONGEST_NAME or not re.search(r"[^\W\d_]{2}|e2e", name) or re.search(r"\S/\S+/", name):
        return False
    if len(number) > _LONGEST_NUMBER or (number.startswith("-") and not _SIGNED.search(name)):
        return False
    if not _FORMS["unclear"].fullmatch(unit):
        return not _FORMS["bytes"].fullmatch(unit) or bool(_MEMORY.search(name))
    return not ("_" in name and number.isdigit()) and _MEASURES.search(name) is not None
