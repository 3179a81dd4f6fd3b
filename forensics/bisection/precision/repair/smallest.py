"""The search for repairs: the smallest sets of nodes that make the model pass if they alone stay FP32.

One FP32 run tells which tensors leave the range. The nodes that touch them are tried together, and what need not be
FP32 is taken away in groups. Where they do not repair the model, the fewest further tensors are added, in the order of
suspicion, by halving. The proof is one probe for each node of the answer: the repair without it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, log2

import networkx as nx

from trtforensics.bisection.precision.items import Beyond, PrecisionItem
from trtforensics.bisection.search import AGAIN, Ask, Outlook, Result, Status, Verdict
from trtforensics.bisection.search.chain import shares_of
from trtforensics.bisection.search.ledger import Steps, Wish, bits, mask_of, union
from trtforensics.bisection.search.minimising import Proposals, growing_groups, leaving_one_out, minimised
from trtforensics.bisection.search.probing import ProbeSearch

Nodes = frozenset[str]
RepairProbe = tuple[Nodes, str]
"""A probe: the nodes that stay FP32, and its purpose."""

REPAIRED = "the repair alone in FP32"

_FEW = 8
"""A repair of at most so many nodes is looked at from the other side too: each node alone in 16 bits."""

_CERTIFICATE = 5
"""Probes that prove a repair of two nodes: it passes, fails without either, and each alone in 16 bits fails."""


_PASSES = {Verdict.GOOD: True, Verdict.BAD: False, Verdict.UNRESOLVED: None}


@dataclass(frozen=True, slots=True)
class RepairSet:
    """A minimal set: the model passes with these nodes in FP32, and fails without any one of them if ``proven``."""

    nodes: Nodes
    tensors: tuple[str, ...]
    proven: bool


class RepairSearch(ProbeSearch):
    """A search over nodes, active ones in 16 bits; ``repairs`` are the first one and others that share no node with it.

    ``needed`` says for nodes of a small first repair whether the model fails with that node alone in 16 bits; if not,
    other nodes can do its part. ``passes_narrow``: the model passes with every node in ``narrow``. ``atoms`` gives each
    node the nodes that change with it. ``every``: alternatives too. ``futile`` says why no set is searched for.
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
        super().__init__(limit)
        self.futile = ""
        self.nodes = tuple(atoms)
        self._items = items
        self.atoms = atoms
        self._narrow = narrow
        self._every = every
        self._all = frozenset(atoms)
        self._places = {node: place for place, node in enumerate(self.nodes)}
        self.repairs: list[RepairSet] = []
        self.needed: Mapping[str, bool | None] = {}
        self.passes_narrow = False
        self._suspects = self._all
        self._everything = (1 << len(self.nodes)) - 1
        self._kept = 0
        self._round: tuple[Wish, ...] = ()
        self._left = 0

    def outlook(self) -> Outlook:
        """Return what is known; the builds left are probes, estimated: of an answer of two nodes until one passes."""
        items = sum(1 for item in self._items if item.nodes & self._suspects)
        to_come = self._left or sum(self._ledger.told(wish) is None for wish in self._round)
        left = 0 if self.answer else to_come or ceil(log2(max(1, items))) + _CERTIFICATE
        culprits = tuple(self._indexes(repair.nodes) for repair in self.repairs)
        atoms = tuple(self._indexes(atom) for atom in dict.fromkeys(self.atoms.values()))
        return Outlook(float(left), left, self._indexes(self._suspects), culprits, atoms)

    def _ended(self, status: Status, why: str = "", suspects: Nodes = frozenset()) -> Result:
        sets = tuple(self._indexes(repair.nodes) for repair in self.repairs)
        proof = [Ask(self.active(keep), purpose=purpose) for keep, purpose in self.proof()]
        bound = ceil(log2(max(1, len(self._items))))
        evidence = tuple(ask for ask in proof if self._ledger.seen(mask_of(ask.active)) is not None)
        minimal = tuple(repair.proven for repair in self.repairs)
        return Result(status, why, sets, self._indexes(suspects), 1.0, bound, evidence, minimal)

    def proof(self) -> list[RepairProbe]:
        """Return the probes that prove the answer, named by what they are rather than by when they were asked for."""
        wishes = [(frozenset[str](), f"everything in {self._narrow}"), (self._all, "everything in FP32")]
        for number, repair in enumerate(self.repairs):
            wishes.append((repair.nodes, f"alternative {number} alone in FP32" if number else REPAIRED))
        if self.repairs:
            rest = self._all.difference(*(repair.nodes for repair in self.repairs))
            wishes.append((rest, "everything in FP32 but the repairs"))
        return wishes

    def neighbours(self, repair: RepairSet, node: str) -> tuple[frozenset[int], frozenset[int]]:
        """Return the active nodes of two probes: a repair's node alone in 16 bits, and the repair without that node."""
        return self.active(self._all - self.atoms[node]), self.active(repair.nodes - self.atoms[node])

    def active(self, keep: frozenset[str]) -> frozenset[int]:
        """Return the indexes of the nodes in 16 bits when some stay FP32."""
        return self._indexes(self._all - keep)

    def _indexes(self, nodes: frozenset[str]) -> frozenset[int]:
        return frozenset(self._places[node] for node in nodes)

    def _mask(self, nodes: Nodes) -> int:
        return mask_of(self._places[node] for node in nodes)

    def _nodes(self, mask: int) -> Nodes:
        return frozenset(self.nodes[place] for place in bits(mask))

    def _unfinished(self, why: str) -> Result:
        return self._ended(Status.INCONCLUSIVE, why, self._suspects)

    def _judged(self, *probes: RepairProbe) -> Steps[list[bool | None]]:
        """Return of each probe whether the model passes with these nodes in FP32; None: it cannot be judged."""
        wishes = tuple(Wish(self._mask(self._all - keep), purpose) for keep, purpose in probes)
        verdicts = yield from self._ledger.whole(wishes)
        return [_PASSES[verdict] for verdict in verdicts]

    def _run(self) -> Steps[Result]:
        ends = (frozenset[str](), f"everything in {self._narrow}"), (self._all, "everything in FP32")
        narrow, wide = yield from self._judged(*ends)
        for passes, precision, wanted in ((wide, "FP32", True), (narrow, self._narrow, False)):
            if passes is None:
                why = f"the model cannot be judged with every node in {precision}; {AGAIN}"
                return self._ended(Status.INCONCLUSIVE, why)
            if passes is not wanted:
                verdict = "passes" if passes else "does not pass"
                why = f"the model {verdict} with every node in {precision}"
                self.passes_narrow = passes
                return self._ended(Status.NOT_REPRODUCED, why)
        while True:
            end = self.futile or (yield from self._next_repair())
            if end:
                return self._unfinished(end)
            if not self._every:
                return self._certified()
            rest = self._all.difference(*(repair.nodes for repair in self.repairs))
            (others,) = yield from self._judged((rest, "everything in FP32 but the repairs"))
            if not others:
                break
        first = sorted(self.repairs[0].nodes)
        if len(first) > _FEW:
            return self._certified()
        alone = [(self._all - self.atoms[node], f"only {node} in {self._narrow}") for node in first]
        passes_with = dict(zip(first, (yield from self._judged(*alone)), strict=True))
        self.needed = {node: None if passes is None else not passes for node, passes in passes_with.items()}
        return self._certified()

    def _certified(self) -> Result:
        if all(repair.proven for repair in self.repairs):
            return self._ended(Status.CERTIFIED)
        return self._ended(Status.NAMED, "a probe of the certificate was not resolved")

    def _next_repair(self) -> Steps[str]:
        """Find one more repair among the nodes of no repair; return why there is none, or ""."""
        free = self._all.difference(*(repair.nodes for repair in self.repairs))
        certain = self._union(item for item in self._items if item.beyond is not None) & free
        repairs = certain and (yield from self._judged((certain, f"what leaves the range of {self._narrow}"))) == [True]
        if repairs:
            patience = ceil(log2(max(2, len(self._items))))
            groups = yield from self._reduced(self._connected(certain), 1, patience)
            units, first = self._likeliest_to_go(frozenset().union(*groups))
        else:
            units, first = yield from self._extended(certain, free)
            if not units:
                return "no set of tensors was seen to repair it: a probe was not resolved; " + AGAIN
        kept = yield from self._reduced(units, first)
        atoms = self._in_order(frozenset().union(*kept))
        if any(unit not in atoms for unit in kept):
            atoms = self._in_order(frozenset().union(*(yield from self._reduced(atoms, 1))))
        self._kept = self._mask(frozenset().union(*atoms))
        yield from minimised(leaving_one_out([self._mask(atom) for atom in atoms]), self._first_repair)
        needed = all(self._ledger.told(wish) is Verdict.BAD for wish in self._round)
        self._left, self._round = 0, ()
        nodes = self._nodes(self._kept)
        (passes,) = yield from self._judged((nodes, REPAIRED))
        self.repairs.append(RepairSet(nodes, self._causes(nodes), needed and passes is True))
        return ""

    def _reduced(self, units: Sequence[Nodes], first: int, patience: int | None = None) -> Steps[list[Nodes]]:
        """Return the units that cannot go; the likeliest to go come first, ``first`` of them are tried together."""
        masks = [self._mask(unit) for unit in units]
        self._kept = union(masks)
        strategy = growing_groups(masks, first, lambda: self._ledger.most_room, patience)
        kept = yield from minimised(strategy, self._first_repair)
        return [self._nodes(unit) for unit in kept]

    def _first_repair(self, proposals: Proposals) -> Steps[int | None]:
        self._left = proposals.left
        self._round = tuple(map(self._without, proposals.subsets))
        enough = yield from self._ledger.first(self._round, Verdict.GOOD, tuple(map(self._without, proposals.ahead)))
        if enough is None:
            return None
        self._kept = self._everything & ~enough.mask
        return self._kept

    def _without(self, keep: int) -> Wish:
        """Return the probe of a repair, named by what it lacks of the present one."""
        gone = sorted(self._nodes(self._kept & ~keep)) or [""]
        more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        return Wish(self._everything & ~keep, f"the repair without {gone[0]}{more}")

    def _extended(self, certain: Nodes, free: Nodes) -> Steps[tuple[list[Nodes], int]]:
        """Return units, tensors in order of suspicion: all together repair, all but the first do not."""
        # everything free repairs, nothing does not: the fewest tensors, the most suspicious first, lie between
        order = sorted((i for i in self._items if i.nodes & free), key=lambda item: -item.suspicion)
        prefixes = list(accumulate((item.nodes & free for item in order), frozenset.union, initial=certain))
        weights = shares_of([item.suspicion for item in order])
        low, high = 0, len(order)
        while high - low > 1:
            middle = _middle(weights, low, high)
            purpose = f"the {middle} most suspicious of {len(order)} tensors"
            (passes,) = yield from self._judged((prefixes[middle], purpose))
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
        """Return nodes in groups that tensors beyond the range connect, such as those of one layer; the last first."""
        # what a layer loses shows in the output or it does not, whichever of its nodes loses it
        groups = nx.Graph()
        groups.add_nodes_from(node for node in self.nodes if node in nodes)
        for item in self._items:
            if item.beyond is not None:
                nx.add_path(groups, sorted(item.nodes & nodes))
        for atom in self._in_order(nodes):
            nx.add_path(groups, sorted(atom))
        return [frozenset(group) for group in nx.connected_components(groups)][::-1]

    def _likeliest_to_go(self, nodes: Nodes) -> tuple[list[Nodes], int]:
        """Return atoms in the order in which they are taken away, and how many touch no tensor that overflows."""
        # the later a node, the fewer read what it loses: if the late ones go first, few failures are seen twice
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
        return list(dict.fromkeys(self.atoms[node] for node in self.nodes if node in nodes))

    @staticmethod
    def _union(items: Iterable[PrecisionItem]) -> Nodes:
        return frozenset(node for item in items for node in item.nodes)


def _middle(weights: Sequence[float], low: int, high: int) -> int:
    """Return the place that splits the weights between two places in halves, next to neither."""
    half = sum(weights[low:high]) / 2.0
    weight = 0.0
    for place in range(low + 1, high - 1):
        weight += weights[place - 1]
        if weight >= half:
            return place
    return high - 1


def solve(search: RepairSearch, passes: Callable[[Nodes], bool]) -> Sequence[RepairSet]:
    """Answer a search to its end; return its repairs. ``passes`` judges the nodes that stay FP32."""
    while not search.done:
        for ask in search.asks():
            keep = frozenset(node for index, node in enumerate(search.nodes) if index not in ask.active)
            search.tell(ask, Verdict.GOOD if passes(keep) else Verdict.BAD)
    return search.repairs
