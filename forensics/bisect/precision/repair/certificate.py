"""The plan of a precision search: the search for repairs, then real builds of the probes that prove its answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trtforensics.bisect.precision.repair.search import REPAIRED
from trtforensics.bisect.search import Ask, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.bisect.precision.repair.search import RepairSearch
    from trtforensics.bisect.search import Outlook, Result

_BUILD = 1
"""The search's own probes have build number 0."""


class Certificate:
    """The search; then, with ``builds``, real builds of the probes that prove its answer.

    ``on_building`` is called once, when the search has ended.
    """

    def __init__(self, search: RepairSearch, on_building: Callable[[], None], *, builds: bool) -> None:
        self.search = search
        self._on_building = on_building
        self._builds = builds
        self._wanted: tuple[Ask, ...] | None = None
        self._asked: set[Ask] = set()
        self.verdicts: dict[Ask, Verdict] = {}

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask."""
        return self.search.done and all(ask in self.verdicts for ask in self._certificate())

    def asks(self, room: int = 1) -> Sequence[Ask]:
        """Return the next probes."""
        if not self.search.done:
            return self.search.asks(room)
        fresh = [ask for ask in self._certificate() if ask not in self._asked][:room]
        self._asked.update(fresh)
        return fresh

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Take the verdict of a probe."""
        if ask.build == _BUILD:
            self.verdicts[ask] = verdict
        else:
            self.search.tell(ask, verdict)

    def outlook(self) -> Outlook:
        """Return what is known."""
        return self.search.outlook()

    def result(self) -> Result:
        """Return the answer; it is not certified if the repaired model does not build."""
        result = self.search.result()
        evidence = (*result.evidence, *self.verdicts)
        unbuilt = any(a.purpose == REPAIRED and v is Verdict.UNRESOLVED for a, v in self.verdicts.items())
        if result.status is Status.CERTIFIED and unbuilt:
            result = replace(result, status=Status.NAMED, why="the repaired model does not build as asked")
        return replace(result, evidence=evidence)

    def _certificate(self) -> tuple[Ask, ...]:
        if self._wanted is None:
            self._on_building()
            proof = self.search.result().evidence if self._builds else ()
            self._wanted = tuple(Ask(ask.active, _BUILD, purpose=ask.purpose) for ask in proof)
        return self._wanted
