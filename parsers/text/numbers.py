"""Reads numbers in text, many at once: with words of eight bytes instead of a Python call for each number.

Every function takes byte positions in one buffer, and returns values and which of them are certain. The other numbers
(a sign, an exponent, ``inf``, too many digits) are left for the regex and ``float()``.
"""

import numpy as np

from trtforensics.model.arrays import Bools, Floats, Positions, Words

WORD = 8
MIXER = 0x9E37_79B9_7F4A_7C15
"""A large odd number. Words that differ in a few bits differ in their upper half when they are multiplied by it."""
PADDING = b"\0" * 256
"""Bytes that must follow the text, so that a literal can be compared at any place in it."""


LONGEST_WHOLE = 20
"""Characters of the longest whole number below 2**64. Python refuses to read a number of some thousand digits."""


def is_whole(text: str) -> bool:
    """Whether a text is a whole number as TensorRT prints them, in at most 64 bits."""
    return len(text) <= LONGEST_WHOLE and text.removeprefix("-").isdecimal()


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
_POWERS = 10.0 ** np.arange(17)
_SIXTEEN = 16
_EIGHT_DIGITS = np.uint64(10**8)
_SEVEN_BYTES = np.uint64(56)
_ZERO = np.uint64(ord("0"))
_LAST_BYTES = np.array(
    [[_ALL_BITS & ~((1 << 8 * min(max(16 - size - 8 * word, 0), 8)) - 1) for word in range(2)] for size in range(17)],
    np.uint64,
)
"""Masks for two words, by how many of their last bytes count."""


def words_of(text: bytes) -> Words:
    """View a padded text as the eight-byte word that begins at each of its bytes."""
    return np.ndarray((len(text) - WORD + 1,), "<u8", buffer=text, strides=(1,))


def blocks(text: bytes, at: Positions, size: int) -> Words:
    """Return ``size`` bytes of a padded text from each of these positions on, as a row of words.

    ``size`` is a multiple of eight. numpy copies a hundred bytes from an odd address as fast as eight.
    """
    view = np.ndarray((len(text) - size + 1,), f"V{size}", buffer=text, strides=(1,))
    return view[at].view(np.uint64).reshape(-1, size // WORD)


def decimals(text: bytes, starts: Positions, ends: Positions) -> tuple[Floats, Bools]:
    """Read numbers such as ``12`` and ``0.0129196`` of at most sixteen bytes; the values equal those of ``float()``."""
    length = ends - starts
    read_high, read_low = _last_sixteen(text, ends, length)
    low, places = _without_point(read_low, read_high >> _SEVEN_BYTES)
    high = (read_high << _EIGHT) | _ZERO
    others = np.flatnonzero(places < 0)
    if len(others):  # the point stands further in front, or there is none
        low[others] = read_low[others]
        high[others], places[others] = _without_point(read_high[others], _ZERO)
    has_point = places >= 0
    places[others] += np.where(has_point[others], WORD, 1)
    value, certain = _eight_digits(low)
    longer = np.flatnonzero(high != _ZEROS)
    if len(longer):
        more, sure = _eight_digits(high[longer])
        value[longer] += more * _EIGHT_DIGITS
        certain[longer] &= sure & (value[longer] < np.uint64(1 << 53))
    certain &= (places < length - has_point) & (length <= _SIXTEEN) & (ends >= _SIXTEEN)
    return value.astype(np.float64) / _POWERS[places], certain


def _last_sixteen(text: bytes, ends: Positions, length: Positions) -> tuple[Words, Words]:
    """Return the sixteen bytes up to ``ends`` as two words; those in front of the last ``length`` become zeros."""
    words = blocks(text, np.maximum(ends - _SIXTEEN, 0), _SIXTEEN)
    keep_high, keep_low = _LAST_BYTES.take(length, axis=0, mode="clip").T
    return (words[:, 0] & keep_high) | (_ZEROS & ~keep_high), (words[:, 1] & keep_low) | (_ZEROS & ~keep_low)


def _without_point(words: Words, carried: Words | np.uint64) -> tuple[Words, Positions]:
    """Take the first point out of each word: the bytes in front of it move up by one, and ``carried`` fills the gap.

    Returns the words, and how many bytes stood behind each point; -1 and the word as it was where it has no point.
    """
    marks = words ^ _DOTS
    points = (marks - _ONES) & ~marks & _TOPS
    in_front = ((points & (~points + np.uint64(1))) >> np.uint64(7)) - np.uint64(1)
    places = np.int64(7) - (((in_front & _ONES) * _ONES) >> np.uint64(56)).view(np.int64)  # its bytes, counted
    moved = (words & ~((in_front << _EIGHT) | np.uint64(0xFF))) | ((words & in_front) << _EIGHT) | carried
    return np.where(places < 0, words, moved), places


def _eight_digits(words: Words) -> tuple[Words, Bools]:
    """Read words of eight digits, and say which words are."""
    certain = ((words & _HIGH_NIBBLES) == _ZEROS) & (((words + _SIXES) & _HIGH_NIBBLES) == _ZEROS)
    value = (words & _LOW_NIBBLES) * np.uint64(2561) >> _EIGHT
    value = (value & np.uint64(0x00FF_00FF_00FF_00FF)) * np.uint64(6_553_601) >> np.uint64(16)
    value = (value & np.uint64(0x0000_FFFF_0000_FFFF)) * np.uint64(42_949_672_960_001) >> np.uint64(32)
    return value, certain


def integers(text: bytes, starts: Positions, ends: Positions) -> tuple[Positions, Bools]:
    """Read one to eight digits."""
    length = ends - starts
    _, low = _last_sixteen(text, ends, length)
    values, certain = _eight_digits(low)
    return values.astype(np.int64), certain & (length > 0) & (length <= WORD) & (ends >= _SIXTEEN)


def signed(text: bytes, starts: Positions, ends: Positions) -> tuple[Words, Bools]:
    """Read one to twenty digits, perhaps behind a minus, modulo 2**64."""
    minus = np.frombuffer(text, np.uint8)[starts] == ord("-")
    length = ends - starts - minus
    values, certain = np.zeros(len(starts), np.uint64), (length > 0) & (length <= LONGEST_WHOLE) & (ends >= _SIXTEEN)
    for behind, factor in ((0, 1), (_SIXTEEN, 10**16)):
        rows = np.flatnonzero(certain & (length > behind))
        if len(rows):
            words = _last_sixteen(text, ends[rows] - behind, length[rows] - behind)
            (high, sure_high), (low, sure_low) = map(_eight_digits, words)
            values[rows] += (high * _EIGHT_DIGITS + low) * np.uint64(factor)
            certain[rows] &= sure_high & sure_low & (ends[rows] >= behind + _SIXTEEN)
    return np.where(minus, np.uint64(0) - values, values), certain


def hexadecimals(text: bytes, starts: Positions, ends: Positions) -> tuple[Words, Bools]:
    """Read ``0x`` and 1 to 16 lower-case digits as two words; a digit is right if its nibble is printed so."""
    length = ends - starts - 2
    digits = blocks(text, np.maximum(ends - _SIXTEEN, 0), _SIXTEEN)
    if not (length == _SIXTEEN).all():
        mask = _LAST_BYTES.take(length, axis=0, mode="clip")
        digits = (digits & mask) | (_ZEROS & ~mask)
    nibbles = (digits & _LOW_NIBBLES) + ((digits >> np.uint64(6)) & _ONES) * np.uint64(9)
    letters = ((nibbles + _SIXES) >> np.uint64(4)) & _ONES
    right = nibbles + _ZEROS + letters * np.uint64(ord("a") - ord("0") - 10) == digits
    right &= (nibbles & _HIGH_NIBBLES) == 0  # "g" would be printed for a nibble of 16
    values = ((nibbles << np.uint64(4)) | (nibbles >> _EIGHT)) & np.uint64(0x00FF_00FF_00FF_00FF)
    values = ((values << _EIGHT) | (values >> np.uint64(16))) & np.uint64(0x0000_FFFF_0000_FFFF)
    values = ((values << np.uint64(16)) | (values >> np.uint64(32))) & np.uint64(0xFFFF_FFFF)
    certain = right[:, 0] & right[:, 1] & (length >= 1) & (length <= _SIXTEEN) & (ends >= _SIXTEEN)
    opening = np.frombuffer(text, np.uint8)
    certain &= (opening[starts] == ord("0")) & (opening[starts + 1] == ord("x"))
    return (values[:, 0] << np.uint64(32)) | values[:, 1], certain
