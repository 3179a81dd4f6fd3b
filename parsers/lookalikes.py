"""What a file is that somebody took for a tactic replay, so that the refusal can name it.

Forms seen: Polygraphy 0.29 to 0.53.6 (debug replays, run results, saved inputs, the text of ``inspect tactics``),
trtexec 8 to 10 (layer information, profiles), this tool's own documents.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_INSPECTED = re.compile(rb"Loading tactic replay file from|^\s*Algorithm: \(Implementation: ", re.M)
_LOGGED = re.compile(rb"^\[[^\]\n]*\]\s?\[[VIWEF]\]|^\[[VIWEF]\] |^&&&& |^=== .* ===", re.M)
_JSON_BEGINS = (b"{", b"[")
_SHOW_THEM = "Replays are what `--save-tactics` writes"


class What(NamedTuple):
    """What a file is instead, as the end of a sentence that begins with its name, and what to do."""

    sentence: str
    next_step: str = ""


def not_json(opening: bytes) -> What | None:
    """Say what a file is that is no JSON, by its first bytes; None where it may be JSON."""
    text = opening.lstrip(b" \t\r\n")
    if not text:
        return What("the file is empty")
    if text.startswith(_JSON_BEGINS) and not _LOGGED.match(text):
        return None
    if _PICKLE.match(opening):
        return What(
            "is a Python pickle, as Polygraphy before 0.27 wrote replays; it is not unpickled, since that would run "
            "whatever it holds",
            "Load it with that Polygraphy in a sandbox and save it again with 0.27 or later",
        )
    if b"\0" in opening:
        return What("is binary, no JSON")
    if _INSPECTED.search(opening):
        return What(
            "is the text that `polygraphy inspect tactics` prints, no replay", "Give the file that it was made from"
        )
    if _LOGGED.search(opening):
        return What("is a log, no replay", "`trtforensics replay convert LOG` makes a replay of a build log")
    return What("is no JSON, so no replay")


def other_json(value: Any) -> What:  # noqa: ANN401 - any JSON value
    """Say what a JSON document is that has not the outline of a replay."""
    if isinstance(value, list):
        return _other_list(value)
    if not isinstance(value, dict):
        return What("holds a single value, no replay")
    kind = value.get("kind")
    if "schema" in value and isinstance(kind, str):
        return What(f"is a `{kind}` document of trtforensics, no replay")
    for name, what in _BY_CLASS.items():
        if _class_of(value) == name or any(_class_of(member) == name for member in value.values()):
            return What(what, _SHOW_THEM)
    if "Layers" in value:
        return What("is the layer information of an engine (`--exportLayerInfo`), no replay", _SHOW_THEM)
    if _is_run_results(value):
        return What("holds the outputs of a run (`--save-outputs`), no replay", _SHOW_THEM)
    if _holds_arrays(value):
        return What("holds arrays that Polygraphy saved (inputs or outputs), no replay", _SHOW_THEM)
    return What("is JSON, but no tactic replay: there is no `replay` object in it", _SHOW_THEM)


_BY_CLASS = {
    "IterationContext": "is a debug replay (`--save-debug-replay`): it records how a search went and holds no tactics",
    "Algorithm": "is the entry of a single layer without the replay around it",
    "TacticReplayData": "is marked as TacticReplayData, but has no `replay` object",
    "RunResults": "holds the outputs of a run (`--save-outputs`), no replay",
}


def _other_list(value: list[Any]) -> What:
    first = next((item for item in value if isinstance(item, dict)), {})
    if isinstance(first.get("replay"), dict):
        return What(
            "holds a list around a replay, which Polygraphy does not load either",
            "Remove the outer brackets, `[` and `]`",
        )
    if first.keys() & {"count", "averageMs", "timeMs"}:
        return What("is a profile (`--exportProfile`) or the times of a run, no replay", _SHOW_THEM)
    if _holds_arrays(value):
        return What("holds arrays that Polygraphy saved (inputs or outputs), no replay", _SHOW_THEM)
    return What("holds a list, no replay", _SHOW_THEM)


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
            if item.get("polygraphy_class") in {"ndarray", "LazyNumpyArray"} or "__polygraphy_encoded_ndarray" in item:
                return True
            todo += item.values()
        elif isinstance(item, list):
            todo += item
    return False
