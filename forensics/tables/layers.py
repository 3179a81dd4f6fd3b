"""The table of an engine's layers, with the derived facts of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.engines.deriving import facts_of
from trtforensics.engines.why import Reasons
from trtforensics.model.log import Choice
from trtforensics.model.timings import tactic_text
from trtforensics.tables.columns import Sort, Table, TableColumn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trtforensics.engines.facts import EngineFacts, LayerFacts, TensorFacts
    from trtforensics.model.log import Build
    from trtforensics.sources.onnx_model import OnnxModel


@dataclass(frozen=True, slots=True)
class LayerRow:
    """A layer of the engine of a build; the build's number counts from 1. ``why`` says why it is as it is."""

    facts: LayerFacts
    build: int
    why: str
    margin: float | None
    runner_up_ms: float | None


def layer_table(builds: Iterable[Build], model: OnnxModel | None = None) -> Table:
    """Return the table of the engine layers of builds."""
    return Table(COLUMNS, _rows(builds, model))


def layer_rows(engine: EngineFacts) -> Iterator[LayerRow]:
    """Give a row for each layer of an engine."""
    build = engine.build
    reasons = Reasons(build)
    for facts in engine.layers:
        own = facts.choice if facts.choice is not None and facts.choice.layer == facts.name else None
        margin = reasons.alternatives.margin(own) if own is not None else None
        runner_up = own.runner_up_ms if isinstance(own, Choice) else None
        why = "; ".join(reason.text for reason in reasons.why(facts.layer))
        yield LayerRow(facts, build.index + 1, why, None if margin is None else margin - 1, runner_up)


def _rows(builds: Iterable[Build], model: OnnxModel | None) -> Iterator[LayerRow]:
    for build in builds:
        yield from layer_rows(facts_of(build, "", model))


def _types(row: LayerRow) -> tuple[str, ...]:
    """Return what ``type:`` looks in: what a layer does, its implementation, what it computes in and writes."""
    facts = row.facts
    return tuple(filter(None, (facts.kind, facts.layer.type, _computes(row), *facts.output_types)))


def _computes(row: LayerRow) -> str | None:
    return row.facts.compute_precision.type if row.facts.compute_precision else None


def _evidence(row: LayerRow) -> str | None:
    return row.facts.compute_precision.source.value if row.facts.compute_precision else None


def _formats(tensors: Iterable[TensorFacts]) -> tuple[str, ...]:
    return tuple(tensor.format or tensor.dtype for tensor in tensors)


def _shapes(tensors: Iterable[TensorFacts]) -> tuple[str, ...]:
    return tuple("x".join(map(str, tensor.dims)) for tensor in tensors)


def _time_source(row: LayerRow) -> str | None:
    return row.facts.time_is.value if row.facts.time_is else None


def _aligned(row: LayerRow) -> bool | None:
    return row.facts.alignment.aligned if row.facts.alignment else None


_N, _I, _T = Sort.NUMBER, Sort.INTEGER, Sort.TEXTS

COLUMNS: tuple[TableColumn, ...] = (
    TableColumn("layer", lambda row: row.facts.name, aliases=("name",)),
    TableColumn("type", lambda row: row.facts.kind or None, types=True, searched=_types),
    TableColumn("compute_precision", _computes, types=True, aliases=("precision",)),
    TableColumn("output_types", lambda row: row.facts.output_types, _T, types=True, aliases=("out",)),
    TableColumn("time_ms", lambda row: row.facts.time_ms, _N, "ms", ("time",)),
    TableColumn("time_is", _time_source),
    TableColumn("share", lambda row: row.facts.share, _N, "ratio"),
    TableColumn("weights_bytes", lambda row: row.facts.weights_bytes, _I, "bytes", ("weights",)),
    TableColumn("input_bytes", lambda row: row.facts.input_bytes, _I, "bytes"),
    TableColumn("output_bytes", lambda row: row.facts.output_bytes, _I, "bytes"),
    TableColumn("activation_bytes", lambda row: row.facts.activation_bytes, _I, "bytes", ("activations",)),
    TableColumn("macs", lambda row: row.facts.macs, _I),
    TableColumn("onnx_nodes", lambda row: row.facts.onnx_nodes, _T, aliases=("fused",)),
    TableColumn("tactic", lambda row: tactic_text(row.facts.layer.tactic)),
    TableColumn("kernel", lambda row: row.facts.layer.tactic_name or None),
    TableColumn("source", lambda row: row.facts.span.file, plain=False),
    TableColumn("line", lambda row: row.facts.span.line_in_file, _I),
    TableColumn("build", lambda row: row.build, _I),
    TableColumn("index", lambda row: row.facts.index, _I),
    TableColumn("layer_type", lambda row: row.facts.layer.type or None),
    TableColumn("precision_from", _evidence, plain=False),
    TableColumn("median_ms", lambda row: row.facts.median_ms, _N, "ms"),
    TableColumn("runner", lambda row: row.facts.choice.runner if row.facts.choice else None),
    TableColumn("runner_up_ms", lambda row: row.runner_up_ms, _N, "ms"),
    TableColumn("margin", lambda row: row.margin, _N, "ratio"),
    TableColumn("bias_bytes", lambda row: row.facts.bias_bytes, _I, "bytes"),
    TableColumn("stored_bytes", lambda row: row.facts.stored_bytes, _I, "bytes"),
    TableColumn("moved_bytes", lambda row: row.facts.moved_bytes, _I, "bytes", ("bytes",)),
    TableColumn("flops", lambda row: row.facts.flops, _I),
    TableColumn("intensity_flop_per_byte", lambda row: row.facts.intensity, _N, aliases=("intensity",)),
    TableColumn("bandwidth_gb_per_s", lambda row: row.facts.bandwidth_gb_s, _N, aliases=("bandwidth",)),
    TableColumn("rate_tflop_per_s", lambda row: row.facts.tera_operations_s, _N, aliases=("rate",)),
    TableColumn("channels_aligned", _aligned, Sort.FLAG, aliases=("aligned",)),
    TableColumn("reformats_before", lambda row: row.facts.reformats_before, _I),
    TableColumn("reformats_after", lambda row: row.facts.reformats_after, _I),
    TableColumn("reformats", lambda row: row.facts.reformats, _I),
    TableColumn("input_formats", lambda row: _formats(row.facts.inputs), _T, plain=False),
    TableColumn("output_formats", lambda row: _formats(row.facts.outputs), _T, plain=False),
    TableColumn("input_dims", lambda row: _shapes(row.facts.inputs), _T, plain=False),
    TableColumn("output_dims", lambda row: _shapes(row.facts.outputs), _T, plain=False),
    TableColumn("operators", lambda row: row.facts.operators, _T, aliases=("op",)),
    TableColumn("block", lambda row: row.facts.block or None, plain=False),
    TableColumn("runs_kernel", lambda row: row.facts.runs_kernel, Sort.FLAG),
    TableColumn("why", lambda row: row.why or None, plain=False),
)
"""The first seventeen are those that scripts rely on; further ones may be added behind."""
