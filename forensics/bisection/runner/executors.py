"""Executors of probes: on this machine, or on a Dask cluster.

A worker of a cluster that has the resource ``GPU`` runs one probe at a time, with files on a shared path. The ticket of
a probe is a file in its folder, without which the probe ends. A worker writes its claim there, and has a mark there
while it runs the probe. Where a scheduler took a worker for lost and gave its probe to another, the later claim counts:
the earlier worker ends, and the later one waits for that.

A scheduler runs any code sent to it: use one only in a trusted network, or with TLS (Dask's own configuration).
"""

import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from trtforensics.bisection.runner.command import GRACE_S, Urgency
from trtforensics.bisection.runner.leftovers import adopt_orphans, guarded
from trtforensics.bisection.runner.probe import ProbeOutcome, ProbeSpec, run_probe
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.runner.watchdog import SESSION, signal_all
from trtforensics.bisection.search import Verdict
from trtforensics.console.cluster import connected
from trtforensics.console.output import write_text
from trtforensics.errors import UsageError

Judge = Callable[[ProbeSpec, Callable[[ProbeSpec], ProbeOutcome]], ProbeOutcome]

RESOURCE = "GPU"
_LOOK_S = 0.5
_TICKET = ".ticket"
_CLAIM = ".claim"
_MARK = ".runs-"
_PATIENCE_S = 3 * GRACE_S
"""How long the end of a probe without a ticket may take; a worker that takes longer was lost."""

_PAUSE_S = 0.1


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


class DaskExecutor(ProbeExecutor):
    """Runs probes on workers. If a worker is lost, its probe starts again on another."""

    def __init__(self, address: str, jobs: int | None) -> None:
        self._client = connected(address)
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        fit = sum(int(worker["resources"].get(RESOURCE, 0)) for worker in workers)
        if not fit:
            self._client.close()
            what = f"none of its {len(workers)} workers offers the resource {RESOURCE}"
            raise UsageError(f"--executor {address}", what, f'Start them with `dask worker --resources "{RESOURCE}=1"`')
        super().__init__(min(jobs or fit, fit))
        self._tickets: set[Path] = set()

    def halt(self, urgency: Urgency) -> None:  # noqa: ARG002 - a worker always ends its probe in order
        """Remove the tickets of the running probes."""
        for ticket in tuple(self._tickets):
            ticket.unlink(missing_ok=True)

    def signal(self, number: int) -> None:
        """Do nothing: probes on workers go on while this process is paused."""

    def close(self) -> None:
        """Wait for the running probes and leave the cluster."""
        super().close()
        self._client.close()

    def _run(self, spec: ProbeSpec) -> ProbeOutcome:
        from distributed import CancelledError  # noqa: PLC0415 - as above
        from distributed.comm.core import CommClosedError  # noqa: PLC0415 - as above
        from distributed.scheduler import KilledWorker  # noqa: PLC0415 - as above

        word = secrets.token_hex(8)
        ticket = issue_ticket(Path(spec.folder), word)
        self._tickets.add(ticket)
        try:
            future = self._client.submit(run_remote, spec, word, pure=False, resources={RESOURCE: 1})
            outcome: ProbeOutcome = future.result()
        except KilledWorker as error:
            return ProbeOutcome(Verdict.UNRESOLVED, f"every worker that ran it was lost ({error.last_worker})")
        except (CancelledError, CommClosedError) as error:
            raise UsageError("--executor", "the scheduler was lost", "Start it, and run the same command") from error
        finally:
            self._tickets.discard(ticket)
            ticket.unlink(missing_ok=True)
        return outcome


def make_executor(options: RunOptions) -> ProbeExecutor:
    """Return the executor that the options name."""
    if options.executor:
        return DaskExecutor(options.executor, options.probes_at_once)
    return LocalExecutor(options.probes_at_once)


def run_remote(spec: ProbeSpec, word: str) -> ProbeOutcome:
    """Run a probe in a worker, as long as its folder holds this ticket and no later worker claims it."""
    adopt_orphans()
    looked, urgency = 0.0, Urgency.GO_ON
    with claimed_ticket(Path(spec.folder), word) as may_go_on, guarded() as token:

        def halt() -> Urgency:
            nonlocal looked, urgency
            if time.monotonic() - looked >= _LOOK_S:
                looked = time.monotonic()
                urgency = Urgency.GO_ON if may_go_on() else Urgency.END
            return urgency

        return run_probe(replace(spec, environment={**spec.environment, SESSION: token}), halt)


def issue_ticket(folder: Path, word: str) -> Path:
    """Write the ticket of a probe that starts; return its path."""
    ticket = folder / _TICKET
    write_text(ticket, word)
    return ticket


def revoke_ticket(folder: Path) -> None:
    """Take the ticket of an earlier run back, and wait until no worker runs the probe any more."""
    (folder / _TICKET).unlink(missing_ok=True)
    _wait_for_others(folder)


@contextmanager
def claimed_ticket(folder: Path, word: str) -> Iterator[Callable[[], bool]]:
    """Claim a probe for this worker; yield a function that says whether it may go on."""
    mine = secrets.token_hex(8)
    write_text(folder / _CLAIM, mine)
    _wait_for_others(folder)
    mark = folder / f"{_MARK}{mine}"
    mark.touch()
    try:
        yield lambda: _read(folder / _TICKET) == word and _read(folder / _CLAIM) == mine
    finally:
        mark.unlink(missing_ok=True)


def _wait_for_others(folder: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while marks := list(folder.glob(f"{_MARK}*")):
        if time.monotonic() >= deadline:
            for mark in marks:
                mark.unlink(missing_ok=True)
        time.sleep(_PAUSE_S)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
