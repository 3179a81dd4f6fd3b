"""What a log says of the GPU, and the steps that depend on it: workspace within its memory, locked clocks."""

import re

from trtforensics.console.counting import MEBIBYTE
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Step
from trtforensics.findings.steps.commands import options, polygraphy_run, trtexec, value_of
from trtforensics.model.deferred import regex
from trtforensics.model.log import Tool

_LEAST, _MOST = 1024, 24 << 10
"""The least workspace in MiB that is proposed, where the GPU has as much."""
_VOLTA = (7, 0)
_JETSON = regex(r"\b(?:Orin|Xavier|Tegra|Jetson|Thor|NVIDIA Tegra X\d)\b", re.IGNORECASE)
_NUMBER = regex(r"\d+(?:\.\d+)?")


def _device(case: Case, *names: str) -> str:
    facts = {fact.name: fact.value.strip() for fact in case.build.options.get("device", ())}
    return next((facts[name] for name in names if facts.get(name)), "")


def compute_capability(case: Case) -> tuple[int, int] | None:
    """Return the compute capability that trtexec prints, ``(8, 6)``; None where the log does not say."""
    match = re.match(r"(\d{1,3})\.(\d{1,3})", _device(case, "Compute Capability"))
    return (int(match.group(1)), int(match.group(2))) if match else None


def memory_mib(case: Case) -> int | None:
    """Return the GPU's memory in MiB; None where the log does not say."""
    match = _NUMBER.match(_device(case, "Device Global Memory", "Memory"))
    return int(float(match.group())) if match else None


def is_jetson(case: Case) -> bool:
    """Whether the device's name is of a Jetson, which has no ``nvidia-smi`` that sets clocks."""
    return _JETSON.search(_device(case, "Selected Device")) is not None


def wanted_workspace(case: Case) -> int:
    """Return the most bytes of workspace that any line of the build asks for; 0 where none does."""
    asked = [layer.requested for layer in case.build.starved]
    asked += [int(note.number("requested") or 0) for note in case.notes("myelin_budget", "workspace_hint")]
    return max(asked, default=0)


def _limit(case: Case) -> int:
    """Return the MiB of workspace that trtexec prints as the limit, or that Polygraphy was given; 0: not known."""
    printed = (case.build.option("build", name) or "" for name in ("Memory Pools", "Workspace"))
    sizes = [float(size[1]) for text in printed if (size := _PRINTED.match(text.strip()))]
    option = _TOLD.search(case.build.command or "") if case.build.tool is Tool.POLYGRAPHY else None
    sizes += [float(option[1]) * 1024.0 ** (" KMG".index(option[2] or " ") - 2)] if option else []
    return round(max(sizes, default=0))


_PRINTED = regex(r"(?:workspace: )?([0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?) MiB")
_TOLD = regex(r"--(?:workspace[ =]|pool-limit[ =](?:\S+ )*?workspace:)([0-9]+(?:\.[0-9]+)?(?:e[0-9]+)?)([KMG]?)\b")


def workspace(case: Case) -> Step:
    """Return the step that builds with as much workspace as the build asks for, and with twice its limit at least.

    That is rounded up to a power of two of MiB, to three quarters of the GPU's memory at most unless the log asks for
    more. It is the same step for every finding of a build. There is no command where the GPU has not as much memory.
    """
    wanted, memory, limit = wanted_workspace(case), memory_mib(case), _limit(case)
    needed = max(asked := -(-wanted // MEBIBYTE), 2 * limit)
    mebibytes = max(_LEAST, 1 << (needed - 1).bit_length() if needed else 0)
    if wanted > (memory or _MOST) * MEBIBYTE:
        has = f"the {memory:,} MiB of this GPU" if memory is not None else "most GPUs have: give it what is free"
        return Step(f"The log asks for {wanted:,} bytes of workspace, more than {has}")
    if memory is not None:
        mebibytes = min(mebibytes, max(memory * 3 // 4, asked))
    if mebibytes <= limit:
        return Step(f"The workspace limit, {limit:,} MiB, leaves little for more on this GPU")
    named = f" (the log names {wanted:,} bytes)" if wanted else ""
    what = f"Build with a workspace of {mebibytes} MiB or more{named}"
    old = case.ran(before="8.4")
    if case.build.tool is Tool.POLYGRAPHY:
        older = "--workspace" in re.split(r"[\s=]", case.build.command or "")
        pool = ("--workspace", f"{mebibytes}M") if older else ("--pool-limit", f"workspace:{mebibytes}M")
        return Step(what, polygraphy_run(case, *pool))
    if case.build.tool is Tool.TRTEXEC and options(case):
        flag = f"--workspace={mebibytes}" if old else f"--memPoolSize={_pools(case, mebibytes)}"
        return Step(what, trtexec(case, flag, without=("--workspace", "--memPoolSize")))
    if case.version is None:
        return Step(what)
    call = f"config.max_workspace_size = {mebibytes} << 20"
    new = f"config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, {mebibytes} << 20)"
    return Step(f"{what}: {call if old else new}")


def _pools(case: Case, mebibytes: int) -> str:
    """Return the value of ``--memPoolSize`` with this workspace and the other pools of the log's command."""
    given = value_of(options(case), "--memPoolSize").split(",")
    others = [pool for pool in given if pool and not pool.startswith("workspace:")]
    return ",".join([f"workspace:{mebibytes}", *others])


def clocks(case: Case) -> Step:
    """Return the step that locks the GPU's clocks: on a Jetson, or from Volta on at the clock that the log names."""
    what = "Lock the clocks, then build and measure again"
    if is_jetson(case):
        return Step(f"{what} (it takes root's rights and lasts until the next boot)", "sudo jetson_clocks")
    rate = _NUMBER.match(_device(case, "Compute Clock Rate", "Application Compute Clock Rate"))
    capability = compute_capability(case)
    if rate is None or capability is None or capability < _VOLTA:
        return Step(what)
    command = f"nvidia-smi --lock-gpu-clocks={round(float(rate.group()) * 1000)}"
    return Step(f"{what} (it takes root's rights; nvidia-smi --reset-gpu-clocks undoes it)", command)
