"""Mixes two replays: one replay with some layers from another, as a bisection needs many times."""

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from trtforensics.errors import UsageError
from trtforensics.model.replay import Replay, ReplayEntry, ReplayForm
from trtforensics.replay.edges import DataflowNode, Meeting, edges_between, meetings
from trtforensics.replay.writing import document_text, entry_text

_ALIKE = 0.6
_NEWEST_COMMON = (
    ({ReplayForm.F1}, ReplayForm.F1),
    ({ReplayForm.F3}, ReplayForm.F3),
    ({ReplayForm.F1, ReplayForm.F2, ReplayForm.F3}, ReplayForm.F2),
    ({ReplayForm.F4, ReplayForm.F5}, ReplayForm.F5),
)


class Mixer:
    """Writes mixes of two replays. Every entry is rendered once; a mix only joins the texts.

    ``layers`` are all layers: those of good in its order, then those that only bad has. ``differing`` are the layers
    whose entries differ, or that only one replay has. ``form`` is the newest form in which both can be written.
    """

    def __init__(self, good: Replay, bad: Replay) -> None:
        self.form = common_form(good, bad)
        self._sides = [{entry.layer: entry for entry in replay.entries} for replay in (good, bad)]
        self._texts = [{layer: entry_text(each, self.form) for layer, each in side.items()} for side in self._sides]
        of_good, of_bad = self._texts
        self.layers = tuple(dict.fromkeys((*of_good, *of_bad)))
        self.differing = tuple(layer for layer in self.layers if of_good.get(layer) != of_bad.get(layer))

    def text(self, take: Collection[str]) -> str:
        """Write good's replay with the layers of a set ``take`` as bad has them; layers that bad lacks are left out."""
        sides = (self._texts[layer in take].get(layer) for layer in self.layers)
        return document_text(filter(None, sides), self.form)

    def entries(self, take: Collection[str]) -> list[ReplayEntry]:
        """Return the entries of a mix."""
        sides = (self._sides[layer in take].get(layer) for layer in self.layers)
        return [entry for entry in sides if entry is not None]


def check_layers(bad: Replay, take: Collection[str]) -> None:
    """Refuse, by a UsageError that names the most similar one, layers for which bad has no entry."""
    layers = [entry.layer for entry in bad.entries]
    for layer in take:
        if layer not in layers:
            near = get_close_matches(layer, layers, 1, _ALIKE)
            advice = f"Is {near[0]!r} meant?" if near else "`replay show` lists the layers"
            raise UsageError(bad.source.path, f"has no entry of a layer {layer!r}", advice.rstrip("."))


def across_cut(nodes: Sequence[DataflowNode], entries: Iterable[ReplayEntry], take: Collection[str]) -> list[Meeting]:
    """Return the edges of a mix between taken and other layers, with the formats at both ends."""
    by_layer = {entry.layer: entry for entry in entries}
    cut = [edge for edge in edges_between(nodes) if (edge.producer in take) != (edge.consumer in take)]
    return meetings(cut, nodes, by_layer)


def common_form(good: Replay, bad: Replay) -> ReplayForm:
    """Return the newest form in which the entries of both replays can be written; a UsageError where there is none."""
    forms = {replay.form for replay in (good, bad) if replay.form is not None}
    newest = next((form for group, form in _NEWEST_COMMON if forms <= group), None)
    if newest is None or any(replay.form is None and replay.entries for replay in (good, bad)):
        names = " and ".join(f"{replay.source.path} ({replay.form or 'no one form'})" for replay in (good, bad))
        what = "have forms that no replay can hold together"
        raise UsageError(names, what, "Convert them to one form with `replay convert --log`")
    return newest if forms else ReplayForm.F5
