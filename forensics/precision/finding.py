"""From probes to repair sets: the smallest sets of nodes that make the model pass when they alone stay FP32.

The search runs upside down: an item that is active stays FP32, and what it looks for is what makes the model *pass*.
A node set found through tensors may cover too much, so each member is then dropped to see whether it is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from trtforensics.search import model as search_model
from trtforensics.search.search import Search

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.precision.items import Item

_SAYS = {
    True: search_model.Verdict.BAD,
    False: search_model.Verdict.GOOD,
    None: search_model.Verdict.UNRESOLVED,
}


class Probe(Protocol):
    """Judges the model in which the chosen nodes stay FP32; None where it cannot be judged."""

    def __call__(self, chosen: frozenset[str], purpose: str, /) -> bool | None:
        """Run a probe, or remember one."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A minimal set: these nodes in FP32 pass, and fail without any one of them.

    ``tensors`` are the items that led there. ``proven`` is False where a probe that would show it was not resolved.
    """

    nodes: frozenset[str]
    tensors: tuple[str, ...]
    proven: bool


@dataclass(frozen=True, slots=True)
class Found:
    """What the search came to, in the words of ``result.json``; the first repair is the answer, others alternatives.

    ``needed`` says of each node of the first repair whether the model fails with that node alone in 16 bits. Where it
    does not, other nodes can do its part.
    """

    status: search_model.Status
    why: str
    repairs: tuple[Repair, ...] = ()
    needed: Mapping[str, bool | None] = field(default_factory=dict)
    suspects: frozenset[str] = frozenset()


def find_repairs(
    items: Sequence[Item], atoms: Mapping[str, frozenset[str]], probe: Probe, narrow: str, *, every: bool
) -> Found:
    """Search; ``narrow`` names the 16-bit type for people. With ``every``, look for alternatives that share no node."""
    everything = frozenset(atoms)
    if not probe(everything, "everything in FP32"):
        return Found(search_model.Status.NOT_REPRODUCED, "the model does not pass with every node in FP32")
    base = probe(frozenset(), f"everything in {narrow}")
    if base is not False:
        verdict = "passes" if base else "cannot be judged"
        return Found(search_model.Status.NOT_REPRODUCED, f"the model {verdict} with every node in {narrow}")
    repairs: list[Repair] = []
    while True:
        used = frozenset(node for repair in repairs for node in repair.nodes)
        repair, end = _one_repair(items, atoms, used, probe)
        if repair is None:
            suspects = frozenset(node for index in end.suspects for node in items[index].nodes) - used
            return Found(end.status, end.why, tuple(repairs), {}, suspects)
        repairs.append(repair)
        rest = probe(everything - used - repair.nodes, "everything in FP32 but the repairs")
        if not rest or not every:
            break
    needed = {node: _opposite(probe(everything - atoms[node], f"only {node} in {narrow}")) for node in repairs[0].nodes}
    if all(repair.proven for repair in repairs):
        return Found(search_model.Status.CERTIFIED, "", tuple(repairs), needed)
    return Found(search_model.Status.NAMED, "a probe of the certificate was not resolved", tuple(repairs), needed)


def _one_repair(
    items: Sequence[Item], atoms: Mapping[str, frozenset[str]], used: frozenset[str], probe: Probe
) -> tuple[Repair | None, search_model.Result]:
    free = [item.nodes - used for item in items]
    usable = [index for index, nodes in enumerate(free) if nodes]
    search = Search([search_model.Item(items[i].name, items[i].suspicion) for i in usable], find="first")
    while not search.done and not search.outlook().culprits:
        for ask in search.asks():
            chosen = frozenset(node for index in ask.active for node in free[usable[index]])
            search.tell(ask, _SAYS[probe(chosen, ask.purpose)])
    culprits = search.outlook().culprits
    if not culprits:
        return None, search.result()
    members = sorted(usable[index] for index in culprits[0])
    nodes = frozenset(node for index in members for node in free[index])
    kept, proven = _without_the_needless(nodes, atoms, probe)
    tensors = tuple(items[index].name for index in members if items[index].nodes & kept)
    return Repair(kept, tensors, proven), search.result()


def _without_the_needless(
    nodes: frozenset[str], atoms: Mapping[str, frozenset[str]], probe: Probe
) -> tuple[frozenset[str], bool]:
    """Drop what need not be FP32, one atom at a time, and show that the rest fails without any of its atoms."""
    kept = nodes
    for atom in sorted({atoms[node] for node in nodes}, key=sorted):
        if probe(kept - atom, f"without {min(atom)}"):
            kept -= atom
    proof = [probe(kept - atoms[node], f"the repair without {node}") for node in sorted(kept)]
    proven = probe(kept, "the repair alone") is True and all(verdict is False for verdict in proof)
    return kept, proven


def _opposite(verdict: bool | None) -> bool | None:  # noqa: FBT001 - three-valued, as verdicts are
    return None if verdict is None else not verdict
