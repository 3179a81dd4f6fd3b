"""A reduction from its directory to its answer, as a session of ``bisect``."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

from trtforensics.bisect.session.bisection import bisect
from trtforensics.bisect.session.result import write_result
from trtforensics.reduce.answer import FoundModel, write_answer
from trtforensics.reduce.lever import OTHERWISE
from trtforensics.reduce.search import ReductionSearch, Terrain
from trtforensics.reduce.simplifying import kept_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from trtforensics.bisect.runner.options import RunOptions
    from trtforensics.reduce.lever import ReductionLever


def search_for(lever: ReductionLever, limit: int | None) -> ReductionSearch:
    """Return the search over a lever's items; ``limit`` is the most probes."""
    deriver = lever.deriver
    terrain = Terrain(lever.original.reads(), len(deriver.simplifications), deriver.relevant, lever.hints)
    return ReductionSearch(terrain, limit=limit)


def reduce_model(
    directory: Path, lever: ReductionLever, options: RunOptions, show: Callable[[str], None]
) -> tuple[dict[str, object], Sequence[str]]:
    """Reduce a model; return ``result.json`` and a line about each file in ``fixed/``.

    Raises:
        KeyboardInterrupt: the user stopped it; the directory holds everything up to now.
        ForensicsError: see :func:`trtforensics.bisect.session.bisection.bisect`.
    """
    search = search_for(lever, options.max_builds)
    document, _ = bisect(directory, lever, search, options, show)
    failure = lever.reference()
    smallest = search.smallest if failure is not None else frozenset()
    nodes = [index for index in sorted(smallest) if index < len(lever.original.nodes)]
    first = len(lever.original.nodes)
    simpler = [each for index, each in enumerate(lever.deriver.simplifications, first) if index in smallest]
    document["reduction"] = {
        "nodes": len(lever.original.nodes),
        "left": [lever.describe(index) for index in nodes],
        "as_they_were": kept_texts(simpler),
        "not_judged_without": [lever.items[index].name for index in sorted(search.undecided)],
        "failure": None if failure is None else asdict(failure),
        "otherwise": other_failures(document),
        "recorded": {"whole": lever.deriver.recording.runs_whole, "why": lever.deriver.recording.why},
    }
    fixed = write_answer(lever, FoundModel(smallest, document), directory, options.check) if nodes else ()
    write_result(directory, document)
    return document, fixed


def other_failures(document: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the other failures that probes ended at, the most frequent first."""
    probes = document["probes"]
    reasons = Counter(
        str(probe["reason"]).removeprefix(f"{OTHERWISE}: ")
        for probe in (probes if isinstance(probes, list) else [])
        if str(probe["reason"]).startswith(OTHERWISE)
    )
    return [{"failure": reason, "probes": count} for reason, count in reasons.most_common()]
