"""Names the kind of a file that is given as a tactic replay and is none, for the error text.

It knows files of Polygraphy 0.29 to 0.53.6 (debug replays, run results, saved inputs, the text of ``inspect tactics``),
of trtexec 8 to 10 (layer information, profiles), and this tool's own documents.
"""

import re
from typing import Any, NamedTuple

from trtforensics.knowledge.table import rows
from trtforensics.parsers.lines.dialects import prefix_of

_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_INSPECTED = re.compile(rb"Loading tactic replay file from|^\s*Algorithm: \(Implementation: ", re.MULTILINE)
_BANNERS = (b"&&&& ", b"=== ")
_PREFIX_WITHIN = 512
_JSON_BEGINS = (b"{", b"[")
_EMPTY = re.compile(rb"[ \t\r\n]*")


class What(NamedTuple):
    """The kind of a file as the end of a sentence that begins with its name, and what to do."""

    sentence: str
    next_step: str = ""


def not_json(opening: bytes) -> What | None:
    """Name the kind of a file that is no JSON by its first bytes; None where it may be JSON."""
    text = opening.lstrip(b" \t\r\n")
    if text.startswith(_JSON_BEGINS) and not _is_logged(text.partition(b"\n")[0]):
        return None
    recognised = {
        "empty": _EMPTY.fullmatch(opening),
        "pickle": _PICKLE.match(opening),
        "binary": b"\0" in opening,
        "inspected": _INSPECTED.search(opening),
        "log": any(map(_is_logged, opening.split(b"\n"))),
    }
    return _what(next((mark for mark, is_it in recognised.items() if is_it), "text"))


def _what(mark: str) -> What:
    row = next(row for row in rows("lookalikes", "trtforensics.parsers.files") if row["mark"] == mark)
    return What(row["sentence"], row["next_step"])


def _is_logged(line: bytes) -> bool:
    return line.startswith(_BANNERS) or prefix_of(line[:_PREFIX_WITHIN]) is not None


def other_json(value: Any) -> What:  # noqa: ANN401 - any JSON value
    """Name the kind of a JSON document that has not the outline of a replay."""
    if isinstance(value, dict) and "schema" in value and isinstance(value.get("kind"), str):
        return What(f"is a `{value['kind']}` document of trtforensics, no replay")
    mark = _mark_of_object(value) if isinstance(value, dict) else _mark_of_list(value)
    return _what(mark or ("arrays" if _holds_arrays(value) else "json"))


_CLASSES = ("IterationContext", "Algorithm", "TacticReplayData", "RunResults")


def _mark_of_object(value: dict[str, Any]) -> str:
    classes = [each.get("polygraphy_class") for each in (value, *value.values()) if isinstance(each, dict)]
    of_class = next((name for name in _CLASSES if name in classes), "")
    return of_class or ("Layers" if "Layers" in value else "RunResults" if _is_run_results(value) else "")


def _mark_of_list(value: object) -> str:
    if not isinstance(value, list):
        return "value"
    first = next((item for item in value if isinstance(item, dict)), {})
    if isinstance(first.get("replay"), dict):
        return "list"
    return "profile" if first.keys() & {"count", "averageMs", "timeMs"} else ""


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
