"""The search for repairs: the smallest sets of nodes that make the model pass if they alone stay FP32.

One FP32 run tells which tensors leave the range. The nodes that touch them are tried together, and what need not be
FP32 is taken away in groups. Where they do not repair the model, the fewest further tensors are added, in the order of
suspicion, by halving. The proof is one probe for each node of the answer: the repair without it.
"""

from __future__ import annotations

from itertools import accumulate
from math import ceil, log2
from typing import TYPE_CHECKING

import networkx as nx

from trtforensics.bisect.precision.items import Beyond
from trtforensics.bisect.precision.repair.model import RepairAnswer, RepairSet
from trtforensics.bisect.precision.repair.reduction import Reduction
from trtforensics.bisect.search import AGAIN, Ask, Outlook, Result, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trtforensics.bisect.precision.items import PrecisionItem
    from trtforensics.bisect.precision.repair.model import Nodes, RepairProbe, RepairSteps

REPAIRED = "the repair alone in FP32"

_FEW = 8
"""A repair of at most so many nodes is looked at from the other side too: each node alone in 16 bits."""

_CERTIFICATE = 5
"""Probes that prove a repair of two nodes: it passes, fails without either, and each alone in 16 bits fails."""

_UNIFORM_SHARE = 0.3
"""The share of suspicion that is spread evenly, so that a wrong order costs at most two probes more than halving."""


class RepairSearch:
    """A search over nodes, active ones in 16 bits, with the interface of :class:`trtforensics.bisect.search.Search`.

    ``atoms`` gives each node the nodes that change with it. ``narrow`` is the shown name of the 16-bit type. ``every``
    has it search for alternatives too. ``limit`` is the most probes to ask for.
    """

    def __init__(
        self,
        items: Sequence[PrecisionItem],
        atoms: Mapping[str, frozenset[str]],
        narrow: str,
        *,
        every: bool = True,
        limit: int | None = None,
    ) -> None:
        self.nodes = tuple(atoms)
        self.answer: RepairAnswer | None = None
        self._items = items
        self._atoms = atoms
        self._narrow = narrow
        self._every = every
        self._limit = limit
        self._all = frozenset(atoms)
        self._verdicts: dict[frozenset[int], Verdict] = {}
        self._asked: dict[frozenset[int], Ask] = {}
        self._room = 1
        self._repairs: list[RepairSet] = []
        self._suspects = self._all
        self._reduction = Reduction(self._passes, lambda: self._room)
        self._wishes: Sequence[RepairProbe] = ()
        self._steps = self._run()

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask."""
        self._advance()
        return self.answer is not None

    def asks(self, room: int = 1) -> tuple[Ask, ...]:
        """Return the next probes, at most ``room`` besides those under way; none means wait for those, or done."""
        self._room = max(self._room, room)
        self._advance()
        fresh: list[Ask] = []
        for keep, purpose in self._wishes if self.answer is None else ():
            active = self.active(keep)
            if active not in self._asked and len(fresh) < room:
                self._asked[active] = Ask(active, purpose=purpose)
                fresh.append(self._asked[active])
        return tuple(fresh)

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Take the verdict of a probe."""
        self._asked[ask.active] = ask
        self._verdicts[ask.active] = verdict

    def outlook(self) -> Outlook:
        """Return what is known; the builds left are probes, estimated: of an answer of two nodes until one passes."""
        items = sum(1 for item in self._items if item.nodes & self._suspects)
        left = 0 if self.answer else self._reduction.left or ceil(log2(max(1, items))) + _CERTIFICATE
        culprits = tuple(self._indexes(repair.nodes) for repair in self._repairs)
        atoms = tuple(self._indexes(atom) for atom in dict.fromkeys(self._atoms.values()))
        return Outlook(float(left), left, self._indexes(self._suspects), culprits, atoms)

    def result(self) -> Result:
        """Return the answer so far: each set is a repair."""
        answer = self.answer or RepairAnswer(Status.INCONCLUSIVE, "the search has not ended", tuple(self._repairs))
        sets = tuple(self._indexes(repair.nodes) for repair in answer.repairs)
        proof = [Ask(self.active(keep), purpose=purpose) for keep, purpose in self.proof()]
        bound = ceil(log2(max(1, len(self._items))))
        evidence = tuple(ask for ask in proof if ask.active in self._verdicts)
        suspects = self._indexes(answer.suspects)
        minimal = tuple(repair.proven for repair in answer.repairs)
        return Result(answer.status, answer.why, sets, suspects, 1.0, bound, evidence, minimal)

    def proof(self) -> list[RepairProbe]:
        """Return the probes that prove the answer, named by what they are rather than by when they were asked for."""
        wishes = [(frozenset[str](), f"everything in {self._narrow}"), (self._all, "everything in FP32")]
        repairs = self.answer.repairs if self.answer else ()
        for number, repair in enumerate(repairs):
            wishes.append((repair.nodes, f"alternative {number} alone in FP32" if number else REPAIRED))
        if repairs:
            rest = self._all.difference(*(repair.nodes for repair in repairs))
            wishes.append((rest, "everything in FP32 but the repairs"))
        return wishes

    def neighbours(self, repair: RepairSet, node: str) -> tuple[frozenset[int], frozenset[int]]:
        """Return the active nodes of two probes: a repair's node alone in 16 bits, and the repair without that node."""
        return self.active(self._all - self._atoms[node]), self.active(repair.nodes - self._atoms[node])

    def active(self, keep: frozenset[str]) -> frozenset[int]:
        """Return the indexes of the nodes in 16 bits when some stay FP32."""
        return self._indexes(self._all - keep)

    def _indexes(self, nodes: frozenset[str]) -> frozenset[int]:
        return frozenset(index for index, node in enumerate(self.nodes) if node in nodes)

    def _advance(self) -> None:
        """Continue the search as far as the verdicts allow."""
        while self.answer is None and all(self.active(keep) in self._verdicts for keep, _ in self._wishes):
            try:
                self._wishes = next(self._steps)
            except StopIteration as stop:
                self.answer, self._wishes = stop.value, ()
        fresh = {self.active(keep) for keep, _ in self._wishes} - self._asked.keys()
        if self.answer is None and self._limit is not None and len(self._asked) + len(fresh) > self._limit:
            why = f"{self._limit} probes were not enough"
            self.answer = RepairAnswer(Status.INCONCLUSIVE, why, tuple(self._repairs), {}, self._suspects)

    def _passes(self, keep: frozenset[str]) -> bool | None:
        return {Verdict.GOOD: True, Verdict.BAD: False, Verdict.UNRESOLVED: None}[self._verdicts[self.active(keep)]]

    def _run(self) -> RepairSteps[RepairAnswer]:
        none: Nodes = frozenset()
        yield [(none, f"everything in {self._narrow}"), (self._all, "everything in FP32")]
        for keep, precision, wanted in ((self._all, "FP32", True), (none, self._narrow, False)):
            passes = self._passes(keep)
            if passes is None:
                return RepairAnswer(
                    Status.INCONCLUSIVE, f"the model cannot be judged with every node in {precision}; {AGAIN}"
                )
            if passes is not wanted:
                verdict = "passes" if passes else "does not pass"
                why = f"the model {verdict} with every node in {precision}"
                return RepairAnswer(Status.NOT_REPRODUCED, why, passes_narrow=passes)
        while True:
            end = yield from self._next_repair()
            if end:
                return RepairAnswer(Status.INCONCLUSIVE, end, tuple(self._repairs), {}, self._suspects)
            if not self._every:
                return self._certified({})
            rest = self._all.difference(*(repair.nodes for repair in self._repairs))
            yield [(rest, "everything in FP32 but the repairs")]
            if not self._passes(rest):
                break
        first = sorted(self._repairs[0].nodes)
        if len(first) > _FEW:
            return self._certified({})
        yield [(self._all - self._atoms[node], f"only {node} in {self._narrow}") for node in first]
        seen = {node: self._passes(self._all - self._atoms[node]) for node in first}
        return self._certified({node: None if passed is None else not passed for node, passed in seen.items()})

    def _certified(self, needed: Mapping[str, bool | None]) -> RepairAnswer:
        if all(repair.proven for repair in self._repairs):
            return RepairAnswer(Status.CERTIFIED, "", tuple(self._repairs), needed)
        return RepairAnswer(Status.NAMED, "a probe of the certificate was not resolved", tuple(self._repairs), needed)

    def _next_repair(self) -> RepairSteps[str]:
        """Find one more repair among the nodes of no repair; return why there is none, or ""."""
        free = self._all.difference(*(repair.nodes for repair in self._repairs))
        certain = self._union(item for item in self._items if item.beyond is not None) & free
        if certain and certain != free:
            yield [(certain, f"what leaves the range of {self._narrow}")]
        if certain and self._passes(certain):
            patience = ceil(log2(max(2, len(self._items))))
            groups = yield from self._reduction.reduced(self._connected(certain), 1, patience)
            units, first = self._likeliest_to_go(frozenset().union(*groups))
        else:
            units, first = yield from self._extended(certain, free)
            if not units:
                return "no set of tensors was seen to repair it: a probe was not resolved; " + AGAIN
        kept = yield from self._reduction.reduced(units, first)
        atoms = self._in_order(frozenset().union(*kept))
        if any(unit not in atoms for unit in kept):
            atoms = yield from self._reduction.reduced(atoms, 1)
        atoms, fails = yield from self._reduction.proven(self._in_order(frozenset().union(*atoms)))
        nodes: Nodes = frozenset().union(*atoms)
        yield [(nodes, REPAIRED)]
        self._reduction.left = 0
        self._repairs.append(RepairSet(nodes, self._causes(nodes), fails and self._passes(nodes) is True))
        return ""

    def _extended(self, certain: Nodes, free: Nodes) -> RepairSteps[tuple[list[Nodes], int]]:
        """Return units of which the first repairs with all others and not without: tensors in order of suspicion.

        Everything free repairs; nothing does not. The fewest tensors, the most suspicious first, lie between.
        """
        order = sorted((i for i in self._items if i.nodes & free), key=lambda item: -item.suspicion)
        prefixes = list(accumulate((item.nodes & free for item in order), frozenset.union, initial=certain))
        total = sum(item.suspicion for item in order)
        even = _UNIFORM_SHARE / max(1, len(order))
        weights = [(1.0 - _UNIFORM_SHARE) * item.suspicion / total + even for item in order]
        low, high = 0, len(order)
        while high - low > 1:
            middle = _middle(weights, low, high)
            yield [(prefixes[middle], f"the {middle} most suspicious of {len(order)} tensors")]
            passes = self._passes(prefixes[middle])
            if passes is None:
                return [], 0
            low, high = (low, middle) if passes else (middle, high)
            self._suspects = prefixes[high] if high < len(order) else free
        last = order[high - 1].nodes & free
        rest = [item.nodes & free for item in reversed(order[: high - 1])]
        extra = certain.difference(last, *rest)
        rest += [extra] if extra else []
        return [*rest, last], max(1, len(rest))

    def _connected(self, nodes: Nodes) -> list[Nodes]:
        """Return nodes in groups that tensors beyond the range connect, such as those of one layer; the last first.

        What a layer loses shows in the output or it does not, whichever of its nodes loses it.
        """
        groups = nx.Graph()
        groups.add_nodes_from(node for node in self.nodes if node in nodes)
        for item in self._items:
            if item.beyond is not None:
                nx.add_path(groups, sorted(item.nodes & nodes))
        for atom in self._in_order(nodes):
            nx.add_path(groups, sorted(atom))
        return [frozenset(group) for group in nx.connected_components(groups)][::-1]

    def _likeliest_to_go(self, nodes: Nodes) -> tuple[list[Nodes], int]:
        """Return atoms in the order in which they are taken away, and how many touch no tensor that overflows.

        The later a node, the fewer read what it loses: if the late ones go first, few failures are seen twice.
        """
        overflowing = self._union(item for item in self._items if item.beyond is Beyond.OVERFLOW)
        atoms = self._in_order(nodes)[::-1]
        mild = [atom for atom in atoms if not atom & overflowing]
        return mild + [atom for atom in atoms if atom & overflowing], len(mild)

    def _causes(self, nodes: Nodes) -> tuple[str, ...]:
        """Return the items that explain a repair: those beyond the range, and what else it takes to cover its nodes."""

        def rank(item: PrecisionItem) -> tuple[bool, float, float]:
            return item.beyond is None, -len(item.nodes & nodes) / len(item.nodes), -item.suspicion

        causes, covered = [], frozenset[str]()
        for item in sorted((item for item in self._items if item.nodes & nodes), key=rank):
            whole = item.beyond is not None and item.nodes <= nodes
            if whole or (item.nodes & nodes) - covered:
                causes.append(item.name)
                covered |= item.nodes & nodes
        return tuple(causes)

    def _in_order(self, nodes: Nodes) -> list[Nodes]:
        """Return the atoms of nodes in the order of the model."""
        return list(dict.fromkeys(self._atoms[node] for node in self.nodes if node in nodes))

    @staticmethod
    def _union(items: Iterable[PrecisionItem]) -> Nodes:
        return frozenset(node for item in items for node in item.nodes)


def _middle(weights: Sequence[float], low: int, high: int) -> int:
    """Return the place that splits the weights between two places in halves, next to neither."""
    half = sum(weights[low:high]) / 2.0
    seen = 0.0
    for place in range(low + 1, high - 1):
        seen += weights[place - 1]
        if seen >= half:
            return place
    return high - 1
