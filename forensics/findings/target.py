"""What a model is to be built for, and the build without a log that rules judge before there is any."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.errors import UsageError
from trtforensics.knowledge.platforms import memory_of, sm_of, stacks
from trtforensics.model.log import Build, BuildLog, Fact, Tool
from trtforensics.model.span import LineCounts, SourceInfo, SourceSpan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.onnx_models.checked import CheckedModel

RTX = "rtx"
"""The word for TensorRT-RTX among versions."""
BOUNDS = ("min", "opt", "max")
"""The shapes of an optimization profile."""
TYPES = ("fp16", "bf16", "int8", "fp8")
"""The flags that allow reduced types."""
_VERSION = re.compile(r"\d{1,2}(?:\.\d{1,3}){1,3}")
_CAPABILITY = re.compile(r"(?:sm_?)?(\d{1,2})\.?(\d)", re.IGNORECASE)
_PROFILE = "Input build shape"

Profile = dict[str, dict[str, tuple[int, ...]]]
"""The shape of each input by bound."""


@dataclass(frozen=True, slots=True)
class ModelTarget:
    """A release (``10.3``, ``rtx``, empty for any), a GPU, what is allowed, and the shapes of dynamic inputs.

    Raises:
        UsageError: The release or the GPU has another form.
    """

    version: str = ""
    gpu: str = ""
    types: tuple[str, ...] = ()
    strongly_typed: bool = False
    dla: bool = False
    shapes: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.version not in {"", RTX} and not _VERSION.fullmatch(self.version):
            raise UsageError("--target", f"{self.version!r} is no release", "Write 10.3, 8.6.1 or rtx")
        if self.gpu and not self.capability:
            what = f"{self.gpu!r} is no GPU that is known here"
            raise UsageError("--gpu", what, "Write its compute capability, such as 8.9 or sm89")

    @property
    def capability(self) -> str:
        """The GPU's compute capability, ``8.9``; empty where it is not known."""
        match = _CAPABILITY.fullmatch(self.gpu)
        known = match.groups() if match else sm_of(self.gpu) if self.gpu else None
        return ".".join(map(str, known)) if known else ""

    @property
    def words(self) -> str:
        """The release in words."""
        named = {"": "any TensorRT", RTX: "TensorRT-RTX"}
        return named.get(self.version, f"TensorRT {self.version}")


def release_of_jetpack(version: str) -> str:
    """Return the TensorRT release that a JetPack brings.

    Raises:
        UsageError: It is not known.
    """
    known = {stack.jetpack: stack.release for stack in stacks() if stack.jetpack}
    if version not in known:
        raise UsageError("--jetpack", f"{version} is not known here", f"Known are {', '.join(sorted(known))}")
    return ".".join(map(str, known[version]))


def as_log(model: CheckedModel, size: int, sha256: str, target: ModelTarget) -> BuildLog:
    """Return a log without lines, whose one build has the target's release, options and GPU as trtexec prints them.

    Its source is the model: the number of a node stands for a line.
    """
    nodes = len(model.nodes)
    head = SourceSpan(model.path, 0, 0)
    profile = {
        name: "+".join("x".join(map(str, bounds[bound])) for bound in BOUNDS) for name, bounds in target.shapes.items()
    }
    asked = {
        "Precision": "+".join(("FP32", *map(str.upper, target.types))),
        **({"Precision": "Strongly Typed"} if target.strongly_typed else {}),
        **({"DLACore": "0"} if target.dla else {}),
    }
    options = {
        "build": [
            *(Fact(name, value, head) for name, value in asked.items()),
            *(Fact(f"{_PROFILE} (profile 0)", f"{name}={shapes}", head) for name, shapes in profile.items()),
        ],
        "device": [
            Fact("Compute Capability", target.capability, head),
            Fact("Device Global Memory", f"{memory_of(target.gpu, target.capability)} MiB", head),
        ]
        if target.capability
        else [],
    }
    build = Build(
        0,
        1,
        max(nodes, 1),
        tool=Tool.TENSORRT_RTX if target.version == RTX else Tool.UNKNOWN,
        tensorrt_version=None if target.version in {"", RTX} else target.version,
        options=options,
    )
    source = SourceInfo(model.path, size, nodes, sha256)
    return BuildLog(source, LineCounts(), 0, (), (build,), np.zeros(1, np.int64))


def profile_of(build: Build) -> Profile:
    """Return the shapes of the inputs in a build's first optimization profile, as trtexec prints them."""
    profile: Profile = {}
    for fact in build.options.get("build", ()):
        name, _, text = fact.value.strip().rpartition("=")
        shapes = [_shape(part) for part in text.split("+")]
        if fact.name.startswith(_PROFILE) and name and len(shapes) == len(BOUNDS) and all(shapes):
            profile.setdefault(name, dict(zip(BOUNDS, (shape or () for shape in shapes), strict=True)))
    return profile


def _shape(text: str) -> tuple[int, ...] | None:
    parts = text.split("x")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else None
