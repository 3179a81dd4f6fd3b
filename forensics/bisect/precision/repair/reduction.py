"""From nodes that repair the model to a minimal set of them.

Units (nodes that change together) are taken away in groups. A group grows while the model still passes and is halved
where it fails; where most units are needed, groups have one unit, and each failure is a part of the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.bisect.precision.repair.model import Nodes, RepairSteps

    Passes = Callable[[Nodes], bool | None]

_STREAK = 2
"""So many groups in a row must go before the next one is larger."""


@dataclass(slots=True)
class Reduction:
    """Takes units away from a set that passes.

    ``passes`` returns the verdict of a probe that was yielded; ``room`` says how many probes can run at once. ``left``
    is about how many probes are to come.
    """

    passes: Passes
    room: Callable[[], int]
    left: int = 0

    def reduced(self, units: Sequence[Nodes], first: int, patience: int | None = None) -> RepairSteps[list[Nodes]]:
        """Return the units that cannot go, in the given order.

        The units likeliest to go come first; ``first`` of them are tried together. After ``patience`` units that
        cannot go the others stay untried.
        """
        kept, place, size, streak, gone = list(units), 0, max(1, first), 0, 0
        while place < len(kept) and place != patience:
            self.left = len(kept) - place
            if size == 1 and not streak:  # most are needed: what comes next is asked for ahead
                ahead = range(place, min(place + self.room(), len(kept)))
                yield [(_joined(kept, each, 1), _without(kept[each])) for each in ahead]
            part = kept[place : place + size]
            keep = _joined(kept, place, size)
            yield [(keep, _without(frozenset().union(*part)))]
            if self.passes(keep):
                del kept[place : place + size]
                gone, streak = gone + len(part), streak + 1
                size *= 2 if streak >= _STREAK else 1
            elif len(part) > 1:
                size, streak = (len(part) + 1) // 2, 0
            else:
                place, streak = place + 1, 0
                size = max(1, gone // (2 * place))
        return kept

    def proven(self, units: Sequence[Nodes]) -> RepairSteps[tuple[list[Nodes], bool]]:
        """Return the units without those that need not be FP32, and whether each one's absence was seen to fail."""
        kept = list(units)
        while True:
            wishes = [(frozenset().union(*kept) - unit, _without(unit)) for unit in kept]
            spare = None
            for start in range(0, len(wishes), self.room()):
                self.left = len(wishes) - start
                batch = wishes[start : start + self.room()]
                yield batch
                spare = next((i for i, (keep, _) in enumerate(batch, start) if self.passes(keep)), None)
                if spare is not None:
                    break
            if spare is None:
                return kept, all(self.passes(keep) is False for keep, _ in wishes)
            del kept[spare]


def _joined(units: Sequence[Nodes], place: int, size: int) -> Nodes:
    return frozenset().union(*units[:place], *units[place + size :])


def _without(unit: Nodes) -> str:
    more = f" and {len(unit) - 1} more" if len(unit) > 1 else ""
    return f"the repair without {min(unit)}{more}"
