"""Colours of pictures: by compute precision, by type, by share of time. They stay apart for colour-blind readers."""

from collections.abc import Iterable

from trtforensics.knowledge.table import rows
from trtforensics.model.data_types import type_word

UNKNOWN = "unknown"
"""How a precision or a type is called that nothing tells."""

_PRECISIONS = {row["type"]: row["colour"] for row in rows("colours", "trtforensics.render")}
NEUTRAL = "#b9bdc6"
_PALETTE = (
    *("#3b78b5", "#e08a3c", "#2f9e6e", "#b8507f", "#7a63b0", "#b0a02c"),
    *("#1f8a9e", "#c65b4a", "#7f9b4b", "#5d6b9e", "#a5765a", "#6aa8a0"),
)
_COLD, _HOT = (0xF4, 0xF1, 0xEA), (0xC4, 0x3A, 0x2B)


def of_precision(precision: str) -> str:
    """Return the colour of a type that layers compute in, as TensorRT spells it; grey where it is not known."""
    return _PRECISIONS.get(precision, NEUTRAL)


def precision_word(precision: str) -> str:
    """Return a type as people call it: ``FP16`` for ``Half``."""
    return type_word(precision) or UNKNOWN


def of_names(names: Iterable[str]) -> dict[str, str]:
    """Return a colour for each name, the same for the same names in any order; twelve names stay apart."""
    known = sorted({name for name in names if name and name != UNKNOWN})
    return {name: _PALETTE[number % len(_PALETTE)] for number, name in enumerate(known)}


def of_share(share: float, most: float) -> str:
    """Return a colour from pale to red for a share of the time; ``most`` is the largest share of all."""
    part = (share / most) ** 0.5 if most > 0 else 0.0
    mixed = (round(cold + (hot - cold) * part) for cold, hot in zip(_COLD, _HOT, strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def tint(colour: str, part: float = 0.45) -> str:
    """Return a colour mixed with white, so that dark text on it can be read; ``part`` is how much of it stays."""
    values = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 - (255 - value) * part):02x}" for value in values)
