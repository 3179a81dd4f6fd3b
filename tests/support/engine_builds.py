"""Small builds for tests of an engine's facts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.support.sample_session import Scribe, unknown_build
from trtforensics.model.log import EngineLayer, EngineTensor, Fact

if TYPE_CHECKING:
    from trtforensics.model.log import Build, Choice

FORMATS = {"Float": "Float(64,1)", "Half": "Half(64,1)", "Int8": "Int8(64,1:4)", "Int32": "Int32(64,1)"}


def tuned(scribe: Scribe, name: str, times: dict[str, tuple[float, ...]], chosen: str) -> tuple[Choice, ...]:
    """Write a block for each type, with the times of its tactics in ms; the type ``chosen`` is the engine's."""
    return tuple(
        scribe.tune(name, (FORMATS[kind], FORMATS[kind]), {"Cask": dict(enumerate(ms, 1))}, final=kind == chosen)
        for kind, ms in times.items()
    )


def layer(  # noqa: PLR0913 - the facts of a layer
    scribe: Scribe,
    name: str,
    kind: str = "CaskConvolution",
    dtype: str = "Float",
    *,
    reads: tuple[str, ...] = ("x",),
    writes: tuple[str, ...] = ("y",),
    choice: int | None = None,
    nodes: tuple[str, ...] = (),
    origin: str = "",
) -> EngineLayer:
    """Write a line of an engine dump, and return its layer."""
    span = scribe.say(f"Layer({kind}): {name}")
    tensors = [tuple(EngineTensor(tensor, dtype, (1, 64)) for tensor in names) for names in (reads, writes)]
    return EngineLayer(name, kind, 1, "", (dtype,), nodes, tensors[0], tensors[1], span, choice, None, origin)


def build_of(scribe: Scribe, choices: tuple[Choice, ...] = (), *layers: EngineLayer, precision: str = "FP32") -> Build:
    """Return a build with these choices and engine layers, and trtexec's Precision line."""
    asked = Fact("Precision", precision, scribe.say(f"Precision: {precision}"))
    return replace(
        unknown_build(scribe),
        timings=scribe.timings(),
        choices=choices,
        engine_layers=layers,
        options={"build": (asked,)},
    )
