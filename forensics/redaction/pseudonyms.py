"""Replaces what the vocabulary does not know: words by made-up words, addresses and serial numbers by zeros.

A text is read in tokens. A word of the vocabulary stays; any other is replaced, the same word by the same made-up one
each time. Digits and punctuation stay, so that names that differ stay different, but for letters and digits that
alternate as in a hash or a key: such a run is replaced as a whole.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from trtforensics.redaction.vocabulary import WORD

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    r"(?=[\w:])(?:(?P<version>(?:TensorRT|[Vv]ersion|\bv)[ :=v_-]*\d[\d.]*)"
    r"|(?P<serial>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)"
    r"|(?P<hardware>(?<![\w:])(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}(?![\w:]))"
    r"|(?P<address>(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]|\.\d))"
    r"|(?P<address6>(?<![\w:])(?:(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}"
    r"|(?:[0-9a-fA-F]{1,4}:){1,6}(?::[0-9a-fA-F]{1,4}){1,6}|::(?:[0-9a-fA-F]{1,4}:){0,6}[0-9a-fA-F]{1,4})(?![\w:]))"
    r"|(?P<number>(?<![^\W_])0x[0-9a-fA-F]{1,32}(?![^\W_]))"
    r"|(?P<name>\w+))"
)
"""What a text is read in. A version of four numbers looks like an address, so that it comes first.
Every token begins with a letter, a digit, an underscore or a colon; to ask for that first makes the others cheap.

A hexadecimal number of at most 32 digits is a tactic or a key of a timing cache, whose letters are no words.
"""

_FIXED = {
    "serial": "00000000-0000-0000-0000-000000000000",
    "hardware": "00:00:00:00:00:00",
    "address": "0.0.0.0",  # noqa: S104 - stands for an address, none is bound
    "address6": "::",
}
_KEPT = {"version", "number"}
_RUN = re.compile(r"[^\W_]+")
_PART = re.compile(r"\d+(?:x\d+)*|[^\W\d_]+")
_KERNEL = re.compile(
    r"(?:sm_?\d|s?cudnn|[hi]cudnn|xmma|cutlass|trt|maxwell|pascal|volta|turing|ampere|ada|hopper|blackwell|nvjet)\w*"
)
"""The opening of a kernel's name, in which letters and digits alternate: ``tilesize128x128x32``, ``t1r3s3``."""
_GENERATED = re.compile(r"__my(?:l|ln|e|elin)_\w+")
"""The name of a kernel that Myelin makes: it holds the first letters of operations, and nothing of the user's."""
_MOST_PARTS = 3
"""More parts of letters and digits than a name with a number or a size has (``conv2d``, ``bias1x256``): a key."""
_HASH = re.compile(r"[0-9a-f]{7,}")
_CONSONANTS, _VOWELS = "bdfghjklmnprstvz", "aeiou"


class Pseudonyms:
    """Made-up words for what is not in a vocabulary, in the same case; a word of the vocabulary is never made up.

    ``replacements`` are the words that were replaced so far, each with its made-up word.
    """

    def __init__(self, kept: frozenset[str]) -> None:
        self._kept = kept
        self._made = _made_up(kept)
        self._names: dict[str, str] = {}
        self.replacements: dict[str, str] = {}

    def rewrite(self, text: str) -> str:
        """Return a text with its tokens replaced."""
        return _TOKEN.sub(self._replacement, text)

    def _replacement(self, found: re.Match[str]) -> str:
        kind = found.lastgroup or ""
        if kind in _FIXED:
            return _FIXED[kind]
        return found[0] if kind in _KEPT else self._name(found[0])

    def _name(self, name: str) -> str:
        """Return what stands for a run of letters, digits and underscores."""
        known = self._names.get(name)
        if known is None:
            known = self._names[name] = self._rewritten(name)
        return known

    def _rewritten(self, name: str) -> str:
        if _GENERATED.fullmatch(name):
            return name
        is_kernel = _KERNEL.fullmatch(name) is not None
        return _RUN.sub(lambda run: self._run(run[0], is_kernel=is_kernel), name)

    def _run(self, run: str, *, is_kernel: bool) -> str:
        parts = len(_PART.findall(run))
        if parts > _MOST_PARTS and not is_kernel:
            return self._hash(run) if _HASH.fullmatch(run) else self._word(run)
        return WORD.sub(lambda word: self._word(word[0]), run)

    def _hash(self, run: str) -> str:
        """Return a number of as many digits: what a line is may depend on a hexadecimal number in it."""
        if run not in self.replacements:
            self.replacements[run] = f"{len(self.replacements) + 1:0{len(run)}x}"
        return self.replacements[run]

    def _word(self, word: str) -> str:
        if word in self._kept:
            return word
        if word not in self.replacements:
            made = next(self._made)
            self.replacements[word] = made.upper() if word.isupper() else made.title() if word[0].isupper() else made
        return self.replacements[word]


def _made_up(kept: frozenset[str]) -> Iterator[str]:
    taken = {word.lower() for word in kept}
    syllables = [c + v for c in _CONSONANTS for v in _VOWELS]
    for size in itertools.count(2):
        for parts in itertools.product(syllables, repeat=size):
            word = "x" + "".join(parts)
            if word not in taken:
                yield word
