"""Numbers in text, many at once: words of eight bytes instead of a Python call each.

Every function takes byte positions in one buffer and returns values and which of them are certain.
What is not certain (a sign, an exponent, ``inf``, too many digits) is for the regex and ``float()``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Bools = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]
    Positions = npt.NDArray[np.int64]
    Words = npt.NDArray[np.uint64]

WORD = 8
PADDING = b"\0" * 256
"""What must follow the text, so that a literal can be compared anywhere in it."""


def _repeat(byte: int) -> np.uint64:
    return np.uint64(int.from_bytes(bytes([byte]) * WORD, "little"))


_ZEROS = _repeat(ord("0"))
_HIGH_NIBBLES = _repeat(0xF0)
_LOW_NIBBLES = _repeat(0x0F)
_SIXES = _repeat(0x06)
_DOTS = _repeat(ord("."))
_ONES = _repeat(0x01)
_TOPS = _repeat(0x80)
_EIGHT = np.uint64(8)
_ALL_BITS = 0xFFFF_FFFF_FFFF_FFFF
_ALL = np.uint64(_ALL_BITS)
_POWERS = 10.0 ** np.arange(9)
_INTEGER_POWERS = 10 ** np.arange(9, dtype=np.uint64)
_MAX_DIGITS = 8
_HEX_DIGITS = 16
_LAST_BYTES = np.array(
    [[_ALL_BITS & ~((1 << 8 * min(max(16 - size - 8 * word, 0), 8)) - 1) for word in range(2)] for size in range(17)],
    np.uint64,
)
"""By how many of two words' last bytes are meant: their bits."""


def words_of(text: bytes) -> Words:
    """View a padded text as the eight-byte word that begins at each of its bytes."""
    return np.ndarray((len(text) - WORD + 1,), "<u8", buffer=text, strides=(1,))


def blocks(text: bytes, at: Positions, size: int) -> Words:
    """Return ``size`` bytes of a padded text from each of these positions on, as a row of words.

    ``size`` is a multiple of eight. numpy copies a hundred bytes from an odd address as fast as eight.
    """
    view = np.ndarray((len(text) - size + 1,), f"V{size}", buffer=text, strides=(1,))
    return view[at].view(np.uint64).reshape(-1, size // WORD)


def _digits(words: Words, ends: Positions, lengths: Positions) -> tuple[Words, Bools]:
    """Read up to eight digits that end at ``ends``; a length of 0 gives 0."""
    length = np.clip(lengths, 0, _MAX_DIGITS)
    shift = (_EIGHT * (_EIGHT - length.astype(np.uint64))).astype(np.uint64)
    keep = np.where(length == 0, np.uint64(0), _ALL << np.minimum(shift, np.uint64(63)))
    word = (words[np.maximum(ends - WORD, 0)] & keep) | (_ZEROS & ~keep)
    certain = ((word & _HIGH_NIBBLES) == _ZEROS) & (((word + _SIXES) & _HIGH_NIBBLES) == _ZEROS)
    value = (word & _LOW_NIBBLES) * np.uint64(2561) >> _EIGHT
    value = (value & np.uint64(0x00FF_00FF_00FF_00FF)) * np.uint64(6_553_601) >> np.uint64(16)
    value = (value & np.uint64(0x0000_FFFF_0000_FFFF)) * np.uint64(42_949_672_960_001) >> np.uint64(32)
    return value, certain & (lengths >= 0) & (lengths <= _MAX_DIGITS) & (ends >= WORD)


def decimals(words: Words, starts: Positions, ends: Positions) -> tuple[Floats, Bools]:
    """Read ``12``, ``0.0129196``: at most eight digits on either side of the point, exactly what ``float()`` gives."""
    head = words[starts] ^ _DOTS
    found = (head - _ONES) & ~head & _TOPS
    before = np.bitwise_count((found & (~found + np.uint64(1))) - np.uint64(1)).astype(np.int64) >> 3
    length = ends - starts
    has_dot = (found != 0) & (before < length)
    whole = np.where(has_dot, before, length)
    fraction = np.where(has_dot, length - before - 1, 0)
    high, high_certain = _digits(words, starts + whole, whole)
    low, low_certain = _digits(words, ends, fraction)
    places = np.clip(fraction, 0, _MAX_DIGITS)
    mantissa = high * _INTEGER_POWERS[places] + low
    certain = high_certain & low_certain & (whole > 0) & (mantissa < np.uint64(1 << 53))
    return mantissa.astype(np.float64) / _POWERS[places], certain


def integers(words: Words, starts: Positions, ends: Positions) -> tuple[npt.NDArray[np.int64], Bools]:
    """Read one to eight digits."""
    values, certain = _digits(words, ends, ends - starts)
    return values.astype(np.int64), certain & (ends > starts)


def hexadecimals(text: bytes, starts: Positions, ends: Positions) -> tuple[Words, Bools]:
    """Read ``0x`` and 1 to 16 lower-case digits, as two words; a digit is right if its nibble would be printed so."""
    length = ends - starts - 2
    digits = blocks(text, np.maximum(ends - _HEX_DIGITS, 0), _HEX_DIGITS)
    if not (length == _HEX_DIGITS).all():
        own = _LAST_BYTES[np.clip(length, 0, _HEX_DIGITS)]
        digits = (digits & own) | (_ZEROS & ~own)
    nibbles = (digits & _LOW_NIBBLES) + ((digits >> np.uint64(6)) & _ONES) * np.uint64(9)
    letters = ((nibbles + _SIXES) >> np.uint64(4)) & _ONES
    right = nibbles + _ZEROS + letters * np.uint64(ord("a") - ord("0") - 10) == digits
    right &= (nibbles & _HIGH_NIBBLES) == 0  # "g" would be printed for a nibble of 16
    values = ((nibbles << np.uint64(4)) | (nibbles >> _EIGHT)) & np.uint64(0x00FF_00FF_00FF_00FF)
    values = ((values << _EIGHT) | (values >> np.uint64(16))) & np.uint64(0x0000_FFFF_0000_FFFF)
    values = ((values << np.uint64(16)) | (values >> np.uint64(32))) & np.uint64(0xFFFF_FFFF)
    certain = right[:, 0] & right[:, 1] & (length >= 1) & (length <= _HEX_DIGITS) & (ends >= _HEX_DIGITS)
    opening = np.frombuffer(text, np.uint8)
    certain &= (opening[starts] == ord("0")) & (opening[starts + 1] == ord("x"))
    return (values[:, 0] << np.uint64(32)) | values[:, 1], certain
