"""Versions of TensorRT, and the options of trtexec: since and before which version each exists, and what it is for.

The tables ``knowledge/tables/trtexec_options.tsv`` and ``interface.tsv`` name their sources. A version is the first tag
that has the option, ``before`` the release that refuses it as unknown; the tag 9.2, whose samples are of 8.6, is left
out. Names of the Python interface are those that some releases lack; empty bounds are the oldest and the newest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from trtforensics.knowledge.table import release, rows
from trtforensics.model.log import Build, Tool

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True, slots=True)
class Version:
    """A TensorRT version. TensorRT-RTX numbers its versions otherwise and counts as 11, whose code base it shares."""

    numbers: tuple[int, ...]
    rtx: bool = False

    @classmethod
    def of(cls, build: Build) -> Version | None:
        """Return the version that a build ran; None where the log does not state it."""
        if build.tool is Tool.TENSORRT_RTX:
            return cls((11,), rtx=True)
        match = _NUMBERS.match(build.tensorrt_version or "")
        return cls(release(match.group())) if match else None

    def __str__(self) -> str:
        return "TensorRT-RTX" if self.rtx else f"TensorRT {'.'.join(map(str, self.numbers))}"

    def has(self, since: str = "", before: str = "") -> bool:
        """Whether it is ``since`` or later, and before ``before`` (both like ``10.8``, empty for no bound)."""
        return (not since or self.numbers >= release(since)) and (not before or self.numbers < release(before))


_FILES = "saveEngine", "timingCacheFile", "tuningCacheFile", "tuningResultFile"
EXPORTED = frozenset({"--exportTimes", "--exportProfile", "--exportOutput", "--exportLayerInfo"})
"""Options that name a JSON file to write."""
WRITTEN = EXPORTED | {f"--{name}" for name in _FILES}
"""Options that name a file to write; a timing cache is read too."""
NO_LONGER_NEEDED = frozenset({"--useCudaGraph", "--noDataTransfers", "--useSpinWait", "--separateProfileRun"})
"""What TensorRT 11 does by default: it takes these options, and they have no effect."""


@dataclass(frozen=True, slots=True)
class Flag:
    """An option. ``when``: it takes effect in a ``build``, in a ``run`` of the engine, or in ``both``.

    ``since`` and ``before`` bound the versions that have it; empty means no bound.
    """

    name: str
    when: str
    takes_value: bool
    since: str
    before: str


@cache
def flags() -> Mapping[str, Flag]:
    """Return every option by its name (``--onnx``)."""
    return {
        flag: Flag(flag, row["when"], row["form"] == "value", row["since"], row["before"])
        for row in rows("trtexec_options")
        for flag in (f"--{name}" if len(name) > 1 else f"-{name}" for name in row["options"].split())
    }


@cache
def flags_of(when: str) -> frozenset[str]:
    """Return the options that take effect in a ``build`` alone, or in a ``run`` alone."""
    return frozenset(name for name, flag in flags().items() if flag.when == when)


def has_flag(version: Version | None, option: str) -> bool:
    """Whether a version's trtexec takes an option, given with or without a value (``--fp16``, ``--device=1``).

    For an unknown version: whether every version since TensorRT 6 takes it.
    """
    flag = flags().get(option.partition("=")[0])
    if flag is None or version is None:
        return flag is not None and not flag.since and not flag.before
    return version.has(flag.since, flag.before)


@cache
def interface() -> Mapping[str, tuple[str, str]]:
    """Return the first and the last release that has a name of the Python interface, or the last of one of C++'s."""
    gone = {row["name"]: ("", row["last"]) for row in rows("lifetimes") if row["of"] == "TensorRT"}
    return gone | {row["name"]: (row["first"], row["last"]) for row in rows("interface")}
