"""Which GPUs a release runs on, and with which CUDA, cuDNN, driver and JetPack."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from trtforensics.knowledge.periods import Period
from trtforensics.knowledge.table import Release, known, minor, records, rows

Platform = Literal["x86-64", "SBSA", "JetPack", "RTX"]
"""Linux and Windows on x86, servers with Arm, Jetson modules; RTX: TensorRT-RTX, whose releases count from 1.0."""


@dataclass(frozen=True, slots=True)
class Architecture(Period):
    """A compute capability on a platform, and releases that are known to support or to refuse it."""

    sm: Release
    name: str
    platform: Platform
    state: Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class Stack:
    """The software around a release, as its documents name it; empty where they do not.

    ``python`` is the range that wheels on PyPI, or its README, name. ``cudnn`` is one for all CUDA versions, or one
    for each in their order. ``driver`` is the least driver by CUDA major. ``opset`` are the least and the greatest;
    the least is 0 where the documents name none.
    """

    release: Release
    platform: Platform
    cuda: tuple[str, ...]
    cudnn: tuple[str, ...]
    driver: Mapping[str, str]
    jetpack: str
    python: str
    opset: tuple[int, ...]
    source: str

    @property
    def words(self) -> str:
        """CUDA, cuDNN and driver: ``CUDA 11.8 with cuDNN 8.6 (driver 450 or later) or CUDA 10.2 with cuDNN 8.4``."""
        each = []
        for place, cuda in enumerate(self.cuda):
            cudnn = f" with cuDNN {self.cudnn[min(place, len(self.cudnn) - 1)]}" if self.cudnn else ""
            driver = self.driver.get(cuda.partition(".")[0])
            each.append(f"CUDA {cuda}{cudnn}" + (f" (driver {driver} or later)" if driver else ""))
        return " or ".join(each)


def releases_for(sm: tuple[int, ...], platform: Platform = "x86-64") -> tuple[Architecture, ...]:
    """Return which releases are known to support or refuse a compute capability on a platform, oldest first."""
    every = records("architectures", Architecture)
    return tuple(entry for entry in every if (entry.sm, entry.platform) == (sm, platform))


def supported(entries: Sequence[Architecture], version: Sequence[int]) -> bool | None:
    """Whether a release supports what these rows speak of; None where that is not known."""
    return next((entry.state == "yes" for entry in entries if entry.holds(version)), None)


_BLANK = re.compile("[ _-]")


@cache
def _gpus() -> tuple[re.Pattern[str], Mapping[str, Mapping[str, str]]]:
    """Return what finds the names of ``gpus.tsv`` in a text, and the rows by their names in small letters, unspaced."""
    names = (row["gpu"].replace(" ", "[ _-]?") for row in sorted(rows("gpus"), key=lambda row: -len(row["gpu"])))
    by_name = {_BLANK.sub("", row["gpu"]).lower(): row for row in rows("gpus")}
    return re.compile(rf"(?i)(?<!\w)(?:{'|'.join(names)})(?!\w)"), by_name


def gpu_named(text: str) -> Mapping[str, str]:
    """Return the row of ``gpus.tsv`` whose name, the longest, a text holds, blanks aside, as words; empty: none."""
    names, by_name = _gpus()
    found = (by_name[_BLANK.sub("", name).lower()] for name in names.findall(text))
    return max(found, key=lambda row: len(row["gpu"]), default={})


def sm_of(gpu: str) -> Release | None:
    """Return the compute capability of a device by its name (``NVIDIA GeForce RTX 3080 Ti``); None: unknown."""
    return known(gpu_named(gpu).get("sm", ""))


def memory_of(gpu: str = "", sm: str = "") -> int:
    """Return the MiB of a GPU's largest variant by its name; of an unknown one the most of its capability or of all."""
    fitting = [row for row in rows("gpus") if sm in {"", row["sm"]}] or rows("gpus")
    return 1024 * max(int(row["gib"]) for row in ([gpu_named(gpu)] if gpu_named(gpu) else fitting))


def stack_of(version: Sequence[int], platform: Platform = "x86-64") -> tuple[Stack, ...]:
    """Return the stacks of a release on a platform: of its patch where that has its own, else of its minor."""
    on_platform = [stack for stack in stacks() if stack.platform == platform]
    patch = tuple(stack for stack in on_platform if stack.release == tuple(version[:3]))
    return patch or tuple(stack for stack in on_platform if stack.release == minor(version))


def stacks() -> tuple[Stack, ...]:
    """Return all rows of ``stack.tsv``, oldest release first."""
    return records("stack", Stack, driver=lambda text: dict(pair.split(":") for pair in text.split()), opset=_opsets)


def _opsets(text: str) -> tuple[int, ...]:
    return tuple(int(number or 0) for number in text.split("-")) if text else ()
