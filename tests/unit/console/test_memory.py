"""A command runs without the garbage collector, and leaves it as it was."""

from __future__ import annotations

import gc
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from trtforensics.console import memory


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_off_while_a_command_runs_and_then_as_before(enabled: bool) -> None:  # noqa: FBT001
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with memory.of_one_command():
            assert not gc.isenabled()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_where_the_c_library_cannot_be_asked_a_command_runs_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctypes", None)
    with memory.of_one_command():
        pass


_HEAP = """
from pathlib import Path
from trtforensics.console import memory

with memory.of_one_command():
    print(Path("/proc/self/smaps").read_text())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="mallopt and brk are glibc's")
@pytest.mark.skipif(not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="this kernel has no large pages")
def test_the_heap_is_asked_for_ahead_and_in_large_pages() -> None:
    maps = subprocess.run([sys.executable, "-c", _HEAP], capture_output=True, text=True, check=True).stdout
    heap = re.findall(r"\[heap\]\nSize: +(\d+) kB\n(?:(?!VmFlags).*\n)*VmFlags:(.*)\n", maps)
    assert any(int(kilobytes) >= 40_000 and " hg" in flags for kilobytes, flags in heap), heap
