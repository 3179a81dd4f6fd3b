"""Ctrl-C, and the signals of batch systems and closed terminals: the first ends a run in order, the second at once."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from trtforensics.bisect.runner.command import Urgency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STDERR = 2
_ENDING = b"\ntrtforensics: stopping the running probes; once more kills them at once\n"


class Stopper:
    """How urgently the user wants the run to end."""

    def __init__(self, on_change: Callable[[Urgency], None]) -> None:
        self.urgency = Urgency.GO_ON
        self._on_change = on_change

    def escalate(self) -> None:
        """Raise the urgency by one step."""
        if self.urgency is Urgency.GO_ON:
            with suppress(OSError):  # stderr may be closed; the signal may interrupt a write to the stream
                os.write(_STDERR, _ENDING)
        self.urgency = Urgency(min(self.urgency + 1, Urgency.NOW))
        self._on_change(self.urgency)


@contextmanager
def stoppable(on_change: Callable[[Urgency], None]) -> Iterator[Stopper]:
    """Yield a stopper that signals escalate instead of raising an exception; for the main thread only."""
    stopper = Stopper(on_change)

    def handle(_number: int, _frame: FrameType | None) -> None:
        stopper.escalate()

    before = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield stopper
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
