"""Polygraphy's two selectors: one notes what TensorRT chose, the other makes it choose that again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.emulator.engine.builder import Refused
from tests.emulator.engine.files import Recorded, recorded, signed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.emulator.engine.builder import Decision
    from tests.emulator.engine.net import Algorithm, Layer, Net

NOT_PROVIDED = """Layer: {layer} | Tactic in replay was not provided by TensorRT as a choice for this layer.
Has the network or builder configuration changed since the replay file was generated?
Note: Tactic in replay was:
    {wanted}
Provided choices were:
    {offered}"""

NOT_FOUND = "Layer: {layer} was not found in the tactic replay. Falling back to default tactics."
CHANGED = """Has the network changed since the tactic replay file was generated?
Note: Layers in the tactic replay are:
    {layers}"""


class Remark(NamedTuple):
    """A message of Polygraphy's: at which layer, its letter and its text."""

    layer: str
    letter: str
    text: str


class Selecting:
    """Replays what it is given and records what was chosen, either of which may be nothing."""

    def __init__(self, net: Net, replay: Mapping[str, Recorded], remark: Callable[[Remark], None]) -> None:
        self.chosen: dict[str, Recorded] = {}
        self._net = net
        self._replay = replay
        self._remark = remark
        self._told = False

    def select(self, layer: Layer, offers: Sequence[Algorithm], milliseconds: Sequence[float]) -> Sequence[int]:
        """Return the replay's algorithm alone, all of them for a layer that it does not have."""
        wanted = self._replay.get(layer.name)
        if wanted is None:
            if self._replay:
                self._missing(layer)
            return range(len(milliseconds))
        for index, offer in enumerate(offers):
            alike = signed(offer.tactic) == wanted.tactic
            if alike and wanted.fits(recorded(self._net, layer, offer)):
                return [index]
        choices = "\n    ".join(str(recorded(self._net, layer, offer)) for offer in offers)
        text = NOT_PROVIDED.format(layer=layer.name, wanted=wanted, offered=choices)
        self._remark(Remark(layer.name, "!", text))
        raise Refused(f"Error Code 10: Internal Error (Could not find any implementation for node {layer.name}.)")

    def report(self, decisions: Sequence[Decision]) -> None:
        """Record."""
        for decision in decisions:
            self.chosen[decision.layer.name] = recorded(self._net, decision.layer, decision.algorithm)

    def _missing(self, layer: Layer) -> None:
        self._remark(Remark(layer.name, "W", NOT_FOUND.format(layer=layer.name)))
        if not self._told:
            self._told = True
            self._remark(Remark(layer.name, "W", CHANGED.format(layers=list(self._replay))))
