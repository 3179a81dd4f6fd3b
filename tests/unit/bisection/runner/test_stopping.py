"""Signals to a run: what they end, and what they leave to be finished."""

import signal
import sys
from collections.abc import Iterator

import pytest

from trtforensics.bisection.runner.command import Urgency
from trtforensics.bisection.runner.executors import LocalExecutor
from trtforensics.bisection.runner.stopping import stoppable

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="probes run on Linux only")


class Run(LocalExecutor):
    """Notes what it is told."""

    def __init__(self) -> None:
        super().__init__(1)
        self.told: list[int] = []

    def halt(self, urgency: Urgency) -> None:
        """Note an urgency."""
        self.told.append(urgency)

    def signal(self, number: int) -> None:
        """Note a signal."""
        self.told.append(number)


@pytest.fixture(autouse=True)
def _not_under_nohup() -> Iterator[None]:
    """Have a hangup end what runs, also where the tests were started to outlive their terminal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_computation_and_nothing_else(number: signal.Signals) -> None:
    run = Run()
    with stoppable(run) as stopper:
        with stopper.computing():
            pass
        signal.raise_signal(number)
        assert stopper.urgency is Urgency.END
        with pytest.raises(KeyboardInterrupt), stopper.computing():
            raise AssertionError("computed although the run is to end")
    with stoppable(run) as stopper:
        with pytest.raises(KeyboardInterrupt), stopper.computing():
            signal.raise_signal(number)
        signal.raise_signal(number)
    assert run.told == [Urgency.END, Urgency.END, Urgency.NOW]


def test_a_hangup_that_was_ignored_stays_so() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    run = Run()
    with stoppable(run):
        for number in (signal.SIGHUP, signal.SIGTERM):
            signal.raise_signal(number)
    assert run.told == [Urgency.END]
