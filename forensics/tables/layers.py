"""The catalogue of what is known of an engine's layers: columns of tables, fields of filters, cells of lists."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from trtforensics.console.counting import milliseconds
from trtforensics.model.data_types import type_word
from trtforensics.model.layer_types import COMPUTES_NOTHING, NO_KERNEL
from trtforensics.model.timings import tactic_text
from trtforensics.tables.columns import Cell, Sort, TableColumn
from trtforensics.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.engines.facts import EngineFacts, LayerFacts
    from trtforensics.engines.quantities import TensorFacts

UNKNOWN = "?"
"""The text of a cell whose value is not known."""
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
    types = (layer.kind, layer.layer.type, _computes(layer), *layer.input_types, *layer.output_types)
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


def _computes(layer: LayerFacts) -> str | None:
    return layer.compute_precision.type if layer.compute_precision else None


def _evidence(layer: LayerFacts) -> str | None:
    return layer.compute_precision.source.value if layer.compute_precision else None


def _aligned(layer: LayerFacts) -> bool | None:
    return layer.alignment.aligned if layer.alignment else None


def _formats(tensors: Iterable[TensorFacts]) -> tuple[str, ...]:
    return tuple(tensor.format or tensor.dtype for tensor in tensors)


def _shapes(tensors: Iterable[TensorFacts]) -> tuple[str, ...]:
    return tuple("x".join(map(str, tensor.dims)) for tensor in tensors)


_N, _I, _T = Sort.NUMBER, Sort.INTEGER, Sort.TEXTS

_KIND = Cell("kind", 14, 1, 6, lambda layer: layer.layer.type)
_IN_OUT = Cell("in→out", 11, 2, 3, _types_text)
_COMPUTE = Cell("compute", 8, 3, 4, compute_text)
_MS = Cell("ms", 9, 4, 1, _time_text, right=True)
_SHARE = Cell("%", 5, 5, 2, lambda layer: "" if layer.share is None else f"{layer.share * 100:.1f}", right=True)
_LAG = Cell("margin", 8, 6, 5, lambda layer: _percent(layer.margin), right=True)
_OTHER = Cell("other type", 13, 7, 7, _other_text)

_OWN_COLUMNS: tuple[TableColumn, ...] = (
    TableColumn("layer", lambda layer: layer.name, aliases=("name",)),
    TableColumn("type", lambda layer: layer.kind or None, types=True, searched=_types),
    TableColumn("compute_precision", _computes, types=True, aliases=("precision", "compute"), cell=_COMPUTE),
    TableColumn("output_types", lambda layer: layer.output_types, _T, types=True, aliases=("out",)),
    TableColumn("time_ms", lambda layer: layer.time_ms, _N, "ms", ("time", "ms"), cell=_MS),
    TableColumn("time_is", lambda layer: layer.time_is and layer.time_is.value),
    TableColumn("share", lambda layer: layer.share, _N, "ratio", cell=_SHARE),
    TableColumn("weights_bytes", lambda layer: layer.weights_bytes, _I, "bytes", ("weights",)),
    TableColumn("input_bytes", lambda layer: layer.input_bytes, _I, "bytes"),
    TableColumn("output_bytes", lambda layer: layer.output_bytes, _I, "bytes"),
    TableColumn("activation_bytes", lambda layer: layer.activation_bytes, _I, "bytes", ("activations",)),
    TableColumn("macs", lambda layer: layer.macs, _I),
    TableColumn(
        "onnx_nodes",
        lambda layer: layer.onnx_nodes,
        _T,
        aliases=("fused",),
        searched=lambda layer: (layer.name, *layer.onnx_nodes),
    ),
    TableColumn("tactic", lambda layer: tactic_text(layer.layer.tactic)),
    TableColumn("kernel", lambda layer: layer.layer.tactic_name or None),
    TableColumn("source", lambda layer: layer.span.file, plain=False),
    TableColumn("line", lambda layer: layer.span.line_in_file, _I),
    TableColumn("build", lambda layer: layer.engine.build.index + 1, _I),
    TableColumn("index", lambda layer: None if layer.number is None else layer.index, _I),
    TableColumn("layer_type", lambda layer: layer.layer.type or None, aliases=("kind",), cell=_KIND),
    TableColumn("precision_from", _evidence, plain=False),
    TableColumn("median_ms", lambda layer: layer.median_ms, _N, "ms"),
    TableColumn("runner", lambda layer: layer.choice.runner if layer.choice else None),
    TableColumn("runner_up_ms", lambda layer: layer.runner_up_ms, _N, "ms"),
    TableColumn("margin", lambda layer: None if layer.margin is None else layer.margin - 1, _N, "ratio", cell=_LAG),
    TableColumn("bias_bytes", lambda layer: layer.bias_bytes, _I, "bytes"),
    TableColumn("stored_bytes", lambda layer: layer.stored_bytes, _I, "bytes"),
    TableColumn("moved_bytes", lambda layer: layer.moved_bytes, _I, "bytes", ("bytes",)),
    TableColumn("flops", lambda layer: layer.flops, _I),
    TableColumn("intensity_flop_per_byte", lambda layer: layer.intensity, _N, aliases=("intensity",)),
    TableColumn("bandwidth_gb_per_s", lambda layer: layer.bandwidth_gb_s, _N, aliases=("bandwidth",)),
    TableColumn("rate_tflop_per_s", lambda layer: layer.tera_operations_s, _N, aliases=("rate",)),
    TableColumn("channels_aligned", _aligned, Sort.FLAG, aliases=("aligned",)),
    TableColumn("reformats_before", lambda layer: layer.reformats_before, _I),
    TableColumn("reformats_after", lambda layer: layer.reformats_after, _I),
    TableColumn("reformats", lambda layer: layer.reformats, _I),
    TableColumn("input_formats", lambda layer: _formats(layer.inputs), _T, plain=False),
    TableColumn("output_formats", lambda layer: _formats(layer.outputs), _T, plain=False),
    TableColumn("input_dims", lambda layer: _shapes(layer.inputs), _T, plain=False),
    TableColumn("output_dims", lambda layer: _shapes(layer.outputs), _T, plain=False),
    TableColumn("operators", lambda layer: layer.operators, _T, aliases=("op",)),
    TableColumn("block", lambda layer: layer.block or None, plain=False),
    TableColumn("runs_kernel", lambda layer: layer.runs_kernel, Sort.FLAG),
    TableColumn("why", lambda layer: "; ".join(reason.text for reason in layer.why()) or None, plain=False),
    TableColumn("number", lambda layer: layer.number, _I, extra=True),
    TableColumn(
        "input_types", lambda layer: layer.input_types, _T, types=True, aliases=("in",), extra=True, cell=_IN_OUT
    ),
    TableColumn(
        "other",
        lambda layer: layer.other_type.ratio - 1 if layer.other_type else None,
        _N,
        "ratio",
        extra=True,
        cell=_OTHER,
    ),
    TableColumn("foreign_node", lambda layer: layer.foreign_node or None, aliases=("foreign",), extra=True),
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
        sort=_T,
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
