"""Signals to a run: the first Ctrl-C ends it in order, the second at once; Ctrl-Z pauses it.

SIGTERM and SIGHUP, from batch systems and closed terminals, end it too. SIGQUIT asks where it stands. A signal that was
ignored when the process began stays so, SIGHUP under ``nohup`` for example.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from trtforensics.bisection.runner.command import Urgency
from trtforensics.bisection.runner.executors import ProbeExecutor

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STDERR = 2
_WORDS = b"\ntrtforensics: stopping the running probes; once more kills them at once\n"


class Stopper:
    """How urgently the user wants the run to end, and whether they ``asked`` how it stands."""

    def __init__(self, executor: ProbeExecutor) -> None:
        self.urgency = Urgency.GO_ON
        self.asked = False
        self._executor = executor
        self._computing = False

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Let a signal that ends the run end this block too, by KeyboardInterrupt: it must write nothing."""
        self._computing = True
        try:
            if self.urgency:
                raise KeyboardInterrupt
            yield
        finally:
            self._computing = False

    def handle(self, number: int, _frame: FrameType | None = None) -> None:
        """Raise the urgency by a step at a signal that ends, and end a computation by KeyboardInterrupt."""
        if number == signal.SIGQUIT:
            self.asked = True
            return
        if number == signal.SIGTSTP:
            self._pause()
            return
        if self.urgency is Urgency.GO_ON:
            with suppress(OSError):  # stderr may be closed; the signal may interrupt a write to the stream
                os.write(_STDERR, _WORDS)
        self.urgency = Urgency(min(self.urgency + 1, Urgency.NOW))
        self._executor.halt(self.urgency)
        if self._computing:
            self._computing = False
            raise KeyboardInterrupt

    def _pause(self) -> None:
        """Stop the probes' processes and then this one, as the terminal means it; go on with all of them."""
        self._executor.signal(signal.SIGSTOP)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self.handle)
        self._executor.signal(signal.SIGCONT)


@contextmanager
def stoppable(executor: ProbeExecutor) -> Iterator[Stopper]:
    """Yield a stopper that handles signals while the block runs; for the main thread only."""
    stopper = Stopper(executor)
    before = {number: signal.getsignal(number) for number in (*_ENDING, signal.SIGTSTP, signal.SIGQUIT)}
    taken = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in taken:
        signal.signal(number, stopper.handle)
    try:
        yield stopper
    finally:
        for number in taken:
            signal.signal(number, before[number])
