"""The lever over timing-cache keys: a probe takes the tactics of some keys from bad, those of all others from good.

Items are the keys that both sides have with different tactics. A key of one side only exists or not depending on the
tactics of other keys: it is pinned as that side has it, and is no item. Builds need TensorRT 10.8 or later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from trtforensics.bisection.levers.recipe import Recipe, TwoSidedLever
from trtforensics.bisection.levers.tactics import without_unknown
from trtforensics.bisection.search import Item
from trtforensics.bisection.session.lever import DescribedItem, Side
from trtforensics.errors import UsageError
from trtforensics.model.engine import TimingCache
from trtforensics.model.log import MyelinOperation
from trtforensics.model.timings import tactic_text
from trtforensics.parsers.notation.kernels import read_kernel
from trtforensics.pin.plan import PinForm, keys_of_plan, plans_of
from trtforensics.render.cache import of_log, to_json

STORE = "base.cache"
"""The binary cache with the network's keys, in the artifacts directory, where neither side is a binary cache."""


class CacheLever(TwoSidedLever):
    """Keys of two timing caches; active ones have bad's tactics. ``bases`` are the sides that are binary caches."""

    mode = "cache"
    placeholder = "cache"
    file = "cache.json"
    bans = ("key", "operation", "tactic")
    banned = "key, operation and tactic"
    hint = " (see `cache apply`)"

    def __init__(self, good: TimingCache, bad: TimingCache, recipe: Recipe | None, bases: Sequence[Path] = ()) -> None:
        self.good, self.bad = good, bad
        super().__init__(recipe)
        self._bases = tuple(bases)
        self._keys_of = tuple({key.key: key for key in side.keys if key.selected is not None} for side in (good, bad))
        ours, theirs = self._keys_of
        self._keys = tuple(k for k in ours if k in theirs and ours[k].selected != theirs[k].selected)
        self.alone = tuple(sorted(ours.keys() - theirs)), tuple(sorted(theirs.keys() - ours))
        if recipe is not None:
            _require_fit(recipe, (good, bad))
        if not self._keys:
            where = f"{good.source.path} and {bad.source.path}"
            raise UsageError(where, "have no key with different tactics", "Give caches of a good and of a bad build")
        self.items = tuple(Item(f"{ours[key].op or theirs[key].op} {key}".strip()) for key in self._keys)

    def _sides(self) -> list[object]:
        return [{key: tactic_text(value.selected) for key, value in side.items()} for side in self._keys_of]

    def describe(self, index: int) -> DescribedItem:
        """Return a key, its operation where a log names it, and each side's tactic."""
        key = self._keys[index]
        good, bad = (_described(side[key]) for side in self._keys_of)
        return DescribedItem(self.items[index].name, {"key": key}, {"good": good, "bad": bad})

    def _job(self, active: frozenset[int], path: Path) -> Mapping[str, object]:
        return {
            "keys": {key.key: (key.selected, key.time_ms or 0.0) for key in self._mixed(active)},
            "optional": [key for keys in self.alone for key in keys],
            "bases": [str(base) for base in self._bases],
            "store": str(path.parent.parent.parent / STORE),
        }

    def _ban(self, index: int) -> tuple[str, ...]:
        key = self._keys_of[1][self._keys[index]]
        return key.key, key.op, tactic_text(key.selected) or ""

    def _text(self, active: frozenset[int]) -> str:
        """Return the mix as an export, which ``trtforensics cache apply`` puts into a binary cache."""
        made_from = f"{self.good.made_from} and {self.bad.made_from}"
        return to_json(TimingCache(self.good.source, made_from, self.good.tensorrt_version, self._mixed(active)))

    def _mixed(self, active: frozenset[int]) -> tuple[MyelinOperation, ...]:
        ours, theirs = self._keys_of
        taken = {key: theirs[key] for key in map(self._keys.__getitem__, active)}
        return tuple(replace(key, candidates=()) for key in {**theirs, **ours, **taken}.values())


def pinned_caches(log: str, request: str, *, max_bytes: int) -> tuple[TimingCache, TimingCache]:
    """Return the good and the bad keys of a log: as a ``pin:…`` request chooses, and as the build chose."""
    good, bad = plans_of(log, request, PinForm.CACHE, max_bytes=max_bytes)
    base = of_log(bad.pinnable.log)
    return keys_of_plan(good, base), keys_of_plan(bad, base)


def _require_fit(recipe: Recipe, sides: Sequence[TimingCache]) -> None:
    """Refuse builds to which the caches cannot apply."""
    # at level 0 TensorRT ignores timing caches (docstring of ``builder_optimization_level``)
    if recipe.level == 0:
        what = "is 0, at which TensorRT ignores timing caches"
        raise UsageError("--optimization-level", what, "Build at level 1 or above")
    installed = recipe.installed.version
    for side in sides:
        made = side.tensorrt_version
        if made is not None and _numbers(made) != _numbers(installed)[: len(_numbers(made))]:
            what = f"was made by TensorRT {made}, and {installed} is installed: keys do not carry over"
            raise UsageError(side.source.path, what, f"Make good and bad with TensorRT {installed}")


def _numbers(version: str) -> list[str]:
    return version.split(".")[:3]


def _described(key: MyelinOperation) -> Side:
    kernel = next((candidate.kernel for candidate in key.candidates if candidate.tactic == key.selected), "")
    known = {"time_ms": key.time_ms, "kernel": kernel, "accumulator": read_kernel(kernel).accumulator}
    return {"tactic": tactic_text(key.selected), **without_unknown(known), "at": str(key.span)}
