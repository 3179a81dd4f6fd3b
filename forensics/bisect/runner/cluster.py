"""Probes on a Dask cluster: one at a time on each worker that has the resource ``GPU``, files on a shared path.

A scheduler runs any code sent to it: use one only in a trusted network, or with TLS (Dask's own configuration).
"""

from __future__ import annotations

import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.bisect.runner import tickets
from trtforensics.bisect.runner.command import Urgency
from trtforensics.bisect.runner.leftovers import adopt_orphans
from trtforensics.bisect.runner.probe import ProbeOutcome, run_probe
from trtforensics.bisect.runner.watchdog import SESSION, guarded
from trtforensics.bisect.search import Verdict
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from trtforensics.bisect.runner.probe import ProbeSpec

RESOURCE = "GPU"
_LOOK_S = 0.5


class DaskExecutor:
    """Runs probes on workers. If a worker is lost, its probe starts again on another.

    A probe's folder holds a ticket while the probe may run. Removing the ticket ends the probe on any worker.
    """

    def __init__(self, address: str, jobs: int | None) -> None:
        """Connect.

        Raises:
            UsageError: the package is missing, no scheduler answers, or no worker offers the resource.
        """
        try:
            from distributed import Client  # noqa: PLC0415 - an optional dependency
        except ImportError as error:
            next_step = "Install it: pip install 'trtforensics[cluster]'"
            raise UsageError("--executor", "needs the package `distributed`", next_step) from error
        where = address.removeprefix("dask://")
        try:
            self._client = Client(f"tcp://{where}", set_as_default=False)
        except (OSError, TimeoutError) as error:
            raise UsageError(f"--executor {address}", "no scheduler answers there", "Start `dask scheduler`") from error
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        fit = sum(int(worker["resources"].get(RESOURCE, 0)) for worker in workers)
        if not fit:
            self._client.close()
            what = f"none of its {len(workers)} workers offers the resource {RESOURCE}"
            raise UsageError(f"--executor {address}", what, f'Start them with `dask worker --resources "{RESOURCE}=1"`')
        self.room = min(jobs or fit, fit)
        self._threads = ThreadPoolExecutor(self.room, thread_name_prefix="probe")
        self._tickets: set[Path] = set()

    def submit(self, spec: ProbeSpec) -> Future[ProbeOutcome]:
        """Start a probe on a worker; a thread here waits for it."""
        return self._threads.submit(self._run, spec)

    def halt(self, urgency: Urgency) -> None:  # noqa: ARG002 - a worker always ends its probe in order
        """Remove the tickets of the running probes."""
        for ticket in tuple(self._tickets):
            ticket.unlink(missing_ok=True)

    def signal(self, number: int) -> None:
        """Do nothing: probes on workers go on while this process is paused."""

    def close(self) -> None:
        """Wait for the running probes and leave the cluster."""
        self._threads.shutdown()
        self._client.close()

    def _run(self, spec: ProbeSpec) -> ProbeOutcome:
        from distributed import CancelledError  # noqa: PLC0415 - as above
        from distributed.comm.core import CommClosedError  # noqa: PLC0415 - as above
        from distributed.scheduler import KilledWorker  # noqa: PLC0415 - as above

        word = secrets.token_hex(8)
        ticket = tickets.issue(Path(spec.folder), word)
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


def run_remote(spec: ProbeSpec, word: str) -> ProbeOutcome:
    """Run a probe in a worker, as long as its folder holds this ticket and no later worker claims it."""
    adopt_orphans()
    looked, urgency = 0.0, Urgency.GO_ON
    with tickets.claimed(Path(spec.folder), word) as may_go_on, guarded() as token:

        def halt() -> Urgency:
            nonlocal looked, urgency
            if time.monotonic() - looked >= _LOOK_S:
                looked = time.monotonic()
                urgency = Urgency.GO_ON if may_go_on() else Urgency.END
            return urgency

        return run_probe(replace(spec, environment={**spec.environment, SESSION: token}), halt)
