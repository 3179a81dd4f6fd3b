"""The conditions of a pinning: which offered tactics a layer may have."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.errors import UsageError
from trtforensics.model.data_types import Accumulator
from trtforensics.model.timings import tactic_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trtforensics.pin.slots import Algorithm, PinOffer, PinSlot

ACCUMULATORS = (Accumulator.FP32,)
"""The types of sums that a pinning can ask for; a wish for less precision makes no sense."""

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")
_GOOD = "Write pin:CONDITION[,CONDITION…], such as pin:accumulate=fp32,within=10%"


@dataclass(frozen=True, slots=True)
class PinConditions:
    """What a tactic must be; a layer that no offer satisfies stays as it won.

    ``layers`` limits the conditions to layers whose name it matches anywhere. ``same_as`` is what another build chose
    for each slot (see :attr:`trtforensics.pin.slots.PinSlot.identity`). ``layer_bound`` and ``whole_bound`` are shares
    of the time of what won, by layer and in all. ``deterministic`` is a wish: it decides among offers that satisfy.
    """

    accumulate: Accumulator | None = None
    no_split_k: bool = False
    refused: tuple[str, ...] = ()
    same_as: Mapping[str, Algorithm] | None = None
    deterministic: bool = False
    layers: re.Pattern[str] | None = None
    layer_bound: float | None = None
    whole_bound: float | None = None

    @property
    def asks(self) -> bool:
        """Whether there is anything that a tactic must be, or should."""
        return bool(
            self.accumulate or self.no_split_k or self.refused or self.same_as is not None or self.deterministic
        )

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
            if has not in {self.accumulate.type, *_EXACT}:
                return f"it accumulates in {has}"
        if self.no_split_k and offer.facts.split_k:
            return "it splits K"
        for pattern in self.refused:
            if _matches(pattern, offer.kernel) or _matches(pattern, tactic_text(offer.tactic) or ""):
                return f"{pattern} is refused"
        if self.same_as is not None and self.same_as.get(slot.identity) != offer.algorithm:
            return "the other build chose another tactic" if slot.identity in self.same_as else _ABSENT
        return ""


_EXACT = frozenset({"Int32"})
"""Sums of integers lose nothing, whatever a floating-point sum was asked to be."""

_ABSENT = "the other build does not show it"


def _matches(pattern: str, text: str) -> bool:
    """Whether a pattern is a text, ``*`` being any text; every other character, brackets too, is itself."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def is_product(slot: PinSlot) -> bool:
    """Whether a slot sums products: the kernel name of an offer states the type of the sum."""
    return any(offer.facts.accumulator is not None for offer in slot.offers)


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
class PinRequest:
    """Conditions as a user wrote them, before logs are read: ``same_as`` is the path of one."""

    accumulate: Accumulator | None = None
    no_split_k: bool = False
    refused: tuple[str, ...] = ()
    same_as: str | None = None
    deterministic: bool = False
    layers: str | None = None
    within: str | None = None

    def conditions(self, chosen: Mapping[str, Algorithm] | None) -> PinConditions:
        """Return the conditions; ``chosen`` is what the build of ``same_as`` chose for each slot.

        Raises:
            UsageError: a bound or an expression cannot be read.
        """
        layer, whole = bounds_of(self.within) if self.within is not None else (None, None)
        return PinConditions(
            self.accumulate,
            self.no_split_k,
            self.refused,
            chosen,
            self.deterministic,
            None if self.layers is None else layers_of(self.layers),
            layer,
            whole,
        )


def is_request(text: str) -> bool:
    """Whether an argument is a request instead of a path."""
    return text.startswith("pin:")


def request_of(text: str) -> PinRequest:
    """Read ``pin:accumulate=fp32,within=10%``.

    Conditions: ``accumulate=fp32``, ``no-splitk``, ``not=KERNEL``, ``same-as=LOG``, ``prefer=deterministic``,
    ``layers=EXPR``, ``within=10%``. A value runs to the next comma.

    Raises:
        UsageError: a condition is unknown, is there twice, or has a value that it cannot have.
    """
    given: dict[str, list[str]] = {}
    for part in text.removeprefix("pin:").split(","):
        name, _, value = part.partition("=")
        if name not in _CONDITIONS or bool(value) is (name == "no-splitk"):
            raise UsageError(text, f"{part!r} is no condition", _GOOD)
        given.setdefault(name, []).append(value)
    twice = [name for name, values in given.items() if len(values) > 1 and name != "not"]
    if twice:
        raise UsageError(text, f"{twice[0]} is there twice", _GOOD)
    accumulate, prefer = (_one(given.get(name, ())) for name in ("accumulate", "prefer"))
    if prefer not in {None, "deterministic"} or accumulate not in {None, *ACCUMULATORS}:
        raise UsageError(text, "has a value that the condition cannot have", _GOOD)
    return PinRequest(
        None if accumulate is None else Accumulator(accumulate),
        no_split_k="no-splitk" in given,
        refused=tuple(given.get("not", ())),
        same_as=_one(given.get("same-as", ())),
        deterministic=prefer is not None,
        layers=_one(given.get("layers", ())),
        within=_one(given.get("within", ())),
    )


_CONDITIONS = frozenset({"accumulate", "no-splitk", "not", "same-as", "prefer", "layers", "within"})


def _one(values: Iterable[str]) -> str | None:
    return next(iter(values), None)
