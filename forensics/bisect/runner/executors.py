"""Executors of probes: threads of this process, each waiting for one command at a time, or a Dask cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from trtforensics.bisect.runner.command import Urgency
from trtforensics.bisect.runner.leftovers import adopt_orphans
from trtforensics.bisect.runner.probe import run_probe
from trtforensics.bisect.runner.watchdog import SESSION, guarded, signal_all

if TYPE_CHECKING:
    from concurrent.futures import Future

    from trtforensics.bisect.runner.options import RunOptions
    from trtforensics.bisect.runner.probe import ProbeOutcome, ProbeSpec


class ProbeExecutor(Protocol):
    """Runs probes; ``room`` is how many at once."""

    room: int

    def submit(self, spec: ProbeSpec) -> Future[ProbeOutcome]:
        """Start a probe."""
        ...

    def halt(self, urgency: Urgency) -> None:
        """Tell the running probes to end; their outcomes then have no verdict."""
        ...

    def signal(self, number: int) -> None:
        """Send a signal to all processes of the running probes, where they run on this machine."""
        ...

    def close(self) -> None:
        """Wait for the running probes and release all resources."""
        ...


class LocalExecutor:
    """Runs probes on this machine."""

    def __init__(self, jobs: int) -> None:
        adopt_orphans()
        self._stack = ExitStack()
        self._token = self._stack.enter_context(guarded())
        self.room = jobs
        self._urgency = Urgency.GO_ON
        self._threads = self._stack.enter_context(ThreadPoolExecutor(jobs, thread_name_prefix="probe"))

    def submit(self, spec: ProbeSpec) -> Future[ProbeOutcome]:
        """Start a probe in a thread."""
        watched = replace(spec, environment={**spec.environment, SESSION: self._token})
        return self._threads.submit(run_probe, watched, lambda: self._urgency)

    def halt(self, urgency: Urgency) -> None:
        """Tell the running probes to end."""
        self._urgency = urgency

    def signal(self, number: int) -> None:
        """Send a signal to all processes of the running probes."""
        signal_all(self._token, number)

    def close(self) -> None:
        """Wait for the running probes."""
        self._stack.close()


class RelayExecutor(ABC):
    """Runs probes in threads by code of a lever, which has commands run by another executor."""

    def __init__(self, commands: ProbeExecutor, name: str) -> None:
        self._commands = commands
        self.room = commands.room
        self._threads = ThreadPoolExecutor(commands.room, thread_name_prefix=name)

    def submit(self, spec: ProbeSpec) -> Future[ProbeOutcome]:
        """Start a probe."""
        return self._threads.submit(self._run, spec)

    def halt(self, urgency: Urgency) -> None:
        """Tell the running commands to end; a lever's own work is short."""
        self._commands.halt(urgency)

    def signal(self, number: int) -> None:
        """Send a signal to the running commands."""
        self._commands.signal(number)

    def close(self) -> None:
        """Wait for the running probes."""
        self._threads.shutdown()
        self._commands.close()

    @abstractmethod
    def _run(self, spec: ProbeSpec) -> ProbeOutcome:
        """Run a probe, in a thread of its own."""


def make_executor(options: RunOptions) -> ProbeExecutor:
    """Return the executor that the options name.

    Raises:
        UsageError: there is no such cluster, or no worker of it offers a GPU.
    """
    if options.executor:
        from trtforensics.bisect.runner.cluster import DaskExecutor  # noqa: PLC0415 - an optional dependency

        return DaskExecutor(options.executor, options.jobs)
    return LocalExecutor(options.jobs)
