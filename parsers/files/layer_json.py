"""Reads engine layers as JSON: ``trtexec --exportLayerInfo``, ``IEngineInspector`` (TensorRT 8.2 to 11).

Files of 8.4 to 10.16, of trtexec, Torch-TensorRT and Python, hold an object with ``Layers`` and, mostly, ``Bindings``.
Layers are names (engine built without detailed profiling verbosity) or objects with the fields of a detailed log line.
TensorRT 11 has ``I/O Tensors`` for ``Bindings`` and prints ``Datatype`` and ``Format`` apart (from NVIDIA's migration
guide and RTX 1.7; we have seen no file of 11).
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from trtforensics.errors import NotEngineInfoError
from trtforensics.knowledge.table import rows, words
from trtforensics.model.engine import Engine, EngineInfo, IoTensor
from trtforensics.model.log import EngineLayer, EngineTensor
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import LayerTime, ProfileRun
from trtforensics.parsers.files.exported_json import PlacedValue, each_document
from trtforensics.parsers.lines.events import tactic_id
from trtforensics.parsers.notation.names import onnx_nodes
from trtforensics.parsers.notation.precision import compute_precision
from trtforensics.parsers.notation.tensors import described
from trtforensics.parsers.text.document import Document

_IO = ("I/O Tensors", "Bindings")
_SIDES = ("Inputs", "Outputs")
_OWN = {"Name", "LayerType", "Inputs", "Outputs", "TacticValue", "TacticName", "Metadata"}
_DEPTH = 3
"""Down to the fields of a layer values have places, because the place of a layer is that of its name."""
_NEXT_STEP = "Give what `trtexec --exportLayerInfo` wrote"


def read_layer_json(document: Document) -> EngineInfo:
    """Read an engine-layer file.

    Raises:
        NotEngineInfoError: it is no JSON, it is truncated, or it is JSON of another kind; it says where.
    """
    return EngineInfo(document.info, *each_document(document, _DEPTH, _engine, _NEXT_STEP))


def _engine(record: PlacedValue) -> Engine:
    top = record.value
    layers = top.get("Layers") if isinstance(top, dict) else None
    listed = layers.value if layers is not None and isinstance(layers.value, list) else None
    if listed is None or (listed and all(isinstance(x.value, dict) and "Name" not in x.value for x in listed)):
        return _other_form(record)
    engine_layers = tuple(map(_layer, listed))
    io = next((top[name] for name in _IO if name in top), None)
    plain = [_fields(layer) for layer in listed if isinstance(layer.value, dict)]
    return Engine(
        layers=engine_layers,
        io=tuple(_io_tensor(tensor) for tensor in io.value) if io and isinstance(io.value, list) else (),
        detailed=bool(plain),
        split_formats="I/O Tensors" in top
        or any("Datatype" in tensor for layer in plain for side in _SIDES for tensor in layer.get(side, [])),
        span=record.span,
    )


def _other_form(record: PlacedValue) -> Engine:
    """Return the engine of a document that another program wrote: a list of objects with a name and what it says.

    The list may stand at the top, or under any key; its objects have the keys of TensorRT's inspector or of trtexec's
    profile in another spelling. What has neither a type, a tactic, a precision nor a time is no list of layers. Of
    several lists the one that says most has the layers, any of them the times.
    """
    listed = [fields for items in _lists(record, record.span, "", 0) if (fields := _of_list(*items))]
    if not listed:
        raise NotEngineInfoError(str(record.span), 'holds no list of "Layers", and no other list of layers', _NEXT_STEP)
    best = max(listed, key=lambda layers: (isinstance(layers[0][0], dict), len(layers), len(layers[0][0])))
    times = max(map(_times, listed), key=len)
    layers = tuple(_listed_layer(fields, span) for fields, span in best)
    whole = sum(ms for _, ms, _ in times) or 1.0
    rows = tuple(LayerTime(name, ms, ms, None, 100 * ms / whole, span) for name, ms, span in times)
    detailed = any(isinstance(fields, dict) for fields, _ in best)
    return Engine(layers, (), detailed, False, record.span, ProfileRun(None, rows, record.span) if rows else None)  # noqa: FBT003 - its fields in order


def _listed_layer(fields: dict[str, Any] | str, span: SourceSpan) -> EngineLayer:
    """Return a layer with what of it has TensorRT's form; the rest stays among its fields."""
    if isinstance(fields, str):
        return _made(fields, {}, span)
    copy = dict(fields)
    for side in _SIDES:
        given = copy.get(side)
        if given is not None and not (isinstance(given, list) and all(isinstance(tensor, dict) for tensor in given)):
            copy[side.casefold()] = copy.pop(side)
    try:
        return _made(copy["Name"], copy, span)
    except NotEngineInfoError:
        copy["TacticName"] = copy.get("TacticName") or _text(copy.pop("TacticValue"))
        return _made(copy["Name"], copy, span)


def _layer(record: PlacedValue) -> EngineLayer:
    if isinstance(record.value, str):
        return _made(record.value, {}, record.span)
    fields = _fields(record)
    name = fields.get("Name")
    if not isinstance(name, str):
        raise NotEngineInfoError(str(record.span), "a layer is neither a name nor an object with a Name", _NEXT_STEP)
    return _made(name, fields, record.value["Name"].span)


def _fields(record: PlacedValue) -> dict[str, Any]:
    """Return the members of an object without their places; none where it is no object."""
    return {key: member.value for key, member in record.value.items()} if isinstance(record.value, dict) else {}


def _made(name: str, fields: Mapping[str, Any], span: SourceSpan) -> EngineLayer:
    outputs = _tensors(fields, "Outputs", span)
    tactic = fields.get("TacticValue")
    layer = EngineLayer(
        name=name,
        type=_text(fields.get("LayerType", "")),
        tactic=_tactic(tactic, span),
        tactic_name=_text(fields.get("TacticName", "")),
        output_types=tuple(dict.fromkeys(tensor.dtype for tensor in outputs)),
        onnx_nodes=onnx_nodes(_text(fields.get("Metadata", ""))),
        inputs=_tensors(fields, "Inputs", span),
        outputs=outputs,
        span=span,
        fields={key: _text(value) for key, value in fields.items() if key not in _OWN},
    )
    layer.compute_precision = compute_precision(layer)
    return layer


def _tactic(value: object, span: SourceSpan) -> int | None:
    """Read a ``TacticValue``: hexadecimal text (8.2 to 11), or a number, which we have seen no TensorRT write."""
    if value is None or value == "":
        return None
    try:
        return tactic_id(str(value).encode())
    except ValueError:
        raise NotEngineInfoError(str(span), f"the TacticValue {value!r} is no tactic id", "Export it again") from None


def _tensors(fields: Mapping[str, Any], side: str, span: SourceSpan) -> tuple[EngineTensor, ...]:
    given = fields.get(side, [])
    if not isinstance(given, list) or not all(isinstance(tensor, dict) for tensor in given):
        raise NotEngineInfoError(str(span), f"the {side} of a layer are no list of tensors", _NEXT_STEP)
    return tuple(_tensor(tensor) for tensor in given)


def _tensor(tensor: Mapping[str, Any]) -> EngineTensor:
    dims = _dims(tensor.get("Dimensions", []))
    text = _text(tensor.get("Format/Datatype", tensor.get("Format", "")))
    return described(_text(tensor.get("Name", "")), dims, text, _text(tensor.get("Datatype", "")))


def _dims(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _io_tensor(record: PlacedValue) -> IoTensor:
    if isinstance(record.value, list):
        raise NotEngineInfoError(str(record.span), "an I/O tensor is neither a name nor an object", _NEXT_STEP)
    if not isinstance(record.value, dict):
        return IoTensor(_text(record.value), "", "", (), record.span)
    fields = _fields(record)
    known = described("", _dims(fields.get("Dimensions", [])), "", "?")
    name, mode, dtype = (_text(fields.get(key, "")) for key in ("Name", "IOMode", "DataType"))
    return IoTensor(name, mode, dtype, known.dims, record.span)


def _text(value: object) -> str:
    """Spell a value as a detailed log line does: a text as it is, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


_KEYS = {row["key"]: words(row["spelt"]) for row in rows("layer_keys", "trtforensics.parsers.files")}
_NAMES = _KEYS["Name"]
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


def _of_list(items: list[tuple[Any, SourceSpan]], called: str) -> list[tuple[dict[str, Any] | str, SourceSpan]]:
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
