"""What lines say by the clock: the time of day, the moment, how long something took."""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

_CLOCK = re.compile(r"[^:]{0,40}?(?<![\d:.])(?P<exact>(?P<clock>\d{1,2}:\d\d:\d\d)(?![\d:])(?:\.\d{1,9})?)")
_MOMENT = re.compile(
    r"(?:\b(?P<date>\d{4}-\d\d-\d\d)|(?P<month>\d\d)/(?P<day>\d\d)/(?P<year>\d{4}))[-T ](?P<time>\d\d:\d\d:\d\d)"
)


def clock_in(text: str, part: str = "clock") -> str | None:
    """Return the time of day (``9:30:00``) that a line begins with, ``exact`` with its fraction; None without one."""
    match = _CLOCK.match(text)
    return match and match[part]


def moment_in(text: str) -> datetime | None:
    """Return date and time, without a zone; trtexec's stamps have the month first. None for no day of the calendar."""
    match = _MOMENT.search(text)
    if match is None:
        return None
    day = match["date"] or "-".join(match.group("year", "month", "day"))
    with suppress(ValueError):
        return datetime.fromisoformat(f"{day} {match['time']}")
    return None


def seconds_of(clock: str, read: Callable[[str], float] = int) -> float:
    """Return hours, minutes and seconds, or what of them there is, in seconds."""
    return sum(read(part) * 60.0**place for place, part in enumerate(reversed(clock.split(":"))))
