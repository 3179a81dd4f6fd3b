"""The items of a precision search: tensors that may stay FP32, each with the nodes that then stay FP32.

If a tensor overflows, its producer and all its consumers are culprits. An item is therefore a tensor, together with the
tensors that are only moved from it. All readers of a clamped constant change together: if only some of them were FP32,
errors would no longer cancel, and the search would meet passes and failures that no set explains.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

import networkx as nx

from trtforensics.bisection.precision.casting.caster import Caster, operators_that

_OUT_OF_RANGE = 1000.0
_NEARLY = 30.0
_LOSSY = 3.0
_NEAR_THE_LIMIT = 0.25
_LOSSY_OPERATORS = operators_that("lossy")


class Beyond(Enum):
    """How a tensor's values in FP32 leave the range of the 16-bit type."""

    OVERFLOW = auto()
    FLUSH = auto()
    """All become zero."""
    CLAMP = auto()
    """A constant whose finite values beyond the range become the largest of the type."""


@dataclass(frozen=True, slots=True)
class PrecisionItem:
    """Tensors that are FP32 together with their nodes; ``beyond`` is None if all values are in range."""

    tensors: tuple[str, ...]
    nodes: frozenset[str]
    suspicion: float
    why: str
    beyond: Beyond | None = None

    @property
    def name(self) -> str:
        """The most suspicious tensor, which names the item."""
        return self.tensors[0]


def atoms_of(caster: Caster) -> dict[str, frozenset[str]]:
    """Return for each candidate that computes the candidates that must change with it, itself included."""
    together = nx.Graph()
    together.add_nodes_from(name for name, node in caster.candidates.items() if node.moves is None)
    for name, altered in caster.constants.altered.items():
        if altered.clamped:
            nx.add_path(together, [node for node in _readers(caster, name) if node in together])
    return {node: frozenset(atom) for atom in nx.connected_components(together) for node in atom}


def items_of(caster: Caster, ranges: Mapping[str, float]) -> tuple[PrecisionItem, ...]:
    """Return the items in the order of the model; together they cover every candidate."""
    atoms = atoms_of(caster)
    groups = [(tensors, _touching(caster, tensors)) for tensors in _moved_together(caster)]
    clamped = (name for name, altered in caster.constants.altered.items() if altered.clamped)
    groups += [((name,), _readers(caster, name)) for name in clamped]
    merged: dict[frozenset[str], list[str]] = {}
    for tensors, nodes in groups:
        closed = frozenset().union(*(atoms[node] for node in nodes if node in atoms))
        if closed:
            merged.setdefault(closed, []).extend(tensors)
    covered = frozenset(node for nodes in merged for node in nodes)
    for node in atoms.keys() - covered:
        merged.setdefault(atoms[node], []).append(node)
    order = {name: index for index, name in enumerate(caster.candidates)}
    items = [_item(caster, tensors, nodes, ranges) for nodes, tensors in merged.items()]
    return tuple(sorted(items, key=lambda item: (min(order[node] for node in item.nodes), item.tensors)))


def _item(caster: Caster, tensors: Iterable[str], nodes: frozenset[str], ranges: Mapping[str, float]) -> PrecisionItem:
    known = {tensor: _suspicion(caster, tensor, ranges) for tensor in tensors}
    ordered = sorted(known, key=lambda tensor: -known[tensor][0])
    weight, why, beyond = known[ordered[0]]
    lossy = any(caster.candidates[node].op in _LOSSY_OPERATORS for node in nodes)
    return PrecisionItem(tuple(ordered), nodes, max(weight, _LOSSY if lossy else weight), why, beyond)


def _suspicion(caster: Caster, tensor: str, ranges: Mapping[str, float]) -> tuple[float, str, Beyond | None]:
    """Return a tensor's weight, why it is suspicious, and how it leaves the range."""
    storage, altered = caster.storage, caster.constants.altered.get(tensor)
    if altered is not None and altered.clamped:
        why = f"has {altered.clamped} of {altered.values} values beyond {storage.name}"
        return _OUT_OF_RANGE, why, Beyond.CLAMP
    largest = ranges.get(tensor, 0.0)
    if largest > storage.largest:
        why = f"reaches {largest:.3g}, {storage.name} ends at {storage.largest:.5g}"
        return _OUT_OF_RANGE, why, Beyond.OVERFLOW
    if 0.0 < largest <= storage.smallest / 2.0:  # half of the smallest value rounds to the even neighbour, zero
        why = f"reaches only {largest:.3g}, {storage.name} begins at {storage.smallest:.3g}"
        return _OUT_OF_RANGE, why, Beyond.FLUSH
    if 0.0 < largest < storage.smallest_normal:
        return _NEARLY, f"reaches only {largest:.3g}, where {storage.name} has fewer digits (subnormal numbers)", None
    if largest > storage.largest * _NEAR_THE_LIMIT:
        return _NEARLY, f"reaches {largest:.3g}, near the end of {storage.name}", None
    return 1.0, "", None


def _moved_together(caster: Caster) -> list[tuple[str, ...]]:
    """Return the tensors that candidates read or write, in groups of tensors that are moved from each other."""
    groups = nx.Graph()
    for name, candidate in caster.candidates.items():
        node = caster.survey.nodes[name]
        touched = [node.input[slot] for slot in candidate.inputs] + [node.output[slot] for slot in candidate.outputs]
        groups.add_nodes_from(tensor for tensor in touched if tensor not in caster.survey.constants)
        if candidate.moves is not None:
            groups.add_edges_from((candidate.moves, node.output[slot]) for slot in candidate.outputs)
    order = {tensor: index for index, tensor in enumerate(groups)}
    return [tuple(sorted(group, key=order.__getitem__)) for group in nx.connected_components(groups)]


def _touching(caster: Caster, tensors: Iterable[str]) -> list[str]:
    nodes = []
    for tensor in tensors:
        producer = caster.survey.producers.get(tensor)
        if producer is not None and producer in caster.candidates:
            nodes.append(producer)
        nodes += _readers(caster, tensor)
    return nodes


def _readers(caster: Caster, tensor: str) -> list[str]:
    return [use.node for use in caster.survey.uses.get(tensor, ()) if caster.is_read_narrow(use)]
