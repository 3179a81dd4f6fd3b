"""The plan of a precision search: the search, the safe repair, then real builds of the probes that prove the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trtforensics.bisect.precision.emulation.oracle import RunError
from trtforensics.bisect.precision.repair.search import REPAIRED
from trtforensics.bisect.search import Ask, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.bisect.precision.repair.model import Nodes, RepairProbe
    from trtforensics.bisect.precision.repair.safety import SafeRepair
    from trtforensics.bisect.precision.repair.search import RepairSearch
    from trtforensics.bisect.search import Outlook, Result

SAFE = "the safe repair"

_BUILD = 1
"""The search's own probes have build number 0."""


class Certificate:
    """The search; then the safe repair; then, with ``builds``, real builds of the probes that prove the answer.

    ``safer`` makes the safe repair of a minimal one. ``on_building`` is called once, before the builds.
    """

    def __init__(
        self,
        search: RepairSearch,
        safer: Callable[[Nodes], SafeRepair],
        on_building: Callable[[], None],
        *,
        builds: bool,
    ) -> None:
        self.search = search
        self.safe: SafeRepair | None = None
        self.verdicts: dict[Ask, Verdict] = {}
        self.given: list[tuple[Ask, Verdict]] = []
        self._safer = safer
        self._on_building = on_building
        self._builds = builds
        self._safe_ask: Ask | None = None
        self._looked = False
        self._wanted: tuple[Ask, ...] | None = None
        self._asked: set[Ask] = set()

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask."""
        return self.search.done and all(ask in self.verdicts for ask in self._after_the_search())

    @property
    def minimal(self) -> Nodes | None:
        """The first repair; no nodes at all if the model passes without any in FP32; None while there is none."""
        answer = self.search.answer
        if answer is None or not (answer.repairs or answer.passes_narrow):
            return None
        return answer.repairs[0].nodes if answer.repairs else frozenset()

    @property
    def builds_planned(self) -> int | None:
        """How many builds the certificate has; None while the search goes on."""
        return None if self._wanted is None else len(self._wanted)

    def asks(self, room: int = 1) -> Sequence[Ask]:
        """Return the next probes."""
        if not self.search.done:
            return self.search.asks(room)
        fresh = [ask for ask in self._after_the_search() if ask not in self._asked][:room]
        self._asked.update(fresh)
        return fresh

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Take the verdict of a probe."""
        self.given.append((ask, verdict))
        if ask in self._asked:
            self.verdicts[ask] = verdict
        else:
            self.search.tell(ask, verdict)

    def proof(self) -> list[RepairProbe]:
        """Return the probes that prove the answer, and the safe repair."""
        return [*self.search.proof(), *([(self.safe.nodes, SAFE)] if self.safe and self._safe_ask else [])]

    def outlook(self) -> Outlook:
        """Return what is known; the builds left include those of the certificate."""
        outlook = self.search.outlook()
        if not self.search.done:
            return outlook
        left = sum(ask not in self.verdicts for ask in self._after_the_search())
        return replace(outlook, expected=float(left), worst=left)

    def result(self) -> Result:
        """Return the answer; it is not certified if the repaired model does not build."""
        result = self.search.result()
        evidence = (*result.evidence, *self.verdicts)
        unbuilt = any(a.purpose == REPAIRED and v is Verdict.UNRESOLVED for a, v in self.verdicts.items())
        if result.status is Status.CERTIFIED and unbuilt:
            result = replace(result, status=Status.NAMED, why="the repaired model does not build as asked")
        return replace(result, evidence=evidence)

    def _after_the_search(self) -> tuple[Ask, ...]:
        """Return the probe of the safe repair; once it has a verdict, also the builds."""
        if not self._looked:
            self._looked = True
            self._safe_ask = self._ask_for_safety()
        safety = () if self._safe_ask is None else (self._safe_ask,)
        if any(ask not in self.verdicts for ask in safety):
            return safety
        if self._wanted is None:
            self._on_building()
            proof = (*self.search.result().evidence, *safety) if self._builds else ()
            self._wanted = tuple(Ask(ask.active, _BUILD, purpose=ask.purpose) for ask in proof)
        return (*safety, *self._wanted)

    def _ask_for_safety(self) -> Ask | None:
        """Make the safe repair of the answer; its probe is None if it is the minimal one or there is no answer."""
        minimal = self.minimal
        if minimal is None:
            return None
        try:
            self.safe = self._safer(minimal)
        except RunError:  # ONNX Runtime does not return every tensor of every model
            return None
        return None if self.safe.nodes == minimal else Ask(self.search.active(self.safe.nodes), purpose=SAFE)
