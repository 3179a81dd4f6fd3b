r"""Finds where programs print who somebody is and which machine it is: users, hosts, serial numbers, accounts, ids.

What stands at such a place is replaced as a whole, with its digits and with words that stay elsewhere: a person may be
called ``max`` or ``u482913``. The places are those of shells, SSH, mails, home folders, ``nvidia-smi -q``, and of
fields in environments, JSON, YAML, TOML and XML.
"""

import re
from collections.abc import Iterator

from trtforensics.knowledge.table import rows

_HINTS = tuple(next(rows("hints", "trtforensics.redaction"))["words"].split("|"))
"""One of these stands, in small letters, in every line with such a place."""

_BETWEEN = r"""\\?["']?[ \t]{0,60}(?:[:=]{1,2}|>)[ \t]{0,60}\\?["']?"""
"""What stands between a field's key and its value."""
_VALUE = r"""[^\s"'<>,;|()\[\]{}\\]{1,200}"""
_PATTERNS = "|".join(row["pattern"] for row in rows("places", "trtforensics.redaction"))
_PLACES = re.compile(f"(?i){_PATTERNS}".replace("{between}", _BETWEEN).replace("{value}", _VALUE))


def identities(text: str) -> Iterator[tuple[int, int]]:
    """Yield where in a text somebody or a machine is named: first and last character, in order."""
    small = text.lower()
    hints = [hint for hint in _HINTS if hint in small]
    start = 0
    for line, lower in zip(text.split("\n"), small.split("\n"), strict=True) if hints else ():
        for match in _PLACES.finditer(line) if any(hint in lower for hint in hints) else ():
            spans = (match.span(group) for group in range(1, _PLACES.groups + 1))
            yield from ((start + first, start + end) for first, end in spans if first >= 0)
        start += len(line) + 1
