"""Which of the engine-layer lines of a build to use: a log may print the engine twice, or be cut inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model import EngineLayer


def last_dump(layers: Sequence[EngineLayer]) -> tuple[EngineLayer, ...]:
    """Return the last complete dump among the engine layers of a build, in the log's order.

    A dump begins anew where, after a line that is no engine layer, the first layer of the dump
    comes again; a gap alone does not end one, because Polygraphy breaks a layer's line at each
    0x1E of its metadata. A dump that is shorter than another one was cut and is not complete.
    """
    dumps: list[list[EngineLayer]] = []
    previous = None
    for layer in layers:
        follows = previous is not None and layer.span.line == previous.span.line + 1
        if not dumps or (not follows and layer.name == dumps[-1][0].name):
            dumps.append([])
        dumps[-1].append(layer)
        previous = layer
    longest = max(map(len, dumps), default=0)
    return next((tuple(dump) for dump in reversed(dumps) if len(dump) == longest), ())
