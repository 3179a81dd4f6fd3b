"""The search for repairs: the smallest sets of nodes that make the model pass if they alone stay FP32.

Its inner search is inverted: active items are FP32, and a "bad" set is one that makes the model *pass*. Items are
tensors, so that a set may have too many nodes: each node is then dropped once to see whether it is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, log2
from typing import TYPE_CHECKING

from trtforensics.bisect.search import AGAIN, Ask, Item, Outlook, Result, Search, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from trtforensics.bisect.precision.items import PrecisionItem

    Nodes = frozenset[str]
    RepairProbe = tuple[Nodes, str]
    """A probe: the nodes that stay FP32, and its purpose."""
    Steps = Generator[Sequence[RepairProbe], None, "RepairAnswer"]

REPAIRED = "the repair alone in FP32"

_CERTIFICATE = 5
"""Probes that prove a repair of two nodes: it passes, fails without either, and each alone in 16 bits fails."""

_INVERTED = {Verdict.GOOD: Verdict.BAD, Verdict.BAD: Verdict.GOOD, Verdict.UNRESOLVED: Verdict.UNRESOLVED}


@dataclass(frozen=True, slots=True)
class RepairSet:
    """A minimal set: the model passes with these nodes in FP32, and fails without any one of them.

    ``tensors`` are the items that the nodes belong to. ``proven`` is False if a probe of the proof was not resolved.
    """

    nodes: frozenset[str]
    tensors: tuple[str, ...]
    proven: bool


@dataclass(frozen=True, slots=True)
class RepairAnswer:
    """The answer of the search: the first repair, and alternatives that share no node with it.

    ``needed`` says for each node of the first repair whether the model fails with that node alone in 16 bits; if not,
    other nodes can do its part.
    """

    status: Status
    why: str
    repairs: tuple[RepairSet, ...] = ()
    needed: Mapping[str, bool | None] = field(default_factory=dict)
    suspects: frozenset[str] = frozenset()


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
        self._repairs: list[RepairSet] = []
        self._suspects = self._all
        self._wishes: Sequence[RepairProbe] = ()
        self._steps = self._run()

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask."""
        self._advance()
        return self.answer is not None

    def asks(self, room: int = 1) -> tuple[Ask, ...]:
        """Return the next probes, at most ``room`` besides those under way; none means wait for those, or done."""
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
        """Return what is known; the builds left count probes to a certificate of one set of two nodes."""
        items = sum(1 for item in self._items if item.nodes & self._suspects)
        left = 0 if self.answer else ceil(log2(max(1, items))) + _CERTIFICATE
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

    def _run(self) -> Steps:
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
                return RepairAnswer(Status.NOT_REPRODUCED, f"the model {verdict} with every node in {precision}")
        while True:
            end = yield from self._next_repair()
            if end is not None:
                return RepairAnswer(end.status, end.why, tuple(self._repairs), {}, self._suspects)
            rest = self._all.difference(*(repair.nodes for repair in self._repairs))
            yield [(rest, "everything in FP32 but the repairs")]
            if not self._every or not self._passes(rest):
                break
        return (yield from self._certified())

    def _certified(self) -> Steps:
        first = sorted(self._repairs[0].nodes)
        yield [(self._all - self._atoms[node], f"only {node} in {self._narrow}") for node in first]
        needed = {node: self._passes(self._all - self._atoms[node]) for node in first}
        turned = {node: None if passes is None else not passes for node, passes in needed.items()}
        if all(repair.proven for repair in self._repairs):
            return RepairAnswer(Status.CERTIFIED, "", tuple(self._repairs), turned)
        return RepairAnswer(Status.NAMED, "a probe of the certificate was not resolved", tuple(self._repairs), turned)

    def _next_repair(self) -> Generator[Sequence[RepairProbe], None, Result | None]:
        """Find one more repair; return the result of the inner search if there is none."""
        used = frozenset(node for repair in self._repairs for node in repair.nodes)
        free = [(item, item.nodes - used) for item in self._items if item.nodes - used]
        search = Search([Item(item.name, item.suspicion) for item, _ in free], find="first")
        while not search.done and not search.outlook().culprits:
            for ask in search.asks():
                keep: Nodes = frozenset(node for index in ask.active for node in free[index][1])
                yield [(keep, ask.purpose)]
                search.tell(ask, _INVERTED[self._verdicts[self.active(keep)]])
            self._suspects = frozenset(node for index in search.outlook().suspects for node in free[index][1])
        culprits = search.outlook().culprits
        if not culprits:
            return search.result()
        members = [free[index] for index in sorted(culprits[0])]
        nodes, proven = yield from self._minimised(frozenset(n for _, own in members for n in own))
        tensors = tuple(item.name for item, own in members if own & nodes)
        self._repairs.append(RepairSet(nodes, tensors, proven))
        return None

    def _minimised(self, nodes: Nodes) -> Generator[Sequence[RepairProbe], None, tuple[Nodes, bool]]:
        """Drop atoms that need not be FP32, one by one, until every drop fails; rounding noise may take two rounds."""
        kept, before = nodes, None
        while kept != before:
            before = kept
            for atom in sorted({self._atoms[node] for node in kept}, key=sorted):
                if atom <= kept:
                    yield [(kept - atom, f"the repair without {min(atom)}")]
                    kept -= atom if self._passes(kept - atom) else frozenset()
        yield [(kept, REPAIRED)]
        fails = all(self._passes(kept - self._atoms[node]) is False for node in kept)
        return kept, fails and self._passes(kept) is True
