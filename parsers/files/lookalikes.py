"""Names the kind of a file that is given as a tactic replay and is none, for the error text.

It knows files of Polygraphy 0.29 to 0.53.6 (debug replays, run results, saved inputs, the text of ``inspect tactics``),
of trtexec 8 to 10 (layer information, profiles), and this tool's own documents.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from trtforensics.parsers.lines.dialects import prefix_of

_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_INSPECTED = re.compile(rb"Loading tactic replay file from|^\s*Algorithm: \(Implementation: ", re.MULTILINE)
_BANNERS = (b"&&&& ", b"=== ")
_PREFIX_WITHIN = 512
_JSON_BEGINS = (b"{", b"[")
_SHOW_THEM = "Replays are what `--save-tactics` writes"


_EMPTY = re.compile(rb"[ \t\r\n]*")


class What(NamedTuple):
    """The kind of a file as the end of a sentence that begins with its name, and what to do."""

    sentence: str
    next_step: str = ""


_A_PICKLE = What(
    "is a Python pickle, as Polygraphy before 0.27 wrote replays; it is not unpickled, since that would run whatever "
    "it holds",
    "Load it with that Polygraphy in a sandbox and save it again with 0.27 or later",
)
_INSPECTED_TEXT = What(
    "is the text that `polygraphy inspect tactics` prints, no replay", "Give the file that it was made from"
)

_A_LOG = What("is a log, no replay", "`trtforensics replay convert LOG` makes one of it")


def not_json(opening: bytes) -> What | None:
    """Name the kind of a file that is no JSON by its first bytes; None where it may be JSON."""
    text = opening.lstrip(b" \t\r\n")
    if text.startswith(_JSON_BEGINS) and not _is_logged(text.partition(b"\n")[0]):
        return None
    recognised = (
        (_EMPTY.fullmatch(opening), What("the file is empty")),
        (_PICKLE.match(opening), _A_PICKLE),
        (b"\0" in opening, What("is binary, no JSON")),
        (_INSPECTED.search(opening), _INSPECTED_TEXT),
        (any(map(_is_logged, opening.split(b"\n"))), _A_LOG),
    )
    return next((what for is_it, what in recognised if is_it), What("is no JSON, so no replay"))


def _is_logged(line: bytes) -> bool:
    return line.startswith(_BANNERS) or prefix_of(line[:_PREFIX_WITHIN]) is not None


def other_json(value: Any) -> What:  # noqa: ANN401 - any JSON value
    """Name the kind of a JSON document that has not the outline of a replay."""
    if isinstance(value, dict):
        what = _other_object(value)
    elif isinstance(value, list):
        what = _other_list(value)
    else:
        return What("holds a single value, no replay")
    if what is None and _holds_arrays(value):
        what = What("holds arrays that Polygraphy saved (inputs or outputs), no replay", _SHOW_THEM)
    return what or What("is JSON, but no tactic replay: there is no `replay` object in it", _SHOW_THEM)


_BY_CLASS = {
    "IterationContext": "is a debug replay (`--save-debug-replay`): it records how a search went and holds no tactics",
    "Algorithm": "is the entry of a single layer without the replay around it",
    "TacticReplayData": "is marked as TacticReplayData, but has no `replay` object",
    "RunResults": "holds the outputs of a run (`--save-outputs`), no replay",
}


def _other_object(value: dict[str, Any]) -> What | None:
    if "schema" in value and isinstance(value.get("kind"), str):
        return What(f"is a `{value['kind']}` document of trtforensics, no replay")
    for name, what in _BY_CLASS.items():
        if _class_of(value) == name or any(_class_of(member) == name for member in value.values()):
            return What(what, _SHOW_THEM)
    if "Layers" in value:
        return What("is the layer information of an engine (`--exportLayerInfo`), no replay", _SHOW_THEM)
    return What(_BY_CLASS["RunResults"], _SHOW_THEM) if _is_run_results(value) else None


def _other_list(value: list[Any]) -> What | None:
    first = next((item for item in value if isinstance(item, dict)), {})
    if isinstance(first.get("replay"), dict):
        what = "holds a list around a replay, which Polygraphy does not load either"
        return What(what, "Remove the outer brackets, `[` and `]`")
    if first.keys() & {"count", "averageMs", "timeMs"}:
        return What("is a profile (`--exportProfile`) or the times of a run, no replay", _SHOW_THEM)
    return None


def _class_of(value: object) -> object:
    return value.get("polygraphy_class") if isinstance(value, dict) else None


def _is_run_results(value: dict[str, Any]) -> bool:
    """Whether this is ``{"lst": [["runner", [{"outputs": …}]]]}``; 0.45 and later also name the class."""
    runs = value.get("lst")
    return isinstance(runs, list) and all(isinstance(run, list) and isinstance(run[:1], list) for run in runs)


def _holds_arrays(value: object) -> bool:
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            if item.get("polygraphy_class") in ("ndarray", "LazyNumpyArray") or "__polygraphy_encoded_ndarray" in item:
                return True
            todo += item.values()
        elif isinstance(item, list):
            todo += item
    return False
