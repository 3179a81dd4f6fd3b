"""What a failure's words hold that is no part of it: names of the model, paths of the probe, numbers, temporary names.

A smaller model has other names, sizes and indexes. Of numbers only codes and exit statuses count: whatever else is a
number may be a shape, an index, a measure, an address or a time.
"""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from trtforensics.bisection.runner.probe import ProbeSpec

_TOKEN = re.compile(r"[^\s'\"()\[\],;<>{}]+")
_QUOTED = re.compile(r"(?<=')[^'\n]+(?=')|(?<=\")[^\"\n]+(?=\")|(?<=`)[^`'\n]+(?=[`'])")
"""A name in quotes, which may hold what else ends a token."""
_NUMBER = re.compile(
    r"(?P<code>\b(?:code|status|errno|signal|os error|(?:cuda|cudnn|cublas)(?: error)?)\b[ :=#(\[]{1,2}-?\d+\b"
    r"(?!\.\d|%))"
    r"|0x[0-9a-f]+|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}\b"
    r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:(?:\d+ )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2})?\d+"
    r"|\d+(?:\.\d+)?(?:e[-+]?\d+)?",
    re.IGNORECASE,
)
_TEMPORARY = re.compile(r"(?<![\w.])(?P<root>/tmp|/var/tmp|/dev/shm)/[^\s/'\":,;()\[\]]+|\btmp[a-z0-9_]{8}\b")


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a model: of its nodes with their operators, of tensors with the nodes that make them, of others.

    ``outputs`` has the original's output for each output of the probe's model, "" for the result of a cut; where none
    of the outputs that the original's failure names (``expected``) is left, any output stands for them. ``paths`` has
    what the probe's files are called.
    """

    operators: Mapping[str, str]
    makers: Mapping[str, str]
    others: frozenset[str] = frozenset()
    outputs: Mapping[str, str] = field(default_factory=dict)
    expected: tuple[str, ...] = ()
    paths: Mapping[str, str] = field(default_factory=dict)

    def among(self, nodes: Collection[str]) -> Names:
        """Return the names in a model of some nodes: a tensor that none of them makes belongs to no node."""
        makers = {name: node for name, node in self.makers.items() if node in nodes}
        return replace(self, makers=makers, others=self.others | (self.makers.keys() - makers.keys()))

    def blanked(self, text: str) -> str:
        """Return a text without what varies."""
        if self.paths:
            known = "|".join(map(re.escape, sorted(self.paths, key=len, reverse=True)))
            text = re.sub(rf"(?<![\w.-])(?:{known})(?![\w-])", lambda match: self.paths[match[0]], text)
        text = _TEMPORARY.sub(lambda match: f"{match['root']}/#" if match["root"] else "#", text)
        text = _QUOTED.sub(lambda match: "#" if self._known(match[0]) else match[0], text)
        text = _TOKEN.sub(lambda match: self._blank(match[0]), text)
        return _NUMBER.sub(lambda match: match["code"] or "#", text).strip()

    def nodes_in(self, text: str, besides: Collection[str] = ()) -> Iterator[str]:
        """Yield the nodes that a text names, then those whose results it names; some results say nothing."""
        names = [name for name in self._names_in(text) if name not in besides]
        yield from (name for name in names if name in self.operators)
        yield from (self.makers[name] for name in names if name in self.makers)

    def outputs_in(self, text: str) -> Iterator[str]:
        """Yield the original's outputs for the outputs that a text names."""
        is_left = not self.expected or not set(self.expected).isdisjoint(self.outputs.values())
        for name in self._names_in(text):
            if name in self.outputs:
                yield from (self.outputs[name],) if is_left else self.expected

    def _names_in(self, text: str) -> list[str]:
        return [known for word in (*_QUOTED.findall(text), *_TOKEN.findall(text)) if (known := self._known(word))]

    def _known(self, token: str) -> str:
        """Return the name that a token is, or that stands before its colon or full stop; "" for none."""
        known = (self.operators, self.makers, self.others)
        return next((name for name in (token, token.rstrip(":.")) if any(name in names for names in known)), "")

    def _blank(self, token: str) -> str:
        known = self._known(token)
        return f"#{token[len(known) :]}" if known else token


def paths_of(spec: ProbeSpec) -> dict[str, str]:
    """Return the placeholder for each spelling of a probe's files: absolute, without links, from where it runs."""
    places = {name: value for name, value in spec.values.items() if name != "probe"} | {"dir": spec.folder}
    paths = {tempfile.gettempdir(): "/tmp"}  # noqa: S108 - a word for it
    for name, value in places.items():
        spellings = (value, os.path.realpath(value), os.path.relpath(value, spec.cwd))
        paths |= {path: f"{{{name}}}" for path in spellings if os.sep in path}
    return paths | {Path(spec.folder).name: "{probe}", Path(places["model"]).name: "{model}"}
