"""Executors of probes: on this machine, or on a Dask cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from trtforensics.bisection.runner.command import Urgency
from trtforensics.bisection.runner.leftovers import adopt_orphans, guarded
from trtforensics.bisection.runner.probe import run_probe
from trtforensics.bisection.runner.watchdog import SESSION, signal_all

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from trtforensics.bisection.runner.probe import ProbeOutcome, ProbeSpec

    Judge = Callable[[ProbeSpec, Callable[[ProbeSpec], ProbeOutcome]], ProbeOutcome]


class ProbeExecutor(ABC):
    """Runs probes, ``room`` at once, each in a thread that waits for one command at a time."""

    def __init__(self, room: int) -> None:
        self.room = room
        self._threads = ThreadPoolExecutor(room, thread_name_prefix="probe")

    def submit(self, spec: ProbeSpec, judge: Judge) -> Future[ProbeOutcome]:
        """Start a probe: ``judge`` is called in a thread, with what runs the commands of a spec and waits for them."""
        return self._threads.submit(judge, spec, self._run)

    @abstractmethod
    def halt(self, urgency: Urgency) -> None:
        """Tell the running probes to end; their outcomes then have no verdict."""

    @abstractmethod
    def signal(self, number: int) -> None:
        """Send a signal to all processes of the running probes, where they run on this machine."""

    def close(self) -> None:
        """Wait for the running probes and release all resources."""
        self._threads.shutdown()

    @abstractmethod
    def _run(self, spec: ProbeSpec) -> ProbeOutcome:
        """Run the commands of a probe."""


class LocalExecutor(ProbeExecutor):
    """Runs probes on this machine."""

    def __init__(self, jobs: int) -> None:
        adopt_orphans()
        self._guard = ExitStack()
        self._token = self._guard.enter_context(guarded())
        self._urgency = Urgency.GO_ON
        super().__init__(jobs)

    def halt(self, urgency: Urgency) -> None:
        """Tell the running probes to end."""
        self._urgency = urgency

    def signal(self, number: int) -> None:
        """Send a signal to all processes of the running probes."""
        signal_all(self._token, number)

    def close(self) -> None:
        """Wait for the running probes; then nothing needs a watchdog any more."""
        super().close()
        self._guard.close()

    def _run(self, spec: ProbeSpec) -> ProbeOutcome:
        watched = replace(spec, environment={**spec.environment, SESSION: self._token})
        return run_probe(watched, lambda: self._urgency)
