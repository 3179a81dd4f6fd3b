"""What programs state of themselves in words of their own: times, rates, accuracies, memory, each under its own name.

Read are ``name: number unit`` in any line that no rule reads, several in a line too, and tables of such numbers.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from trtforensics.model.run import StatedName

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.parsers.builds.views import LinesView

    _Figure = tuple[StatedName, str]

_MOST = 2000
"""Figures that are read of a log."""
_LONGEST, _LONGEST_NAME = 300, 60
"""Characters of a line, and of a name."""
_TIME = r"[nuµ]s|[nuµm]secs?|m[Ss](?:ec(?:ond)?s?)?|m(?:illi)?[Ss]econds|s(?:ecs?)?|[Ss]econds?|min(?:utes?)?"
_PER_SECOND = r"(?:/| per )s(?:ec(?:ond)?)?"
_RATE = (
    r"(?i:fps|qps|(?:images?|imgs?|samples?|infer(?:ences?)?|frames?|req(?:uests?)?|quer(?:y|ies)|sentences|tok(?:ens?)?)"
    rf"{_PER_SECOND})"
)
_AMOUNT = r"%|[KMG]i?B|x"
_NUMBER = r"-?[0-9]+(?:[.,][0-9]+)*(?:e[-+]?[0-9]+)?"
_FIGURE = re.compile(
    rf"(?<![\w.:/'\"-])(?P<number>{_NUMBER})(?! ?[0-9:])"
    rf"(?: ?(?:(?P<rate>{_RATE})|(?P<time>{_TIME})|(?P<amount>{_AMOUNT}))(?![\w/]))?(?![\w:'/]|\.[0-9])"
)
_UNITS = ("rate", "time", "amount")
_MEASURES = re.compile(
    r"(?i:latency|(?:\b|_)time|throughput|\bfps|speed.?up|elapsed|duration|accuracy|\bacc\b|\bm?ap(?:[0-9@]|\b)|recall"
    r"|\btop-?[15]\b|\b[wc]er\b|bleu|\biou|psnr|perplexity|diff(?:erence)?\b|\bmse\b|\bmae\b|similarity|cosine|took)"
)
"""What makes a number without a unit, or with one that settings have too, a result."""
_MEMORY = re.compile(r"(?i:memory|\bmem\b|peak|vram)")
_SIGNED = re.compile(r"(?i:diff|similarity|cosine)")
_NO_RESULT = re.compile(
    r"(?i:error code|time.?stamp|date ?time|limit|time.?out|max_|min_|interval|[KMG]i?B/s|\beta\b|download|it/s\b"
    r"|s/it\b|epoch|cpu time|wall.?(?:clock|time)|batch.?size|remaining|window|minimum of|threshold|level|at least|at most|by default|recommend)"
    r"|[|] *[0-9]+/[0-9]+|^ *(?:\"|'|def |import |for |if |print|[#!%$>]|In \[)|[0-9]%\|"
)
"""Settings, progress of downloads and of training, what a notebook or a shell says of itself, source code."""
_LOGGED = re.compile(
    r"^(?:\x1b\[[0-9;]*m|\[[^\]]{1,60}\][: ]*|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.,]+Z?[ |-]*|[0-9:.]{8,} +"
    r"|\b(?:INFO|DEBUG|WARN(?:ING)?|I|W)\b[] :|-]*)+"
)
_EDGES = " \t:=~<>-*+#.,;|()[]{}'\"→≈"
_BEHIND = re.compile(r"\s*(?!(?:per|on|in|for|at|over|with|and|of|to|by|is)\b)([A-Za-z][\w -]*?)\s*(?=[,;|+()]|$)")
_LISTED = re.compile(r"\s*[A-Za-z][\w -]*[,;+]\s*")
_DIVIDED = re.compile(r"(?:[,;|()\[\]+]|\.(?= ))\s*(?=\S)")
_CELLS = re.compile(r"\s*[|│┃]\s*|\s{2,}|\t")
_CELL = re.compile(rf"({_NUMBER})(?: ?({_RATE}|{_TIME}|{_AMOUNT}))?")
_UNIT_OF_COLUMN = re.compile(rf"[(\[]({_RATE}|{_TIME}|{_AMOUNT})[)\]]")


def stated(log: LinesView, known: set[int]) -> Iterator[tuple[int, float, StatedName]]:
    """Give what programs state, by its line; lines that are ``known`` already are left out."""
    header: list[str] = []
    before = count = 0
    for line, text in log.each("untyped", "text"):
        plain = _LOGGED.sub("", text[:_LONGEST])
        if line in known or (not any(map(str.isdigit, plain)) and not _MEASURES.search(plain)):
            continue
        cells = _CELLS.split(plain.strip(" |│┃\t"))
        figures = [*_of_row(header, cells)] if line <= before + 2 else []
        if figures:
            before = line
        elif not any(map(_CELL.fullmatch, cells)) and any(map(_is_measure, cells[1:])):
            header, before = cells, line
        for name, number in figures or _in_line(plain):
            yield line, number_of(number), name
            count += 1
        if count >= _MOST:
            return


def number_of(text: str) -> float:
    """Return a number whose point may be a comma; a comma before three digits groups them."""
    head, comma, tail = text.rpartition(",")
    is_point = comma and "." not in text and len(tail) != 3  # noqa: PLR2004 - digits of a group
    return float(f"{head}.{tail}" if is_point else text.replace(",", ""))


def _is_measure(text: str) -> bool:
    return _MEASURES.search(text) is not None or _UNIT_OF_COLUMN.search(text) is not None


def _of_row(header: Sequence[str], cells: Sequence[str]) -> Iterator[_Figure]:
    """Give the cells of a table's row below measures, each with the row's first cell."""
    if len(cells) != len(header):
        return
    for column, cell in zip(header[1:], cells[1:], strict=True):
        number = _CELL.fullmatch(cell)
        if number and _is_measure(column):
            unit = _UNIT_OF_COLUMN.search(column)
            name = re.split(r"[:)] ", _UNIT_OF_COLUMN.sub("", column))[0].strip(_EDGES)
            yield StatedName(name, cells[0], number[2] or (unit[1] if unit else "")), number[1]


def _in_line(text: str) -> Iterator[_Figure]:
    """Give the figures of a line; the name of each stands before it, or behind it in a list of such."""
    measured = _MEASURES.search(text)
    if _NO_RESULT.search(text):
        return
    found = [match for match in _FIGURE.finditer(text) if measured or any(match[unit] for unit in _UNITS)]
    is_list = len(found) > 1 and all(_LISTED.fullmatch(text, one.end(), two.start()) for one, two in pairwise(found))
    base, start = "", 0
    for match in found:
        before = text[start : match.start()]
        name = " ".join(_DIVIDED.split(before.rstrip(_EDGES))[-1].strip(_EDGES).split())
        behind = _BEHIND.match(text, match.end()) if is_list or not name else None
        name, start = behind[1] if behind else name, match.end()
        base = "" if ")" in before else base
        whole, base = f"{base}: {name}" if base else name, base or (name if text.startswith(" (", start) else "")
        unit = next((match[unit] for unit in _UNITS if match[unit]), "")
        if name and _is_result(match, whole, before):
            yield StatedName(whole, "", unit), match["number"]


def _is_result(match: re.Match[str], name: str, before: str) -> bool:
    """Whether a figure is one: by its unit; one without, or of settings too, by its name and what stands between."""
    if len(name) > _LONGEST_NAME or not re.search(r"[A-Za-z]{2}", name) or re.search(r"\S/\S+/", name):
        return False
    if match["number"].startswith("-") and not _SIGNED.search(name):
        return False
    if match["rate"] or (match["time"] and match["time"] not in {"s", "min"}):
        return True
    if match["amount"] and match["amount"] not in "%x":
        return bool(_MEMORY.search(name))
    is_setting = "_" in name and match["number"].isdigit()
    is_assigned = bool(match[0] != match["number"] or re.search(r"[:=]\s*$| is $", before))
    return is_assigned and not is_setting and _MEASURES.search(name) is not None
