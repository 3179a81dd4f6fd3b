"""Events of a probe, as a session writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisection.search import Ask
from trtforensics.bisection.session.history import JobKey

if TYPE_CHECKING:
    from trtforensics.bisection.session.journal import Journal

ASK = Ask(frozenset({1, 2, 5}))
KEY = JobKey("0123456789abcdef", 8)


def begin(journal: Journal, number: int = 1, active: str = "1-2,5", *, builds: bool = True) -> None:
    journal.write("start", probe=number, active=active, build=0, check=0, builds=builds, purpose="p", suspects="")


def made(**changes: object) -> dict[str, object]:
    """Return a build that ended, as a field of an event."""
    fields = {"status": 0, "timed_out": False, "timeout": None, "reason": "build", "unfit": "", "engine_bytes": None}
    return {**fields, **changes}


def end(journal: Journal, **changes: object) -> None:
    fields = {"verdict": "bad", "reason": "r", "judge": "check", "check": 0, "seconds": 1.0, "timed_out": False}
    more = {"timeout": None, "made": made(), "log_checks": 1}
    journal.write("end", **{"probe": 1, **fields, **more, **changes})
