"""Events of a probe, as a session writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisect.search import Ask

if TYPE_CHECKING:
    from trtforensics.bisect.session.journal import Journal

ASK = Ask(frozenset({1, 2, 5}))


def begin(journal: Journal, number: int = 1, active: str = "1-2,5") -> None:
    journal.write(
        "start", probe=number, folder=f"{number:04d}-x", active=active, build=0, check=0, purpose="p", suspects=""
    )


def end(journal: Journal, **changes: object) -> None:
    fields = {"verdict": "bad", "reason": "r", "judge": "check", "check": 0, "seconds": 1.0, "timed_out": False}
    more = {"timeout": None, "build_failed": False, "built": True, "log_checks": 1}
    journal.write("end", probe=1, **{**fields, **more, **changes})
