"""The catalogue of what is known of an engine's layers: columns of tables, fields of filters, cells of lists."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from trtforensics.console.counting import milliseconds
from trtforensics.engines.facts import EngineFacts, LayerFacts
from trtforensics.model.data_types import type_word
from trtforensics.model.layer_types import COMPUTES_NOTHING, NO_KERNEL
from trtforensics.tables.columns import Cell, Sort, TableColumn, columns_of
from trtforensics.tables.table import Table

UNKNOWN = "?"
COMPUTES_NO_VALUES = "·"
"""The compute precision of a layer that copies, converts or waits."""
_MOST_TYPES = 2


def layer_table(engines: Iterable[EngineFacts]) -> Table:
    """Return the table of the layers of engines, and of what was timed and no dump lists."""
    return Table(LAYER_COLUMNS, (layer for engine in engines for layer in engine.listed))


def compute_text(layer: LayerFacts) -> str:
    """Return what a layer computes in; ``?`` where that is unknown, ``·`` where it computes nothing."""
    if layer.compute_precision is not None:
        return layer.compute_precision.type
    return COMPUTES_NO_VALUES if layer.layer.type in COMPUTES_NOTHING or layer.is_reformat else UNKNOWN


def _types(layer: LayerFacts) -> tuple[str, ...]:
    """Return what ``type:`` looks in: operation, implementation, what a layer computes in, reads and writes."""
    computes = layer.compute_precision.type if layer.compute_precision else ""
    types = (layer.kind, layer.layer.type, computes, *layer.input_types, *layer.output_types)
    return tuple(filter(None, types))


def _types_text(layer: LayerFacts) -> str:
    """Return what a layer reads and writes: ``Half→Float``, ``Half`` for both; ``?`` for a side that is unknown."""
    read, written = (
        "mixed" if len(types) > _MOST_TYPES else "+".join(types) or UNKNOWN
        for types in (layer.input_types, layer.output_types)
    )
    return read if read == written else f"{read}→{written}"


def _time_text(layer: LayerFacts) -> str:
    if layer.time_ms is None:
        return "" if layer.layer.type in NO_KERNEL else UNKNOWN
    return milliseconds(layer.time_ms)


def _other_text(layer: LayerFacts) -> str:
    other = layer.other_type
    return f"{type_word(other.type)} {_percent(other.ratio)}" if other else ""


def _percent(ratio: float | None) -> str:
    if ratio is None:
        return ""
    percent = (ratio - 1) * 100
    if percent >= 10_000:  # noqa: PLR2004 - the column has room for no more
        return f"{ratio:,.0f} x"
    return f"{percent:+,.0f} %" if abs(percent) >= 100 else f"{percent:+.1f} %"  # noqa: PLR2004 - three digits suffice


_NAMED: Mapping[str, Callable[..., Any]] = {
    "index": lambda layer: None if layer.number is None else layer.index,
    "margin": lambda layer: None if layer.margin is None else layer.margin - 1,
    "other": lambda layer: layer.other_type.ratio - 1 if layer.other_type else None,
    "formats": lambda tensors: tuple(tensor.format or tensor.dtype for tensor in tensors),
    "shapes": lambda tensors: tuple("x".join(map(str, tensor.dims)) for tensor in tensors),
    "why": lambda layer: "; ".join(reason.text for reason in layer.why()) or None,
}
_CELLS = {
    "layer_type": Cell("kind", 14, 1, 6, lambda layer: layer.layer.type),
    "input_types": Cell("in→out", 11, 2, 3, _types_text),
    "compute_precision": Cell("compute", 8, 3, 4, compute_text),
    "time_ms": Cell("ms", 9, 4, 1, _time_text, right=True),
    "share": Cell("%", 5, 5, 2, lambda layer: "" if layer.share is None else f"{layer.share * 100:.1f}", right=True),
    "margin": Cell("margin", 8, 6, 5, lambda layer: _percent(layer.margin), right=True),
    "other": Cell("other type", 13, 7, 7, _other_text),
}
"""What lists show, by the column."""
_SEARCHED = {"type": _types, "onnx_nodes": lambda layer: (layer.name, *layer.onnx_nodes)}
"""What filters look in, where that is more than the column shows."""
_OWN_COLUMNS = tuple(
    replace(column, cell=_CELLS.get(column.name), searched=_SEARCHED.get(column.name))
    for column in columns_of("layers", _NAMED)
)


def _around(column: TableColumn, layer: LayerFacts, *, before: bool) -> tuple[str, ...]:
    """Return the values that a column has of the layers before a layer or behind it, each once."""
    texts: dict[str, None] = {}
    for other in layer.around(before=before):
        value = column.get(other)
        texts |= dict.fromkeys((value,) if isinstance(value, str) else value if isinstance(value, tuple) else ())
    return tuple(texts)


def _of_neighbours(column: TableColumn, side: str) -> TableColumn:
    get = partial(_around, column, before=side == "before")
    aliases = tuple(f"{side}.{alias}" for alias in column.aliases)
    return replace(
        column,
        name=f"{side}.{column.name}",
        get=get,
        sort=Sort.TEXTS,
        aliases=aliases,
        plain=False,
        searched=None,
        extra=True,
        cell=None,
    )


LAYER_COLUMNS = (
    *_OWN_COLUMNS,
    *(
        _of_neighbours(column, side)
        for side in ("before", "after")
        for column in _OWN_COLUMNS
        if column.name in {"layer", "type", "compute_precision", "input_types", "output_types"}
    ),
)
"""The first seventeen are those that scripts rely on; further ones may be added behind.

``margin`` and ``other`` are how much slower the runner-up and the fastest other type are: ``margin<2%``.
"""

LAYER_CELLS = tuple(sorted((column.cell for column in LAYER_COLUMNS if column.cell), key=lambda cell: cell.place))
"""What a list of layers shows behind their names, in the order of the screen."""
