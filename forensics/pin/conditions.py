"""The conditions of a pinning: which offered tactics a layer may have."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from trtforensics.console.arguments import option
from trtforensics.errors import UsageError
from trtforensics.model.data_types import Accumulator
from trtforensics.model.timings import tactic_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.pin.pinnable import Algorithm, PinOffer, PinSlot

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")
_GOOD = "Write pin:CONDITION[,CONDITION…], such as pin:accumulate=fp32,within=10%"
_SUMS = (Accumulator.FP32.value,)
"""The types of sums that a pinning can ask for; a wish for less precision makes no sense."""
_WISHES = ("deterministic",)


def bounds_of(text: str) -> tuple[float, float]:
    """Read ``10%`` (a layer and in all) or ``30%,5%`` (a layer, in all) as shares.

    Raises:
        UsageError: it is neither.
    """
    matches = [_PERCENT.fullmatch(part) for part in text.split(",")]
    shares = [float(match[1]) / 100 for match in matches if match]
    if len(shares) != len(matches) or len(shares) > 2:  # noqa: PLR2004 - a layer, and in all
        raise UsageError("--within", f"{text!r} is no bound", "Write a percentage, or two: --within 30%,5%")
    return shares[0], shares[-1]


def layers_of(text: str) -> re.Pattern[str]:
    """Compile the regular expression of ``--layers``.

    Raises:
        UsageError: it is none.
    """
    try:
        return re.compile(text)
    except re.error as error:
        what = f"{text!r} is no regular expression ({error})"
        raise UsageError("--layers", what, "Quote special characters, as in 'conv\\.1'") from error


@dataclass(frozen=True, slots=True)
class PinConditions:
    """What a tactic must be; a layer that no offer satisfies stays as it won.

    ``layers`` limits the conditions to layers whose name it matches anywhere. ``same_as`` is the path of another
    build's log, ``chosen`` what that build chose for each slot by its ``identity``, None as long as it is not read.
    ``within`` are shares of the time of what won, by layer and in all. ``prefer`` is a wish: it decides among offers
    that satisfy.
    """

    accumulate: str | None = option("--accumulate", choices=_SUMS)
    no_split_k: bool = option("--no-splitk", default=False)
    refused: tuple[str, ...] = option("--not", default=())
    same_as: str | None = option("--same-as")
    prefer: str | None = option("--prefer", choices=_WISHES)
    layers: re.Pattern[str] | None = option("--layers", type=layers_of)
    within: tuple[float, float] | None = option("--within", type=bounds_of)
    chosen: Mapping[str, Algorithm] | None = None

    @property
    def asks(self) -> bool:
        """Whether there is anything that a tactic must be, or should."""
        return bool(self.accumulate or self.no_split_k or self.refused or self.chosen is not None or self.prefer)

    def concerns(self, slot: PinSlot) -> bool:
        """Whether the conditions are about a slot."""
        return self.asks and self.names(slot)

    def names(self, slot: PinSlot) -> bool:
        """Whether a slot is among the layers that are named; all are where none is."""
        names = (slot.name, *(slot.key.onnx_nodes if slot.key else ()))
        return self.layers is None or any(map(self.layers.search, names))

    def objection(self, slot: PinSlot, offer: PinOffer) -> str:
        """Say why a slot may not have an offer; "" where it may."""
        if self.accumulate is not None and is_product(slot):
            has = offer.facts.accumulator
            if has is None:
                return "its name does not tell in what it accumulates"
            if has not in {Accumulator(self.accumulate).type, *_EXACT}:
                return f"it accumulates in {has}"
        if self.no_split_k and offer.facts.split_k:
            return "it splits K"
        for pattern in self.refused:
            if _matches(pattern, offer.kernel) or _matches(pattern, tactic_text(offer.tactic) or ""):
                return f"{pattern} is refused"
        if self.chosen is not None and self.chosen.get(slot.identity) != offer.algorithm:
            known = slot.identity in self.chosen
            return "the other build chose another tactic" if known else "the other build does not show it"
        return ""


_EXACT = frozenset({"Int32"})
"""Sums of integers lose nothing, whatever a floating-point sum was asked to be."""


def _matches(pattern: str, text: str) -> bool:
    """Whether a pattern is a text, ``*`` being any text; every other character, brackets too, is itself."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def is_product(slot: PinSlot) -> bool:
    """Whether a slot sums products: the kernel name of an offer states the type of the sum."""
    return any(offer.facts.accumulator is not None for offer in slot.offers)


def is_request(text: str) -> bool:
    """Whether an argument is a request instead of a path."""
    return text.startswith("pin:")


def request_of(text: str) -> PinConditions:
    """Read ``pin:accumulate=fp32,within=10%``.

    Conditions: ``accumulate=fp32``, ``no-splitk``, ``not=KERNEL``, ``same-as=LOG``, ``prefer=deterministic``,
    ``layers=EXPR``, ``within=10%``. A value runs to the next comma; a condition stands there once.

    Raises:
        UsageError: a condition is unknown, is there twice, or has a value that it cannot have.
    """
    options = {each.metadata["flags"][0].removeprefix("--"): each for each in fields(PinConditions) if each.metadata}
    given: dict[str, list[str]] = {}
    for part in text.removeprefix("pin:").split(","):
        name, _, value = part.partition("=")
        if name not in options or bool(value) is (options[name].default is False):
            raise UsageError(text, f"{part!r} is no condition", _GOOD)
        given.setdefault(name, []).append(value)
    conditions: dict[str, Any] = {}
    for name, (value, *more) in given.items():
        field, declared = options[name], options[name].metadata["declared"]
        if more and field.default != ():
            raise UsageError(text, f"{name} is there twice", _GOOD)
        if value not in declared.get("choices", (value,)):
            raise UsageError(text, "has a value that the condition cannot have", _GOOD)
        read = declared.get("type", str)(value)
        conditions[field.name] = (value, *more) if field.default == () else read or True
    return PinConditions(**conditions)
