"""Damage as it happens to logs: lines cut, spliced, doubled, swapped, interleaved, bytes put in or lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    Lines = list[bytes]
    Mutation = Callable[[Lines, random.Random], None]

_BYTES = (
    *(bytes([n]) for n in range(256)),
    *(b"\x1b[31m", b"\r\n", b"\r", b"\x1e", b"\x1f", b"\xff\xfe", b"\xef\xbb\xbf", "é".encode(), "␛".encode("utf-16")),
    *(
        b" -> ",
        b", ",
        b"]",
        b"{",
        b"[",
        b"(",
        b'"',
        b": ",
        b"0x",
        b"-",
        b"1e999",
        b"nan",
        b"9" * 40,
        b"[V] ",
        b"[TRT] ",
    ),
    *(b" + ", b"...", b"PWN(", b"{ForeignNode[", b" || ", b"&&&& ", b"Tactic: ", b" Time: ", b"\x00" * 9, b"x" * 9000),
)


def damaged(lines: Sequence[bytes], other: Sequence[bytes], pick: random.Random) -> bytes:
    """Return a stretch of a log with one to a dozen faults; ``other`` are lines to splice in."""
    size = pick.choice((1, 5, 40, 200, 600))
    begin = pick.randrange(max(len(lines) - size, 1))
    text = list(lines[begin : begin + size])
    for _ in range(pick.randint(1, 12)):
        if pick.random() < _SPLICES:
            at, from_ = pick.randrange(len(text) + 1), pick.randrange(len(other))
            text[at:at] = other[from_ : from_ + pick.randint(1, 30)]
        elif text:
            pick.choice(_MUTATIONS)(text, pick)
    whole = b"\n".join(text) + pick.choice((b"\n", b"", b"\r\n"))
    return whole[: pick.randrange(len(whole) + 1)] if pick.random() < _CUTS else whole


_SPLICES = 0.2
_CUTS = 0.1


def _cut(text: Lines, pick: random.Random) -> None:
    at = pick.randrange(len(text))
    low, high = sorted((pick.randint(0, len(text[at])), pick.randint(0, len(text[at]))))
    text[at] = pick.choice((text[at][:low], text[at][low:], text[at][low:high], text[at][:low] + text[at][high:]))


def _insert(text: Lines, pick: random.Random) -> None:
    at = pick.randrange(len(text))
    place = pick.randint(0, len(text[at]))
    text[at] = text[at][:place] + pick.choice(_BYTES) * pick.choice((1, 1, 1, 2, 50)) + text[at][place:]


def _overwrite(text: Lines, pick: random.Random) -> None:
    at = pick.randrange(len(text))
    place = pick.randint(0, len(text[at]))
    with_ = pick.choice(_BYTES)
    text[at] = text[at][:place] + with_ + text[at][place + len(with_) :]


def _join(text: Lines, pick: random.Random) -> None:
    at = pick.randrange(len(text))
    text[at : at + 2] = [b"".join(text[at : at + 2])]


def _graft(text: Lines, pick: random.Random) -> None:
    """The beginning of one line with the end of another, as where two programs write at once."""
    one, two = pick.choice(text), pick.choice(text)
    text[pick.randrange(len(text))] = one[: pick.randint(0, len(one))] + two[pick.randint(0, len(two)) :]


def _double(text: Lines, pick: random.Random) -> None:
    at = pick.randrange(len(text))
    text[at:at] = [text[at]] * pick.choice((1, 1, 2, 100))


def _swap(text: Lines, pick: random.Random) -> None:
    a, b = pick.randrange(len(text)), pick.randrange(len(text))
    text[a], text[b] = text[b], text[a]


def _lose(text: Lines, pick: random.Random) -> None:
    at = pick.randrange(len(text))
    del text[at : at + pick.choice((1, 1, 3, 20))]


def _repeat_part(text: Lines, pick: random.Random) -> None:
    at = pick.randrange(len(text))
    low, high = sorted((pick.randint(0, len(text[at])), pick.randint(0, len(text[at]))))
    text[at] = text[at][:high] + text[at][low:high] * pick.choice((1, 2, 300)) + text[at][high:]


def _redigit(text: Lines, pick: random.Random) -> None:
    at = pick.randrange(len(text))
    digits = [place for place, byte in enumerate(text[at]) if 0x30 <= byte <= 0x39]
    if digits:
        place = pick.choice(digits)
        text[at] = text[at][:place] + pick.choice((b"", b"9", b"00000", b"-", b".", b"e", b"f")) + text[at][place + 1 :]


def _reencode(text: Lines, pick: random.Random) -> None:
    at = pick.randrange(len(text))
    text[at] = pick.choice((text[at] + b"\r", text[at].upper(), b" " + text[at], b"\t" + text[at], text[at][::-1]))


_MUTATIONS: tuple[Mutation, ...] = (
    _cut,
    _insert,
    _overwrite,
    _join,
    _graft,
    _double,
    _swap,
    _lose,
    _repeat_part,
    _redigit,
    _reencode,
)
