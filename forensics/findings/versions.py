"""TensorRT versions, and what depends on them in the advice of findings.

Which version has what is known from NVIDIA's bindings 10.0 to 11.4, from trtexec's option parser 7.2 to 11.1 and from
the 10.x to 11.x migration guide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.knowledge.table import release
from trtforensics.model.log import Tool

if TYPE_CHECKING:
    from trtforensics.model.log import Build

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
