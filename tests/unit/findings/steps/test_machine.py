"""Steps that depend on the GPU of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trtforensics.findings.steps.machine import clocks, workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.findings.case import Case

DEVICE = """i === Device Information ===
i Selected Device: {name}
i Compute Capability: {capability}
i Device Global Memory: {memory} MiB
i Compute Clock Rate: 1.645 GHz
"""
GPU = {"name": "NVIDIA H100 PCIe", "capability": "9.0", "memory": 81081}
STARVED = """V --------------- Timing Runner: a (CaskConvolution[0x80000009])
V Tactic: 0x0000000000000001 skipped. Scratch requested: {asked}, available: 1024
"""


@pytest.mark.parametrize(
    ("head", "asked", "flag"),
    [
        ("&& 10.16.1 --fp16", 1_115_648, "--memPoolSize=workspace:1024"),
        ("&& 10.16.1 --memPoolSize=workspace:1,tacticSharedMem:2", 1_115_648, "workspace:1024,tacticSharedMem:2"),
        ("&& 8.0.3 --workspace=1", 5_000_000_000, "--workspace=8192"),
        ("&& 8.0.3\ni === Build Options ===\ni Workspace: 2048 MiB", 1_115_648, "--workspace=4096"),
        (
            "&& 10.16.1\ni === Build Options ===\ni Memory Pools: workspace: 1500 MiB, dlaSRAM: default",
            9,
            "workspace:4096",
        ),
    ],
)
def test_the_workspace_is_what_the_log_asks_for(
    head: str, asked: int, flag: str, case_of: Callable[[str], Case]
) -> None:
    step = workspace(case_of(f"{head}\n{DEVICE.format(**GPU)}{STARVED.format(asked=asked)}"))
    assert step.command.endswith(flag)
    assert f"{asked:,} bytes" in step.what


def test_no_more_workspace_than_memory_is_asked_for(case_of: Callable[[str], Case]) -> None:
    small = DEVICE.format(**GPU | {"memory": 600})
    assert workspace(case_of(f"&& 10.16.1\n{small}")).command.endswith("--memPoolSize=workspace:450")
    full = f"&& 10.16.1\ni === Build Options ===\ni Memory Pools: workspace: 590 MiB, dlaSRAM: default\n{small}"
    assert workspace(case_of(full)).what == "The workspace limit, 590 MiB, leaves little for more on this GPU"
    step = workspace(case_of(f"&& 10.16.1\n{small}{STARVED.format(asked=1 << 30)}"))
    assert (step.command, "more than the 600 MiB" in step.what) == ("", True)


@pytest.mark.parametrize(
    ("library", "call"),
    [
        ("", ""),
        ("libnvinfer.so.8.2.5", "config.max_workspace_size = 1024 << 20"),
        ("libnvinfer.so.10.3.0", "config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1024 << 20)"),
    ],
)
def test_python_is_told_the_call_of_its_version_where_the_log_tells_that(
    library: str, call: str, case_of: Callable[[str], Case]
) -> None:
    said = "| [11/21/2026-10:00:00] [TRT] [V] "
    loaded = f"\n{said}Trying to load shared library {library}" if library else ""
    step = workspace(case_of(f"{said}Original: 1 layers{loaded}"))
    assert (step.command, step.what.partition(": ")[2]) == ("", call)


@pytest.mark.parametrize(
    ("name", "capability", "command"),
    [
        ("Orin", "8.7", "sudo jetson_clocks"),
        ("NVIDIA GeForce GTX 1070", "6.1", ""),
        ("NVIDIA H100 PCIe", "9.0", "nvidia-smi --lock-gpu-clocks=1645"),
    ],
)
def test_clocks_are_locked_where_the_gpu_can(
    name: str, capability: str, command: str, case_of: Callable[[str], Case]
) -> None:
    device = DEVICE.format(name=name, capability=capability, memory=8000)
    step = clocks(case_of(f"&& 10.16.1\n{device}"))
    assert (step.command, "root" in step.what) == (command, bool(command))


def test_polygraphys_workspace_is_set_by_the_option_that_its_command_has(case_of: Callable[[str], Case]) -> None:
    run = "| [I] RUNNING | Command: /usr/bin/polygraphy run m.onnx --trt"
    assert workspace(case_of(f"{run}\nV Parsing")).command.endswith("--trt --pool-limit workspace:1024M")
    assert workspace(case_of(f"{run} --workspace 1e9\nV Parsing")).command.endswith("--trt --workspace 2048M")
