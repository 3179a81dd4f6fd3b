"""What only the text of a log tells: where runs paused, which tensors were printed, and what single lines mean."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, pairwise
from math import isfinite, prod

from trtforensics.console.counting import counted, listed
from trtforensics.console.secrets import masked
from trtforensics.knowledge.table import rows
from trtforensics.model.deferred import regex
from trtforensics.model.run import PhaseName
from trtforensics.parsers.lines.unread import Literals
from trtforensics.parsers.notation.clocks import clock_in, moment_in, seconds_of
from trtforensics.parsers.text.text import LineMatcher, LogText
from trtforensics.render.names import shortened
from trtforensics.render.stated_rows import figure
from trtforensics.render.time_rows import TimeRow
from trtforensics.sources.quoting import QuotedLog

_SAMPLES, _RUNS, _SHOWN, _TEXT = 100, 8, 3, 70
"""Lines of a run that are read first, runs, pauses of each that are named, characters of a line at a pause."""
_STEPS = [(regex(row["behind"]), regex(row["before"]), row["step"]) for row in rows("pauses", "trtforensics.render")]
"""What the line before a pause holds, what the line that ends it does, and what took the time: nothing if inference."""
_STAMP = regex(r"^.{0,40}?\d\d:\d\d:\d\d\S*\s*(?:\[\w+\]\s*)*")
_FOREIGN = regex(
    r"^\W*(?:--\d{4}-\d\d-\d\d \S+--|\w{3} \w{3} +\d+ [\d:]+ (?:\w+ )?\d{4}\s*$|.*\([\d.]+ [KMG]?B/s\) - )|ast login"
)
"""Lines of nvidia-smi, date, wget and a shell that begins, whose time is none of the run's."""
_SHORTEST, _PART, _LONGEST, _DAY = 2, 0.1, 4 * 3600, 24 * 3600
"""The least pause that is named: in s, and as a part of the whole; the longest that is one; a day."""


def pauses(read: QuotedLog) -> Iterator[TimeRow]:
    """Say from when to when each run goes, and before which lines it paused; nothing where clocks are mixed.

    Only lines around long gaps are all read.
    """
    for run in read.log.runs[:_RUNS]:
        step = max((run.last_line - run.first_line) // _SAMPLES, 1)
        stamped = [*_stamped(read, {*range(run.first_line, run.last_line + 1, step), run.last_line})]
        times = [seconds for _, seconds, _ in stamped]
        if not stamped or times != sorted(times) or (whole := times[-1] - times[0]) < _SHORTEST:
            continue
        wide = sorted(pairwise(stamped), key=lambda pair: pair[0][1] - pair[1][1])[:_SHOWN]
        gaps = [gap for first, behind in wide for gap in pairwise(_stamped(read, range(first[0], behind[0] + 1)))]
        long = sorted(((after[1] - first[1], first, after) for first, after in gaps), key=lambda gap: -gap[0])[:_SHOWN]
        words = [
            f"{seconds:.0f} s {taken}"
            for seconds, before, after in long
            if seconds >= max(_SHORTEST, _PART * whole) and (taken := _step(before[2], after[0], after[2]))
        ]
        for phase in run.phases:
            ends = [seconds for _, seconds, _ in _stamped(read, {phase.first_line, phase.last_line})]
            is_told = phase.seconds is not None or phase.name is PhaseName.INFER
            is_told |= phase.name is PhaseName.BUILD and any("build time" in each.key for each in run.results)
            loads = [each for each in run.results if each.key == "loaded_engine_mib"]
            is_told |= phase.name is PhaseName.LOAD and len(loads) > 1  # it ran between them
            if len(ends) > 1 and not is_told and ends[1] - ends[0] >= max(_SHORTEST, _PART * whole):
                words.append(f"{phase.name} {ends[1] - ends[0]:.0f} s (lines {phase.first_line}-{phase.last_line})")
        if not long or long[0][0] < _LONGEST:
            place = f"run {run.index + 1}: " * (len(read.log.runs) > 1)
            times_of_day = " to ".join(clock_in(text) or "" for _, _, text in (stamped[0], stamped[-1]))
            yield TimeRow("clock", "; ".join([f"{place}from {times_of_day}, {whole:.0f} s", *words]), ())


def _step(before: str, line: int, after: str) -> str:
    """Say what a pause between two lines is of, else quote the line behind it; nothing where inferences were timed."""
    for first, second, step in _STEPS:
        if first.search(before) and second.search(after):
            return f"{step} (to line {line})" if step else ""
    said = shortened(_STAMP.sub("", after).strip(), _TEXT)
    return f"before line {line}: {said}" if said else ""


def _stamped(read: QuotedLog, lines: Iterable[int]) -> Iterator[tuple[int, float, str]]:
    quoted = sorted(read.quote({*lines}).items())
    texts = [(line, text, moment_in(text)) for line, text in quoted if clock_in(text) and not _FOREIGN.search(text)]
    is_dated = all(moment is not None for *_, moment in texts)  # else loggers with dates and without write in turn
    for line, text, moment in texts:
        days = moment.toordinal() if is_dated and moment is not None else 0
        yield line, days * _DAY + seconds_of(clock_in(text) or ""), text


_TELLING = [*rows("telling_lines", "trtforensics.render")]
"""A literal of such lines, and a pattern of theirs; whether all, the largest, the sum, the last or first counts; words.

The words name groups of the pattern in braces: ``{0}``; of ``all``, the different ones are listed.
"""
_LITERALS = Literals([each["literal"].lower().encode() for each in _TELLING])
_FILLED = regex(r"\{[0-9][^}]*\}(?:.*\{[0-9][^}]*\})?")
"""The part of words that is said of each of all lines: from the first group of the pattern to the last."""
_OUTPUTS, _MOST, _LISTED, _WORDS = 8, 200, 4, 240
"""Dumped outputs that are shown, lines of a literal that are looked at, values that are listed, characters."""


def telling_lines(text: LogText) -> list[tuple[list[int], TimeRow]]:
    """Return what lines of a text mean, each with these lines, in their order."""
    there = {place for block in text.blocks() for place in _LITERALS.held_by(block.lower())}
    told = (row for place in sorted(there) if (row := _told(text, _TELLING[place])) is not None)
    return sorted(told, key=lambda each: each[0])


def outputs(text: LogText) -> Iterator[TimeRow]:
    """Tell the outputs that trtexec dumps."""
    for lines in text.matches(LineMatcher(r"\[I\] [^ ]+: \([0-9x]+\)$", regex=True)):
        for line in map(int, lines[:_OUTPUTS]):
            name, values = (each.rpartition("] ")[2] for each in (*text.lines(line, 2), "")[:2])
            if _NUMBERS.fullmatch(values) and _VALUE.search(values):
                yield TimeRow("outputs", f"{name.partition(': ')[0]}: {_values(values)} (line {line + 1})", ())


def _told(text: LogText, row: Mapping[str, str]) -> tuple[list[int], TimeRow] | None:
    found: list[tuple[int, tuple[str, ...]]] = []
    pattern, pick = re.compile(row["pattern"]), row["pick"]
    for lines in text.matches(LineMatcher(row["literal"])):
        most = len(lines) if pick in {"largest", "sum"} else _MOST - len(found)
        for line in map(int, lines[:most]):
            matches = [*pattern.finditer(text.line(line))]
            found += [(line, match.groups("")) for match in matches[: None if pick == "all" and pattern.groups else 1]]
    if not found:
        return None
    line, groups = max(found, key=lambda each: float(each[1][0])) if pick == "largest" else found[-(pick == "last")]
    part = _FILLED.search(row["text"]) if pick == "all" else None
    every = [*dict.fromkeys(part[0].format(*each) for _, each in found)] if part is not None else [""]
    said = row["text"].replace(part[0], listed(every, _LISTED)) if part is not None else row["text"]
    if pick == "sum":
        numbers = [[*map(int, each)] for _, each in found]
        said = said.format(*max(numbers, key=prod), sum=sum(map(prod, numbers)))
    elif pick != "all":
        said = said.format(*groups)
    is_often = pick == "all" and len(found) > len(every)
    often = f", {'at least ' * (len(found) >= _MOST)}{len(found)} times" if is_often else ""
    return [each for each, _ in found], TimeRow(row["label"], f"{masked(said)[:_WORDS]}{often} (line {line})", ())


_LISTS = LineMatcher(r"---- (?:[0-9]+ )?(Inference|Graph|Network|Engine) ((?:In|Out)put)\(s\) ----", regex=True)
_TENSOR = regex(r"^\s*\{?(.+?) \[dtype=(\w+), shape=(.*?)\](?=,?$)", re.MULTILINE)
"""A tensor in Polygraphy's lists of them, which end with a brace."""
_OF = {"Inference": "inference", "Graph": "model", "Network": "network", "Engine": "engine"}
_LAYERS = LineMatcher(r"^ *(?:Layer|Node) [0-9]+ +\| .*\[Op: |^ {4,}Algorithm: \(Implementation: ", regex=True)
_LAYER = regex(
    r" *(Layer|Node) ([0-9]+) +\| (?!.*\[profile [1-9]).*\[Op: (?:LayerType\.(\w+)|(\w+)Type\.\w+|([^]]+))\]"
    r"| +Algorithm: .*? Inputs: .*?DataType\.(\w+)"
)
"""A layer of such a list, but of a further profile, or a tactic of a replay, with the type of its first input."""
_ARRAYS = LineMatcher(
    r"^(?:[A-Za-z_][\w.:/() -]{0,40}[:=] *)?(?:(?:tensor|array)\()?\[[\[ -]*[0-9naif.][-+\[\] 0-9.,enaif]*$", regex=True
)
_NAME = regex(r"[A-Za-z_][\w.:/()-]*(?: [\w.:/()-]+){0,2}")
_VALUE = regex(r"[-+]?(?:[0-9]+\.?[0-9]*(?:e[-+]?[0-9]+)?|nan|inf)")
_NUMBERS = regex(r"[-+\[\] 0-9.,enaif\s]*")
_TELLS_ALONE = regex(r"throughout|NaN")
"""What is worth saying of an array without a name."""
_LINES, _FEW = 1000, 4
"""Lines of an array or a list, and values that are shown one by one."""


def listings(text: LogText) -> Iterator[TimeRow]:
    """Tell what Polygraphy lists of models, networks, engines and replays."""
    yield from _tensors(text)
    yield from _layers(text)


def _tensors(text: LogText) -> Iterator[TimeRow]:
    """Tell which inputs and outputs Polygraphy lists of a model, an engine or an inference, and what became of them."""
    told: dict[tuple[str, ...], dict[str, int]] = {}
    for lines in text.matches(_LISTS):
        for line in map(int, lines):
            body = "\n".join(text.lines(line + 1, _LINES)).partition("}")[0]
            named = [" ".join(each) for each in _TENSOR.findall(body)]
            words = (f"{len(named)} tensors, " if len(named) > _LISTED else "") + listed(named, _LISTED)
            if named:
                told.setdefault(_LISTS.pattern.findall(text.line(line))[0], {}).setdefault(words, line)
    for (of, kind), variants in told.items():
        first, *others = variants
        words = "; then ".join([first, *others[-1:]])
        yield TimeRow(f"{kind.lower()}s", f"of the {_OF[of]}: {words} (line {variants[first]})", ())


def _layers(text: LogText) -> Iterator[TimeRow]:
    """Count the layers of each type that Polygraphy lists of a network, engine or model, and a replay's tactics."""
    listed_types: list[tuple[str, int, Counter[str]]] = []
    for lines in text.matches(_LAYERS):
        for line in map(int, lines):
            matched = _LAYER.match(text.line(line))
            node, number, *kinds, of_engine, replayed = matched.groups() if matched else (None,) * 6
            parsed = next(filter(None, kinds), "").upper()
            of = "replay" if replayed else "model" if node == "Node" else "network" if parsed else "engine"
            if number == "0" or (replayed and not listed_types):
                listed_types.append((of, line, Counter()))
            if listed_types and (kind := parsed or of_engine or replayed):
                listed_types[-1][2][kind] += 1
    for of, line, types in listed_types[:_RUNS]:
        shown = ", ".join(f"{name} {count}" for name, count in types.most_common(_OUTPUTS))
        words = counted(types.total(), "layer") if of != "replay" else f"{types.total()} tactics, their first inputs"
        rest = f" and {len(types) - _OUTPUTS} more types" if len(types) > _OUTPUTS else ""
        yield TimeRow("layers", f"of the {of}: {words}: {shown}{rest} (line {line})", ())


def printed_values(text: LogText) -> Iterator[TimeRow]:
    """Tell what the arrays hold that a program prints under a name: a few values, or the ends and where the top is."""
    said: dict[str, list[tuple[str, int]]] = {}
    behind = 0
    for lines in text.matches(_ARRAYS):
        for line in map(int, lines[:_MOST]):
            name, array = _array(text, line) if line > behind else ("", "")
            behind = max(line + array.count("\n"), behind)
            words = _values(array) if _VALUE.search(array) else ""
            if words and (name or _TELLS_ALONE.search(words)):
                said.setdefault(name or "an array", []).append((words, line))
    for name, each in said.items():
        all_words = [*dict.fromkeys(words for words, _ in each)]
        again = f", the same {len(each)} times" if len(each) > 1 == len(all_words) else ""
        yield TimeRow("values", f"{name}: {'; then '.join(all_words[:_FEW])}{again} (line {each[0][1]})", ())


def _array(text: LogText, line: int) -> tuple[str, str]:
    """Return an array that begins in a line, and its name; no name where it has none, no text if it is not closed."""
    first, *rest = text.lines(line, _LINES)
    before, _, array = first.partition("[")
    before = before.removesuffix("tensor(").removesuffix("array(")
    numbers = _NUMBERS.match("\n".join((f"[{array}", *rest)))
    brackets = [*re.finditer(r"[][]", numbers[0] if numbers is not None else "")]
    depths = accumulate(1 if each[0] == "[" else -1 for each in brackets)
    end = next((each.end() for each, depth in zip(brackets, depths, strict=True) if not depth), 0)
    name = (before if before or line == 1 else text.line(line - 1)).strip(" :=")
    return name if _NAME.fullmatch(name) else "", numbers[0][:end] if numbers is not None else ""


def _values(array: str) -> str:
    values = [float(value) for value in _VALUE.findall(array)]
    finite = [value for value in values if isfinite(value)]
    broken = f", {len(values) - len(finite)} of them NaN or infinite" if len(finite) < len(values) else ""
    if len(values) <= _FEW or not finite:
        return ", ".join(f"{value:g}" for value in values[:_FEW])
    low, high, kind = min(finite), max(finite), "printed values" if "..." in array else "values"
    if low == high:
        return f"{figure(low)} throughout ({len(values)} {kind}{broken})"
    top = f", the largest at index {values.index(high)}" if array.count("[") - array.count("[[") <= 1 else ""
    return f"{len(values)} {kind} from {low:.3g} to {high:.3g}{top}{broken}"
