"""Facts about an engine's layers that several rules use: times, types, ForeignNodes, reformats."""

import re
from collections.abc import Sequence

from trtforensics.findings.case import Case
from trtforensics.findings.finding import Cost, Severity
from trtforensics.model.data_types import ELEMENT_TYPES
from trtforensics.model.layer_types import MYELIN, REFORMATS, is_foreign_node
from trtforensics.model.log import EngineLayer
from trtforensics.model.span import SourceSpan
from trtforensics.parsers.notation import names

FULL = "Float"
_COSTLY = 0.1
"""Share of the engine's time from which a finding about layers is a warning."""
LAUNCH_MS = 0.005
"""Five microseconds: about the time to launch a kernel."""
_COMPUTING = [element for element in ELEMENT_TYPES.values() if element.option]
_FIRST = {element.option: element.name for element in reversed(_COMPUTING)}
_SPELLINGS = {element.name: _FIRST[element.option] for element in _COMPUTING}
"""The types in which an engine computes, each in the first of its spellings; others are of indexes and masks."""


def is_foreign(layer: EngineLayer) -> bool:
    """Whether a layer is a ForeignNode, or a Myelin kernel inside one."""
    return is_foreign_node(layer.name) or layer.type in MYELIN or "_myl" in layer.name


def is_reformat(layer: EngineLayer) -> bool:
    """Whether a layer is a copy that changes a format or a type; a NoOp of that name copies nothing."""
    return layer.type in REFORMATS


_QUANTIZE_NODE = re.compile(r"QuantizeLinear(?:_clone_\d+)?$")


def is_quantize_node(layer: EngineLayer) -> bool:
    """Whether a layer is a Q or a DQ of the model, or TensorRT's clone of one, by its name."""
    return _QUANTIZE_NODE.search(layer.name) is not None and not names.is_reformat(layer.name)


def is_quantised(case: Case) -> bool:
    """Whether the network has Q/DQ nodes, which fix their types whatever the build's flags are."""
    of_model = any(node.op in {"QuantizeLinear", "DequantizeLinear"} for node in case.build.onnx_nodes)
    return of_model or any(map(is_quantize_node, case.build.engine_layers))


def cost_of(case: Case, layers: Sequence[EngineLayer]) -> Cost | None:
    """Return how long layers of the engine take; None where none of them has a time."""
    ledger, engine = case.facts.ledger, case.build.engine_layers
    places = {id(layer): index for index, layer in enumerate(engine)}
    joined = [
        ledger.units[layer.profile] if layer.profile is not None else ledger.of_layer(places.get(id(layer), -1))
        for layer in layers
    ]
    units = {id(unit): unit for unit in joined if unit is not None and unit.share is not None}.values()
    given = {places[id(layer)] for layer in layers if id(layer) in places}
    whole = tuple(unit for unit in units if len(unit.layers) <= 1 or given.issuperset(unit.layers))
    inside = tuple(unit for unit in units if unit not in whole)
    if not units or ledger.time_is is None:
        return None
    untimed = sum(unit is None or unit.share is None for unit in joined)
    running = ledger.unknown_layers + sum(len(unit.layers) for unit in ledger.slowest)
    known = ledger.unknown_layers * 2 <= running
    share = sum(unit.share or 0.0 for unit in whole) if known else None
    words = [f"{untimed} of these have no time"] if untimed else []
    words += [f"{ledger.unknown_layers} of {running} layers have no time"] if ledger.unknown_layers else []
    return Cost(whole, inside, ledger.time_is, share, ", ".join(words))


def severity_of(cost: Cost | None) -> Severity:
    """Return how bad it is that layers take their time: a warning from a tenth of the engine's."""
    costly = cost is not None and cost.share is not None and cost.share >= _COSTLY
    return Severity.WARNING if costly else Severity.NOTE


def output_types(layer: EngineLayer) -> set[str]:
    """Return the computing types of a layer's outputs, each in one spelling."""
    return {_SPELLINGS[kind] for kind in layer.output_types if kind in _SPELLINGS}


def input_types(layer: EngineLayer) -> set[str]:
    """Return the computing types of a layer's inputs, each in one spelling."""
    return {_SPELLINGS[tensor.dtype] for tensor in layer.inputs if tensor.dtype in _SPELLINGS}


def layer_types(layer: EngineLayer) -> set[str]:
    """Return the types that a layer writes and the one that it computes in, where known; TF32 counts as FP32."""
    known = layer.compute_precision
    computed = {_SPELLINGS[known.type]} if known is not None and known.type in _SPELLINGS else set()
    return output_types(layer) | computed


def spans_of(layers: Sequence[EngineLayer]) -> list[SourceSpan]:
    """Return the lines of layers."""
    return [layer.span for layer in layers]


def runs_in(case: Case, kind: str) -> bool | None:
    """Whether a layer reads, writes or computes in a type (``Half``); None where the log does not tell.

    It does not tell without engine layers, and what is inside a ForeignNode is unknown too.
    """
    if any(kind in layer_types(layer) | input_types(layer) for layer in case.engine):
        return True
    typed = [layer for layer in case.engine if layer_types(layer) | input_types(layer)]
    return None if not typed or any(map(is_foreign, case.engine)) else False
