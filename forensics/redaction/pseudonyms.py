"""Replaces what the vocabulary does not know: words by made-up words, addresses and serial numbers by counted ones.

A text is read in tokens. A word of the vocabulary stays; any other is replaced, the same word by the same made-up one
each time. Digits and punctuation stay, so that names that differ stay different, except where digits are an identity:
where they alternate with letters as in a hash or a key, in long numbers that no unit and no word near them calls a
quantity, and where programs name users, hosts and devices (:mod:`trtforensics.redaction.identities`).
"""

import itertools
import re
from collections.abc import Callable, Iterator

from trtforensics.redaction.identities import identities
from trtforensics.redaction.vocabulary import LETTERS, WORD

_ESCAPED = r"(?<!\\)\\u(?!00[0-9abAB]|20[0-7]|2[1-9aAbB]|30[0-2]|[fF]{2}0|[fF][eE][0fF])[0-9a-fA-F]{4}"
"""A letter that is not ASCII, as JSON writes it."""
_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_BYTE = r"[0-9a-fA-F]{2}"
_TOKEN = re.compile(
    r"(?=[\w:\\])(?:(?P<colour>(?<=\x1b\[)[0-9;]*[A-Za-z])"
    r"|(?=[0-9a-fA-F]{0,8}[:.-])(?:"
    r"(?P<serial>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)"
    rf"|(?P<hardware>(?<![\w:-])(?:(?:{_BYTE}:){{5}}|(?:{_BYTE}-){{5}}){_BYTE}(?![\w:-])"
    rf"|(?<![\w.])(?=[\d.]*[a-fA-F])(?:{_BYTE * 2}\.){{2}}{_BYTE * 2}(?![\w.]))"
    rf"|(?P<bus>(?<!\w)(?<!\d:)(?:{_BYTE * 2}){{1,2}}:{_BYTE}:{_BYTE}(?:\.[0-7]\b|(?<=PCI:....:..:..)(?![\w:])))"
    rf"|(?P<address>(?<!\w)(?<!\d\.)(?<![=<>~!]=)(?:{_OCTET}\.){{3}}{_OCTET}(?!\w|\.\d|-\d+\+)"
    rf"|(?<![\d_])(?<![\W_]\d-)(?<![\W_]\d\d-)(?<![\W_]\d\d\d-)(?:{_OCTET}-){{3}}{_OCTET}(?![\w+]|-\d))"
    rf"|(?P<address6>(?<![\w:])::[fF]{{4}}:(?:{_OCTET}\.){{3}}{_OCTET}(?![\w.])"
    r"|(?<![\w:])(?:(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|(?:[0-9a-fA-F]{4}:){3}[0-9a-fA-F]{4}"
    r"|(?:[0-9a-fA-F]{1,4}:){1,6}(?::[0-9a-fA-F]{1,4}){1,6}|::(?:[0-9a-fA-F]{1,4}:){0,6}[0-9a-fA-F]{1,4})(?![\w:])))"
    r"|(?P<number>(?<![^\W_])0x[0-9a-fA-F]{1,32}(?![^\W_]))"
    rf"|(?P<name>(?:[\w{LETTERS}]+|{_ESCAPED})(?:{_ESCAPED}[\w{LETTERS}]*)*))"
)
"""What a text is read in. Every token begins with a letter, a digit, an underscore, a colon or a backslash; to ask for
that first makes the others cheap.

A hexadecimal number of at most 32 digits is a tactic or a key of a timing cache, whose letters are no words.
"""

_KEPT = {"number", "colour"}
_BEFORE_VERSION = re.compile(
    r"(?i:(?:lib)?(?:cudnn|cu(?:blas|fft|rand|solver|sparse|file|pti|tensor)|np[pt]|nvjpeg|nvjitlink|nvrtc|nvinfer|nccl"
    r"|tensorrt|cuda|driver|version)(?:[-_]?(?:cu|dev|lt|bindings|libs|lean|dispatch|runtime|plugin|bin|toolkit)|\d)*)"
    r"[ \t:=v_(-]*\Z|\b(?:so\.|v[ :=])\Z"
)
"""What stands before a version of four numbers, which looks like an address."""
_COUNTED: dict[str, Callable[[int, str], str]] = {
    "serial": lambda n, _: f"00000000-0000-0000-0000-{n:012x}",
    "hardware": lambda n, text: _spread(f"{n:012x}", text),
    "bus": lambda n, text: f"{0:0{text.index(':')}}:{n:02x}:00{text[text.index(':') + 6 :]}",
    "address": lambda n, text: ("-" if "-" in text else ".").join(str(n >> shift & 255) for shift in (24, 16, 8, 0)),
    "address6": lambda n, _: f"2001:db8::{n:x}",
}
"""What stands for the nth address or device: IPv6's are of RFC 3849."""
_NOWHERE = frozenset({"127.0.0.1", "0.0.0.0", "::1"})  # noqa: S104 - compared, none is bound
_NOBODY = frozenset(
    ("root", "localhost", "none", "null", "unknown", "true", "false", "com", "org", "net", "io", "internal", "local")
)
"""What stands in the place of a name and names nobody."""

_RUN = re.compile(rf"(?:[0-9{LETTERS}]+|{_ESCAPED})+")
_PART = re.compile(rf"[0-9]+(?:x[0-9]+)*|[{LETTERS}]+")
_KERNEL = re.compile(
    r"(?:sm_?\d|s?cudnn|[hi]cudnn|xmma|cutlass|trt|maxwell|pascal|volta|turing|ampere|ada|hopper|blackwell|nvjet)\w*"
)
"""The opening of a kernel's name, in which letters and digits alternate: ``tilesize128x128x32``, ``t1r3s3``."""
_GENERATED = re.compile(r"__my(?:l|ln|e|elin)_\w+")
"""The name of a kernel that Myelin makes: it holds the first letters of operations, and nothing of the user's."""
_MOST_PARTS = 3
"""More parts of letters and digits than a name with a number or a size has (``conv2d``, ``bias1x256``): a key."""
_HASH = re.compile(r"[0-9a-f]{7,}")

_ID = re.compile(r"[0-9]{7,}")
"""Digits of an id where letters stand beside them (``u1234567``), or where an identity is learnt."""
_LONG = 9
"""Digits of a number that is an id, where nothing says that it is a quantity."""
_ROUND = 1 << 16
"""What sizes in bytes are multiples of, and ids are not."""
_LAST = 16
"""Digits that decide it: ten to this power is such a multiple itself."""
_UNIT = r"(?:[kKMGTP]i?)?(?:[Bb]ytes?|[Bb]|Hz|FLOPS?|[mun\u00b5\u03bc]?s|secs?|seconds|elements|enables)"
_AMOUNT = re.compile(rf"[0-9]+{_UNIT}")
_BEFORE_QUANTITY = re.compile(
    r"(?i:\d\.|[\s\[(:=,]-|\b(?:Float|Half|BFloat16|Int\d+|Bool|U?Int\w+|FP\w+)\([\d:,x* ]*"
    r"|(?:tactic|chose|implementation|size|bytes?|alloc|memory|workspace|request|available|limit|in.?use|total|blocks?"
    r"|bin|region|free|used|capacity|budget|weights?|elements?|count|flops?|macs|time|frequency|clock|offset|next"
    r"|clamping)\w*\W{0,30}(?:(?:\d\w*|is|of|to|at|index)\W{1,4}){0,3})\Z"
)
_AFTER_QUANTITY = re.compile(rf"\.\d| ?(?:{_UNIT}|available)\b")
_REACH = 80
"""Characters before a token that may say what it is."""
_WINDOWS_PATH = re.compile(r"(?:\A|[^A-Za-z])[A-Za-z]:\\[^\s\"']*\Z")
_CONSONANTS, _VOWELS = "bdfghjklmnprstvz", "aeiou"


class Pseudonyms:
    """Made-up words for what is not in a vocabulary, in the same case; a word of the vocabulary is never made up.

    ``replacements`` are the words that were replaced so far, each with its made-up word.
    """

    def __init__(self, kept: frozenset[str]) -> None:
        self._kept = kept
        self._made = _made_up(kept)
        self._names: dict[str, str] = {}
        self._learnt: set[str] = set()
        self._counts = {kind: itertools.count(1) for kind in _COUNTED}
        self._places: dict[str, int] = {}
        self.replacements: dict[str, str] = {}

    def learn(self, text: str) -> None:
        """Note what names somebody in a text, so that it goes wherever it stands in the texts that are rewritten."""
        for first, end in identities(text):
            for run in _RUN.findall(text[first:end]):
                if not run.isalpha() and (_ID.search(run) or not run.isdecimal()) and run.lower() not in _NOBODY:
                    self._learnt.add(run)

    def rewrite(self, text: str) -> str:
        """Return a text with its tokens replaced."""
        written: list[str] = []
        begin = 0
        for first, end in identities(text):
            written += _TOKEN.sub(self._replacement, text[begin:first]), _TOKEN.sub(self._identity, text[first:end])
            begin = end
        return "".join((*written, _TOKEN.sub(self._replacement, text[begin:])))

    def _replacement(self, match: re.Match[str]) -> str:
        kind, text = match.lastgroup or "", match[0]
        if kind in _KEPT or (kind == "address" and _BEFORE_VERSION.search(_before(match))):
            return text
        if kind in _COUNTED:
            return self._counted(kind, text)
        if len(text) >= _LONG and text.isdecimal() and text not in self._learnt:
            return text if _is_quantity(match) else self._number(text)
        start = match.start()
        if start and match.string[start - 1] == "\\" and len(text) > 1 and _is_escape(match):
            return text[0] + self._name(text[1:])
        return self._name(text)

    def _identity(self, match: re.Match[str]) -> str:
        """Return what stands for a token of a name or number of somebody."""
        kind, text = match.lastgroup or "", match[0]
        if kind in _COUNTED:
            return self._counted(kind, text)
        return _RUN.sub(lambda run: run[0] if run[0].lower() in _NOBODY else self._whole(run[0]), text)

    def _counted(self, kind: str, text: str) -> str:
        """Return the address or serial number that stands for one, however it is punctuated."""
        if text in _NOWHERE:
            return text
        key = kind + ".".join(part.lstrip("0") for part in re.split("[.:-]", text.lower())).rstrip(".")
        if key not in self._places:
            self._places[key] = next(self._counts[kind])
        return _COUNTED[kind](self._places[key], text)

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
        if run in self._learnt:
            return self._whole(run)
        if is_kernel or _AMOUNT.fullmatch(run):
            return WORD.sub(lambda word: self._word(word[0]), run)
        if run.isdecimal():
            return self._number(run) if len(run) >= _LONG else run
        if "\\" in run or len(_PART.findall(run)) > _MOST_PARTS:
            return self._hash(run) if _HASH.fullmatch(run) else self._word(run)
        words = WORD.sub(lambda word: self._word(word[0]), run)
        return _ID.sub(lambda digits: self._number(digits[0]), words)

    def _number(self, run: str) -> str:
        """Return a number of as many digits, without a zero in front, which JSON refuses."""
        number = str(len(self.replacements) + 1)
        return self.replacements.setdefault(
            run, number if len(number) >= len(run) else "9" + number.zfill(len(run) - 1)
        )

    def _hash(self, run: str) -> str:
        """Return a number of as many digits: what a line is may depend on a hexadecimal number in it."""
        return self.replacements.setdefault(run, f"{len(self.replacements) + 1:0{len(run)}x}")

    def _word(self, word: str) -> str:
        return word if word in self._kept or not any(map(str.isalnum, word)) else self._whole(word)

    def _whole(self, run: str) -> str:
        """Return what stands for a run, whether the vocabulary knows it or not."""
        if run.isdecimal():
            return self._number(run)
        if run not in self.replacements:
            made = next(self._made)
            self.replacements[run] = made.upper() if run.isupper() else made.title() if run[0].isupper() else made
        return self.replacements[run]


def _spread(digits: str, text: str) -> str:
    """Return hexadecimal digits with the punctuation of a text that holds as many."""
    left = iter(digits)
    return re.sub("[0-9a-fA-F]", lambda _: next(left), text)


def _before(match: re.Match[str]) -> str:
    """Return what stands closely before a token."""
    return match.string[max(0, match.start() - _REACH) : match.start()]


def _is_quantity(match: re.Match[str]) -> bool:
    """Whether a number is a round size, has a unit, fraction or sign, or follows a word that says what it counts."""
    if int(match[0][-_LAST:]) % _ROUND == 0 or _AFTER_QUANTITY.match(match.string, match.end()):
        return True
    return _BEFORE_QUANTITY.search(_before(match)) is not None


def _is_escape(match: re.Match[str]) -> bool:
    r"""Whether the first letter of a token belongs to a backslash before it, as in the JSON text ``"one\ntwo"``."""
    before = _before(match)
    backslashes = len(before) - len(before.rstrip("\\"))
    return match[0][0] in "nrtbf" and backslashes % 2 == 1 and not _WINDOWS_PATH.search(before)


def _made_up(kept: frozenset[str]) -> Iterator[str]:
    taken = {word.lower() for word in kept}
    syllables = [c + v for c in _CONSONANTS for v in _VOWELS]
    for size in itertools.count(2):
        for parts in itertools.product(syllables, repeat=size):
            word = "x" + "".join(parts)
            if word not in taken:
                yield word
