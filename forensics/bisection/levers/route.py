"""The lever over build routes (TensorRT 11.1 and later): which knobs of the compiler break a build, or repair it.

Items are knobs: with a good and a bad route, those that differ. With a bad route only, they are all knobs that can have
another value, which is then their good side; the answer is the fewest knobs to change.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trtforensics.bisection.levers.recipe import Recipe, RecipeLever
from trtforensics.bisection.search import Item
from trtforensics.bisection.session.lever import DescribedItem
from trtforensics.console.output import write_text
from trtforensics.errors import SourceError, UsageError

_TOKEN = re.compile(r"-([^\s=]+)=(\S+)")
_ALLOWED = re.compile(r"=\[([^\]]*)\]")


@dataclass(frozen=True, slots=True)
class Knob:
    """A knob by its name without the dash; ``values`` are those that it can have, where TensorRT lists them."""

    name: str
    values: tuple[str, ...]
    default: str


def read_knobs(text: str) -> dict[str, Knob]:
    """Read ``all_build_routes``: ``tuner_options`` of ``option``, ``allowed_values`` (``-x=[on|off]``, or a list) and
    ``default_value`` (``default`` in trtexec's database).

    Raises:
        SourceError: it is not such a document.
    """  # noqa: D205 - the document's shape is one sentence
    try:
        options = json.loads(text)["tuner_options"]
        knobs = [_knob(option) for option in options]
    except (ValueError, KeyError, TypeError) as error:
        raise SourceError("all_build_routes", f"is not JSON as TensorRT 11.1 writes it ({error!r})") from error
    return {knob.name: knob for knob in knobs}


def _knob(option: Mapping[str, object]) -> Knob:
    allowed = option["allowed_values"]
    if isinstance(allowed, list):
        values = [str(value) for value in allowed]
    else:
        listed = _ALLOWED.search(str(allowed))
        values = listed[1].split("|") if listed else []
    default = option["default_value"] if "default_value" in option else option["default"]
    return Knob(str(option["option"]).lstrip("-"), tuple(values), str(default))


def read_route(text: str, knobs: Mapping[str, Knob]) -> dict[str, str]:
    """Read a route, tokens ``-name=value``; a UsageError where one is none or this version does not know it."""
    route = {}
    for token in text.split():
        parts = _TOKEN.fullmatch(token)
        if parts is None:
            raise UsageError("--good, --bad", f"{token!r} is no -name=value", "Write routes as in -a=on -b=off")
        name, value = parts[1], parts[2]
        if name not in knobs:
            raise UsageError("--good, --bad", f"TensorRT has no knob {name}", f"It has {', '.join(knobs)}")
        if knobs[name].values and value not in knobs[name].values:
            known = ", ".join(knobs[name].values)
            raise UsageError("--good, --bad", f"knob {name} has no value {value}", f"It has {known}")
        route[name] = value
    return route


class RouteLever(RecipeLever):
    """Knobs; active ones are as in the bad route."""

    mode = "route"
    placeholder = "route"
    file = "route.txt"

    def __init__(self, knobs: Mapping[str, Knob], good: str | None, bad: str, recipe: Recipe) -> None:
        # without a good route, every knob of two values or more may be changed
        super().__init__(recipe)
        self._recipe: Recipe = recipe
        self.wants_fewest = good is None
        defaults = {name: knob.default for name, knob in knobs.items()}
        self._bad = {**defaults, **read_route(bad, knobs)}
        self._good = {**defaults, **read_route(good, knobs)} if good is not None else self._changed(knobs)
        self._defaults = defaults
        self._names = tuple(name for name in knobs if self._good[name] != self._bad[name])
        if len(self._names) < 1 + self.wants_fewest:
            raise UsageError("--good, --bad", "differ in no knob", "Give two routes")
        self.items = tuple(Item(name) for name in self._names)

    def _changed(self, knobs: Mapping[str, Knob]) -> dict[str, str]:
        other = {name: [v for v in knob.values if v != self._bad[name]] for name, knob in knobs.items()}
        return {name: values[0] if values else self._bad[name] for name, values in other.items()}

    def content(self) -> object:
        """Return both routes, and what builds."""
        return {"good": self._good, "bad": self._bad, "fewest": self.wants_fewest, "recipe": self._recipe.content()}

    def describe(self, index: int) -> DescribedItem:
        """Return a knob and its values."""
        name = self._names[index]
        return DescribedItem(name, sides={"good": {"value": self._good[name]}, "bad": {"value": self._bad[name]}})

    def _text(self, active: frozenset[int]) -> str:
        return f"{self._route(active)}\n"

    def _job(self, active: frozenset[int], path: Path) -> Mapping[str, object]:  # noqa: ARG002 - the route is enough
        return {"route": self._route(active)}

    def fix(self, culprits: Sequence[frozenset[int]], folder: Path) -> Sequence[str]:
        """Write the route that is good."""
        everything = frozenset(range(len(self.items)))
        sets = culprits[:1] if self.wants_fewest else culprits
        write_text(folder / self.file, self._text(everything.difference(*sets)))
        return (f"{self.file}: the route, for `trtexec --setBuildRoute` or `IBuilderConfig.build_route`",)

    def _route(self, active: frozenset[int]) -> str:
        """Return a route as text, without knobs that have their default value."""
        taken = {self._names[index] for index in active}
        values = {name: (self._bad if name in taken else self._good)[name] for name in self._names}
        same = {name: value for name, value in self._bad.items() if name not in values}
        route = {**same, **values}
        return " ".join(f"-{name}={value}" for name, value in route.items() if value != self._defaults[name])
