"""Excerpts in which no line is an error: what their figures and their owners' words say."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter
from statistics import median

from trtforensics.console.counting import grouped
from trtforensics.findings.case import Case, LoggedBuild
from trtforensics.findings.finding import Observation, Severity
from trtforensics.findings.observations import CLASSES
from trtforensics.findings.rule import explained, shared_cases
from trtforensics.findings.special_cases import special
from trtforensics.knowledge.platforms import gpu_named
from trtforensics.knowledge.table import rows
from trtforensics.model.deferred import regex
from trtforensics.model.run import RunResult, StatedName
from trtforensics.parsers.builds.views import Spans
from trtforensics.parsers.lines.dialects import prefix_of
from trtforensics.parsers.lines.unread import ANY_ERROR, ONE_QUESTION
from trtforensics.parsers.notation.sides import haste_of, is_apart
from trtforensics.render.stated_rows import STATED
from trtforensics.sources.quoting import QuotedLog

_PRINTED, _SAID, _SETTING, _RUN, _COPY, _PART, _RATE, _SPEED = (
    regex(row["pattern"]) for row in rows("wording", "trtforensics.findings")
)
"""What programs print beside loggers, what an owner says (four words in a row) or types, and lines of settings; names
of times that a run, a copy of its outputs and what stands around them take, of rates, and of either."""
_SIDE = regex(STATED["side"])
_Figure = tuple[tuple[float, StatedName, int], str]
_MANY, _FAR, _ALIKE, _ASKED = 3, 5, 0.95, ("type_asked", "type_mode", "type_on")
"""Times of a program that may show its start; how many times its run a copy takes; a part
from which on figures are alike; kinds of lines that say which types are asked for, in whatever words."""


def as_excerpt(case: Case, read: QuotedLog, worst: Severity) -> Case:
    """Return a case with the text of a short log; without it of a longer one, or of several files."""
    source = read.log.source
    quoted = read.quote(range(1, source.lines + 1)) if source.lines <= ONE_QUESTION and not source.parts else {}
    told = not all(map(_SETTING.match, quoted.values()))
    return replace(case, worst=worst, excerpt=told * "\n".join(quoted[line] for line in sorted(quoted)))


def _amounts(results: Sequence[RunResult]) -> dict[int, str]:
    """Say by line what figures amount to: a first time of many, a copy that holds the run, an engine that is slow."""
    figures = [(each.number, each.stated, each.span.line) for each in results if each.stated and each.number]
    spelt = [f"{name.name} {number:g} {name.unit}".strip() for number, name, _ in figures]
    said: dict[int, str] = {}
    sides: dict[str, dict[tuple[bool, int], tuple[float, str, int]]] = {}
    for each in grouped(figures, itemgetter(1)).values():
        (first, name, line), *rest = each
        usual, often = median(number for number, *_ in rest or each), len({at for *_, at in each}) >= _MANY
        is_first = often and is_apart([number for number, *_ in each])
        if is_first and _RUN.search(name.name) and _SPEED.search(name.name):
            said[line] = f"<<first {name.name} {first:g} {name.unit}, then {usual:g} {name.unit}>>"
    for pair in pairwise(zip(figures, spelt, strict=True)):
        said |= _beside(*pair) | _beside(*reversed(pair), is_first=True)
    for (number, name, line), words in zip(figures, spelt, strict=True):
        text = f"{name.side} {name.group} {name.row} {words}"
        of = f"{_SIDE.sub('', name.name).strip(' :_')} {name.unit}"
        if (haste := haste_of(text)) and _SPEED.search(of):
            sides.setdefault(of.lower(), {}).setdefault(haste, (number, " ".join(text.split()), line))
    for of, ranked in sides.items():
        (slow, other, _), (fast, ours, line) = ranked[min(ranked)], ranked[max(ranked)]
        gain = fast / slow if _RATE.search(of) else slow / fast
        how = "slower" if gain < _ALIKE else "no faster" if gain < 1 / _ALIKE else "faster"
        if len(ranked) > 1 and not (how == "faster" and line in said):
            said[line] = f"<<{how}: {ours}, {other}>>"
    return said


def _beside(run: _Figure, other: _Figure, *, is_first: bool = False) -> dict[int, str]:
    """Say that what stands beside a run takes longer than it: a copy behind it, or what prepares and reads it."""
    ((short, name, _), words), ((long, around, line), spelt) = run, other
    if name.unit != around.unit or long < 2 * short or not _RUN.search(name.name) or _PART.search(name.name):
        return {}
    is_copy = _COPY.search(around.name) and not is_first and long >= _FAR * short
    is_part = _PART.search(around.name) and not _RATE.search(around.unit)
    return {line: f"<<{'copy' if is_copy else 'around'} {spelt}, run {words}>>"} if is_copy or is_part else {}


@explained("TF706")
def shown(case: Case) -> Iterator[Observation]:
    """Give the first case of the table that holds of an excerpt, with the build of the last line that shows it."""
    builds, text = case.log.builds, case.excerpt
    notes = (note for build in builds for note in build.notes)
    told = {note.span.line for note in notes if note.kind not in {*CLASSES, ANY_ERROR, *_ASKED}}
    amounts = _amounts([result for build in builds for result in build.results]) if text else {}
    lines = text.split("\n")
    gpus = [(number, gpu) for number, line in enumerate(lines, 1) if (gpu := gpu_named(line))]
    for number, gpu in gpus if all(gpu["weak"] for _, gpu in gpus) else ():  # of several a fast one may be meant
        amounts[number] = f"{amounts.get(number, '')}<<{gpu['gpu']}, capability {gpu['sm']}, weak {gpu['weak']}>>"
    for number, line in enumerate(lines, 1):
        is_said = _SAID.search(line) and not _PRINTED.search(line) and not prefix_of(line.encode())
        lines[number - 1] = amounts.get(number, "") + (line if is_said and number not in told else "")
    words = "\n".join(lines)
    cases = [row for row in shared_cases("excerpts") if text and (not row.settle or case.worst is Severity.NOTE)]
    found = special(cases, LoggedBuild(case.log, case.build), words, text)
    if found is not None and case.build.first_line <= max(found.lines, default=0) <= case.build.last_line:
        spans = [Spans(case.log.source, case.log.line_starts).of(line) for line in found.lines]
        yield Observation(found.title, spans, cause=found.cause, fix=found.fix, settle=found.settle)
