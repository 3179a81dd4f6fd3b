"""The watchdog ends the processes of a session."""

from __future__ import annotations

import os
import sys
import time

import pytest

from trtforensics.bisection.runner.leftovers import guarded
from trtforensics.bisection.runner.watchdog import SESSION, carrying

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="probes run on Linux only")


def test_the_watchdog_ends_what_carries_the_token() -> None:
    with guarded() as token:
        child = os.posix_spawn("/bin/sleep", ["sleep", "60"], {SESSION: token})
        while carrying(token) != [child]:  # until it has become `sleep`
            time.sleep(0.01)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -9
