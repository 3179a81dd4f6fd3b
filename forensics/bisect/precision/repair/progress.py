"""The line of progress of a precision search: probes, which cost a run on the CPU, apart from real builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisect.session.report import duration

if TYPE_CHECKING:
    from trtforensics.bisect.precision.repair.certificate import Certificate


def progress_text(plan: Certificate, seconds: float, *, every: bool) -> str:
    """Return the line; ``seconds`` is the time since the run began, ``every`` says that each probe is built."""
    given = plan.given
    builds = [verdict for ask, verdict in given if ask.build or every]
    probes = sum(not ask.build for ask, _ in given)
    left = "" if plan.search.done else f", about {max(1, round(plan.outlook().expected))} left"
    planned = plan.builds_planned
    line = f"probes done {probes}{left}; builds done {len(builds)}"
    line += f" of {planned}" if planned is not None and not every else ""
    found = len(plan.search.outlook().culprits)
    line += f"; {found} repair{'s' if found != 1 else ''} found" if found else ""
    last = f"last {given[-1][1]}" if given else "nothing known yet"
    return f"{line}; {last}; {duration(seconds)}"
