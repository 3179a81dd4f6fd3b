"""Rows of ONNX nodes: of a model with how a release takes them and their neighbours; of a log with their fates."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.engines.onnx_nodes import Fate, FateKind, fate_counts
from trtforensics.tui.rows.pieces import Line, Piece, Presentation, Role, clip, fit, flush, list_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.onnx_models.checked_graph import CheckedNode


_NUMBER, _OPERATOR, _NAME, _MARK = 6, 22, 40, 8
_ROLES = {"no": Role.ERROR, "refused": Role.ERROR, "error": Role.ERROR, "plugin": Role.WARNING, "warning": Role.WARNING}


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node: ``taken`` is the worst that findings say of it, else how the release takes its operator."""

    node: CheckedNode
    taken: str
    shapes: str
    relation: str = ""
    """What it is to the node in view: ``makes x``, ``reads y``."""


def node_rows(model: CheckedModel, taken: Mapping[str, str]) -> list[NodeRow]:
    """Return nodes by operator, most frequent first, in the file's order; ``taken`` by label, else by operator."""
    counts = Counter(node.op for node in model.nodes)
    ordered = sorted(model.nodes, key=lambda node: (-counts[node.op], node.op, node.number))
    return [_row(model, node, taken) for node in ordered]


def _row(model: CheckedModel, node: CheckedNode, taken: Mapping[str, str], relation: str = "") -> NodeRow:
    word = taken.get(f"node {node.label}", taken.get(node.op, ""))
    shapes = ", ".join(_spelled(model, name) for name in node.proto.output if name)
    return NodeRow(node, word, shapes, relation)


def neighbours(model: CheckedModel, node: CheckedNode, taken: Mapping[str, str]) -> Iterator[NodeRow]:
    """Yield the nodes that make what a node reads, then those that read what it makes."""
    for name in dict.fromkeys(node.proto.input):
        if name in model.makers:
            yield _row(model, model.makers[name], taken, f"makes {name}")
    for name in node.proto.output:
        for reader in model.readers.get(name, ()):
            yield _row(model, reader, taken, f"reads {name}")


def _spelled(model: CheckedModel, name: str) -> str:
    sizes = model.sizes.get(name)
    shape = "?" if sizes is None else "x".join("?" if size is None else str(size) for size in sizes) or "scalar"
    return f"{name} {model.type_of(name)}[{shape}]"


def _pieces(row: NodeRow) -> Line:
    return (
        Piece(flush(str(row.node.number), _NUMBER) + " ", Role.DIM),
        Piece(fit(row.node.op, _OPERATOR) + " ", Role.ACCENT),
        Piece(fit(row.taken, _MARK) + " ", _ROLES.get(row.taken, Role.DIM)),
        Piece(fit(row.relation, _NAME // 2) + " " if row.relation else "", Role.STRONG),
        Piece(fit(row.node.label, _NAME) + " "),
        Piece(row.shapes, Role.DIM),
    )


_HEADING = f"{flush('node', _NUMBER)} {fit('operator', _OPERATOR)} {fit('taken', _MARK)} {fit('name', _NAME)} makes"

NODES: Presentation[NodeRow] = Presentation(
    pieces=lambda row, _: _pieces(row),
    line=lambda row: row.node.number,
    heading=lambda *_: ((Piece(_HEADING, Role.DIM),),),
    widest=None,
    noun="node",
    key=lambda row: row.node.number,
    filters=list_columns("nodes", tensors=lambda row: (*row.node.proto.input, *row.node.proto.output)),
    columns=list_columns("nodes-exported"),
)
NEIGHBOURS: Presentation[NodeRow] = Presentation(
    pieces=lambda row, _: _pieces(row), line=lambda row: row.node.number, widest=None, noun="neighbour"
)


_OP = 16
_FATE = 12
_FATE_ROLES = {FateKind.ENGINE: Role.GOOD, FateKind.FOREIGN: Role.ACCENT, FateKind.FUSED: Role.GOOD}
"""The colours of fates that end in an engine layer; others may be unexpected."""
_OP_FROM = 60
"""Width from which a row has room for the operator."""


def node_heading(counts: Mapping[FateKind, int], width: int) -> tuple[Line, Line]:
    """Return how many nodes have each fate, and the titles of the columns."""
    tally = ", ".join(f"{kind} {count:,}" for kind, count in counts.items())
    op = f" {fit('operator', _OP)}" if width >= _OP_FROM else ""
    titles = f" {fit('ONNX node', _name_width(width))}{op} {fit('fate', _FATE)} what became of it"
    return (Piece(f" {tally}", Role.DIM),), (Piece(clip(titles, width)),)


def node_pieces(fate: Fate, width: int) -> Line:
    """Lay out a node: its name, operator and fate."""
    name, room = _name_width(width), width >= _OP_FROM
    used = name + _FATE + 3 + (_OP + 1 if room else 0)
    return (
        Piece(f" {fit(fate.node.name, name)}"),
        Piece(f" {fit(fate.node.op, _OP)}" if room else "", Role.DIM),
        Piece(f" {fit(fate.kind, _FATE)} ", _FATE_ROLES.get(fate.kind, Role.WARNING)),
        Piece(fit(fate.text, max(width - used, 1))),
    )


def _name_width(width: int) -> int:
    return max((width - _FATE - 3 - (_OP + 1 if width >= _OP_FROM else 0)) // 2, 8)


FATES: Presentation[Fate] = Presentation(
    pieces=node_pieces,
    line=lambda fate: fate.span.line,
    heading=lambda fates, width, _: node_heading(fate_counts(fates), width) if fates else (),
    noun="ONNX node",
    filters=list_columns("fates"),
)
