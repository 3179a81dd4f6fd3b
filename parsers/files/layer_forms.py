"""Lists of layers in JSON that another program wrote, recognised by their form: objects with a name and what it says.

Such a list may stand at the top, or under any key; its objects have the keys of TensorRT's inspector or of trtexec's
profile in another spelling. What has neither a type, a tactic, a precision nor a time is no list of layers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from trtforensics.parsers.files.exported_json import PlacedValue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.model.span import SourceSpan

_NAMES = ("name", "layername", "layer")
_KEYS = {
    "Name": _NAMES,
    "LayerType": ("layertype", "type", "optype", "kind"),
    "TacticValue": ("tacticvalue", "tactic", "tacticid"),
    "TacticName": ("tacticname", "kernel", "kernelname"),
    "Inputs": ("inputs",),
    "Outputs": ("outputs",),
    "Metadata": ("metadata",),
}
_TELLING = {"layertype", "tacticvalue", "tactic", "tacticid", "tacticname", "kernel", "kernelname", "precision"}
"""The keys that only layers have; a type or a kind counts where the list is called one of layers."""
_VAGUE = {"type", "kind", "optype"}
_TIMES = {
    **dict.fromkeys(("ms", "timems", "averagems", "avgms", "meanms", "medianms", "durationms", "avgtimems"), 1.0),
    **dict.fromkeys(("us", "timeus", "averageus", "avgus", "meanus", "medianus", "durationus", "avgtimeus"), 1e-3),
}
_DEEPEST = 6
_TEXT = rb'"(?:[^"\\]|\\.)*"'
_FIRST = rb'(?:[^{}\[\]"]|' + _TEXT + rb")*?"
_WORDS = b"|".join(b"[ _-]?".join(bytes([letter]) for letter in key.encode()) for key in (*sorted(_TELLING), *_TIMES))
_NAMED = rb"(?=" + _FIRST + rb'"(?:layer_?)?(?:name|layer)"\s*:)'
_OPENING = (
    rb"(?i)\[\s*\{" + _NAMED + rb"(?=" + _FIRST + rb'"(?:' + _WORDS + rb')"\s*:)'
    rb'|"\w*layers\w*"\s*:\s*\[\s*(?:"|\{' + _NAMED + rb"(?=" + _FIRST + rb'"(?:op_?type|type|kind)"\s*:))'
)


def holds_layers(text: bytes) -> bool:
    """Whether a list of layers begins in the text of a file."""
    return re.search(_OPENING, text) is not None


class ListedLayers(NamedTuple):
    """The objects of a list with their places, with keys as TensorRT spells them; and their times in ms."""

    layers: list[tuple[dict[str, Any] | str, SourceSpan]]
    times: list[tuple[str, float, SourceSpan]]


def listed_layers(document: PlacedValue) -> ListedLayers | None:
    """Return the layers of a document: of several lists the one that says most, and times from any of them."""
    described = [_fields(items, called) for items, called in _lists(document, document.span, "", 0)]
    described = [layers for layers in described if layers]
    if not described:
        return None
    best = max(described, key=lambda layers: (isinstance(layers[0][0], dict), len(layers), len(layers[0][0])))
    return ListedLayers(best, max(map(_times, described), key=len))


def _lists(
    value: Any,  # noqa: ANN401 - any JSON
    span: SourceSpan,
    called: str,
    depth: int,
) -> Iterator[tuple[list[tuple[Any, SourceSpan]], str]]:
    """Give each list of a document with the places of its items, and the key that it stands under."""
    if isinstance(value, PlacedValue):
        value, span = value.value, value.span
    if isinstance(value, list):
        yield [(_plain(item), item.span if isinstance(item, PlacedValue) else span) for item in value], called
    if depth < _DEEPEST and isinstance(value, dict):
        for key, member in value.items():
            yield from _lists(member, span, key, depth + 1)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, PlacedValue):
        value = value.value
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return {key: _plain(member) for key, member in value.items()} if isinstance(value, dict) else value


def _spelling(key: str) -> str:
    return re.sub(r"[\W_]", "", key).casefold()


def _fields(items: list[tuple[Any, SourceSpan]], called: str) -> list[tuple[dict[str, Any] | str, SourceSpan]]:
    """Return the items as layers; none where they are no layers."""
    of_layers = "layer" in called.casefold()
    if items and of_layers and all(isinstance(item, str) for item, _ in items):
        return items
    layers: list[tuple[dict[str, Any] | str, SourceSpan]] = []
    for item, span in items:
        keys = {_spelling(key): key for key in item} if isinstance(item, dict) else {}
        telling = _TELLING | set(_TIMES) | (_VAGUE if of_layers else set())
        name = next((item[keys[key]] for key in _NAMES if key in keys), None)
        if not isinstance(name, str) or telling.isdisjoint(keys):
            return []
        known = {to: item[keys[key]] for to, spelt in _KEYS.items() for key in reversed(spelt) if key in keys}
        known |= {key: item[key] for kind, key in keys.items() if not any(kind in spelt for spelt in _KEYS.values())}
        layers.append((known | {"Name": name}, span))
    return layers


def _times(layers: list[tuple[dict[str, Any] | str, SourceSpan]]) -> list[tuple[str, float, SourceSpan]]:
    times = []
    for layer, span in layers:
        stated = {_spelling(key): value for key, value in layer.items()} if isinstance(layer, dict) else {}
        time, unit_ms = next(((stated[key], unit) for key, unit in _TIMES.items() if key in stated), (None, 0.0))
        if isinstance(time, int | float) and not isinstance(time, bool):
            times.append((stated["name"], time * unit_ms, span))
    return times
