"""Which side of a comparison figures belong to: the framework, type and device that a program began before them.

A side begins at a heading (``TensorRT Results:``), a line that says what is begun (``Converting to TF-TRT FP16...``), a
setting (``precision: int8``), a label of another figure (``PyTorch time: 9 ms``), a line of a framework or an engine.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from statistics import median

from trtforensics.console.counting import grouped
from trtforensics.knowledge.table import rows
from trtforensics.model.run import StatedName
from trtforensics.parsers.builds.views import LinesView

_Stated = tuple[int, float, StatedName]

_PACKAGE = "trtforensics.parsers.builds"
_ROWS = grouped(rows("sides", _PACKAGE), lambda row: row["of"])
_WORDS = [
    (of, row["name"], re.compile(row["pattern"], re.IGNORECASE))
    for of in ("framework", "type", "device")
    for row in _ROWS[of]
]
_BEFORE = {row["pattern"]: row["name"] for row in _ROWS["before"]}
"""What ran before a framework that takes its model from it."""
_FORMS = {of: re.compile(_ROWS[of][0]["pattern"]) for of in _ROWS}
"""What begins a side or none, what a heading says besides, what goes on to another model, what shows PyTorch."""
REFERRED = _FORMS["referred"]
"""What names a side that a figure is compared with, not its own."""
_ENGINE = ("own_building", "own_built", "loaded_file", "own_loaded", "engine_built", "poly_built", "engine_loaded")
_TF_TRT = ("of_tf_trt", "tftrt_version", "tftrt_engine", "tftrt_segment")
"""Kinds of line that show an engine of TensorRT, and TensorFlow's use of it."""
_UNKNOWN = {"framework": "", "type": "", "device": ""}
_COMPILED, _LOGGED, _TOLD, _FIGURE = range(4)
"""What begins a side: Torch-TensorRT's message, other lines of frameworks, a text, the label of a figure."""
_LOADED = ("loaded_file", "loaded_file_said")
_LONGEST, _LEFT = 110, 24
"""Characters of a line that begins a side, and of what a heading may say besides."""
_STATISTIC = re.compile(next(row["pattern"] for row in rows("stated", _PACKAGE) if row["what"] == "statistic"))
_NEAR, _MOST = 0.2, 0.75
"""How far from the median most of the figures lie that are of one side."""


def side_of(text: str) -> dict[str, str]:
    """Return what a text names of a side: the first framework, type and device."""
    found: dict[str, tuple[int, str]] = {}
    for of, name, pattern in _WORDS:
        match = pattern.search(text.replace("_", " "))
        if match and (of not in found or match.start() < found[of][0]):
            found[of] = match.start(), name
    return {of: name for of, (_, name) in found.items()}


def _begun(text: str) -> dict[str, str] | None:
    """Return the side that a line begins, with empty texts where it ends the one before; None if it does neither."""
    if len(text) > _LONGEST:
        return None
    if _FORMS["renewed"].search(text):
        return _UNKNOWN | ({} if "onnx" in text.lower() else side_of(text.partition(",")[0].replace("/", " ")))
    said = _FORMS["target"].sub("", text) if re.search("(?i)conver|compil", text) else text
    named = side_of(said)
    if side_of(_FORMS["source"].sub("", said)).get("framework") != named.get("framework"):
        named.pop("framework", None)
    if not named or _FORMS["none"].search(text):
        return None
    left = _FORMS["common"].sub("", said)
    for _, _, pattern in _WORDS:
        left = pattern.sub("", left)
    is_short = len(re.sub(r"[\W_]+", "", left)) <= _LEFT * bool(_FORMS["headed"].match(text))
    return named if is_short or _FORMS["begun"].search(text) or _FORMS["stated"].match(text) else None


def _segments(log: LinesView, found: Sequence[_Stated]) -> list[tuple[int, str]]:
    """Return the sides with the lines at which they begin; those without a figure between make one."""
    loggers = dict(log.each("dialect", "dialect"))
    begins, figures = [*loggers], {line for line, *_ in found}
    texts = ((line, str(text)) for line, text in log.each("untyped", "text") if line not in figures)
    changes = [(line, _LOGGED, {"framework": "TF-TRT"}) for line in log.lines(*_TF_TRT)]
    changes += [(line, _LOGGED, side_of(str(path).replace("/", " "))) for line, path in log.each("own_saved", "name")]
    changes = (
        changes if log.has(*_TF_TRT) else [(line, _LOGGED, {"framework": "TensorRT"}) for line in log.lines(*_ENGINE)]
    )
    for line, text in log.each("message", "text"):
        if begins and loggers[begins[bisect_right(begins, line) - 1]].startswith("torch_tensorrt"):
            given = side_of(text.partition("dtype as")[2].partition(",")[0])
            changes.append((line, _COMPILED, {"framework": "Torch-TensorRT", **given}))
    changes += [(line, _TOLD, begun) for line, text in texts if (begun := _begun(text)) is not None]
    changes += [(line, _FIGURE, {} if REFERRED.search(name.name) else side_of(name.name)) for line, _, name in found]
    state, segments, figured = dict[str, str](), [(0, "")], False
    for line, rank, begun in sorted(changes, key=itemgetter(0, 1)):
        if any(begun.values()) or (begun and (figured or state)):
            old = state.get("framework")
            goes_on = begun.get("framework", old) == old and not (rank == _COMPILED and figured)
            state = {**(state if goes_on else {}), **begun}
            label = " ".join(filter(None, (state.get(of) for of in _UNKNOWN)))
            segments[len(segments) if figured else max(1, len(segments) - 1) :] = [(line, label)]
        figured = rank == _FIGURE or (figured and not begun)
    return segments


def is_steady(values: Sequence[float]) -> bool:
    """Whether figures are of one thing: most lie near their median."""
    usual = median(values)
    return sum(abs(value - usual) <= _NEAR * abs(usual) for value in values) >= _MOST * len(values)


def _is_sided(name: StatedName) -> bool:
    """Whether a figure's own names say what ran, as those of a table's rows do."""
    if name.row and not _STATISTIC.fullmatch(name.row):
        return True
    told = side_of(f"{'' if REFERRED.search(name.name) else name.name} {name.group}")
    return not told.keys() <= {"device"}


def by_sides(log: LinesView, found: list[_Stated]) -> list[_Stated]:
    """Name the sides of figures that come again under one name with another side; those of an unsure one stay."""
    groups = grouped((each for each in found if not _is_sided(each[2])), lambda each: each[2].key)
    segments = _segments(log, found) if any(len(group) > 1 for group in groups.values()) else []
    if {line for line, _ in segments[1:]} <= {*log.lines(*_LOADED)}:
        return found  # engines are told apart by the names of their files
    first = next((label for _, label in segments if label), "")
    before = _BEFORE.get(first.partition(" ")[0], "")
    texts = [(line, str(text)[:_LONGEST]) for line, text in log.each("untyped", "text")]
    if not before and all(re.match("TensorRT|$", label) for _, label in segments):
        is_torch = any(line < segments[1][0] and _FORMS["signs"].search(text) for line, text in texts)
        before = "PyTorch" if is_torch else f"before {first}"
    segments[0] = 0, before
    sizes = [(line, match[1]) for line, text in texts if (match := _FORMS["input"].search(text))]
    ends = [line for line, _ in (*segments[1:], (log.last_line + 1, ""))]
    of: dict[tuple[int, StatedName], str] = {}
    for group in groups.values():
        parts = grouped(group, lambda each: bisect_right(segments, (each[0], "~")) - 1)
        told = {at: segments[at][1] if is_steady([value for _, value, _ in each]) else "" for at, each in parts.items()}
        if 0 in told and before:
            told[0] = told[0] or f"before {first}"
        given = {at: {size for line, size in sizes if segments[at][0] <= line < ends[at]} for at in told}
        is_unlike = len({frozenset(each) for each in given.values() if each}) > 1
        for at, each in parts.items() if len({*told.values()} - {""}) > 1 else ():
            size = f", input {min(given[at])}" if is_unlike and len(given[at]) == 1 and told[at] else ""
            of |= {(line, name): told[at] + size for line, _, name in each}
    return [(line, value, replace(name, side=of.get((line, name), ""))) for line, value, name in found]
