"""Masks secrets in texts that leave the program: passwords, tokens, keys, and credentials in addresses.

Logs are quoted in reports, pages and issues, and a log may hold the environment of its job, a download's address or a
command line. Every text passes :func:`masked` where it is made fit to print (``terminal.visible``) or becomes JSON or a
graph, so that no form of output has to think of it. What is masked is replaced by :data:`MASK`.

The forms of the vendors' tokens are those that their documentation gives (prefix, alphabet and least length): AWS,
GitHub, GitLab, Hugging Face, NVIDIA, OpenAI, Google, Slack, npm, PyPI, Docker, Stripe, and JSON web tokens (RFC 7519).
They are the table ``tables/secrets.tsv``. Every pattern is bounded or begins where a word begins, so that a text is
masked in linear time.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

from trtforensics.knowledge.table import rows

MASK = "[secret]"


class _Form(NamedTuple):
    """A form of secrets: in each text stand one of the lower-case ``hints`` and, of ``marks``, one too.

    The pattern's first group, where it has one, is what stands before the secret and stays.
    """

    hints: frozenset[str]
    marks: str
    pattern: str
    """A regex; it is compiled with the first text that has a hint of it."""


_END = r"""\s"'&;,)\]}"""
_PARTS = {
    "quote": """["']?""",
    # a secret, without the quotes around it: what was JSON stays JSON
    "value": rf"""(?!\[secret\])(?:(?<=")[^"\n]{{1,500}}(?=")|(?<=')[^'\n]{{1,500}}(?=')|[^{_END}]+)""",
    # the value of a name that says little: sixteen characters, digits and letters other than those of a shape or size
    "long": rf"""["']?(?=[^{_END}]{{0,99}}?\d)(?=[^{_END}]{{0,99}}?[A-Zac-wyz])"""
    rf"""[\w.~+/=-]{{16,99}}(?=\Z|[{_END}])["']?""",
    "assigned": r"""["']?[ \t]{0,8}[=:][ \t]{0,8}""",
    "alone": r"(?<![A-Za-z0-9])",
}
"""What patterns of the table have in common."""

_FORMS = [
    _Form(frozenset(row["hints"].split()), row["marks"], row["pattern"] % _PARTS)
    for row in rows("secrets", "trtforensics.console")
]

_HINTS = frozenset().union(*(form.hints for form in _FORMS))


def _any_of(words: Iterable[str]) -> str:
    """Return a regex for any of some words, with their common beginnings drawn together: no text is read twice."""
    by_letter: dict[str, list[str]] = {}
    for word in words:
        by_letter.setdefault(word[:1], []).append(word[1:])
    if "" in by_letter:
        return ""  # a word that the others begin with is enough
    return f"(?:{'|'.join([re.escape(letter) + _any_of(rest) for letter, rest in sorted(by_letter.items())])})"


_hinted = re.compile(_any_of(_HINTS)).search

_LINE_OF_KEY = re.compile(r"(?m)^[ \t]*([A-Za-z0-9+/]{48,76}={0,2})\r?$")
"""A line of a private key, which may be quoted without the line that opens it."""
_MIXED = re.compile(r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])")

_SHORTEST_LINE = 48
_LONGEST_REMEMBERED = 1 << 14
"""Characters of a text whose masked form is remembered: windows of whole logs would fill the memory."""

_state = {"shown": False}
_remembering: list[Callable[[], None]] = []
"""Forget what functions remember of texts with, or without, their secrets."""


def remembered(render: Callable[..., str], size: int = 1 << 14) -> Callable[..., str]:
    """Cache a function that masks texts, until secrets are shown or masked again."""
    cached = lru_cache(maxsize=size)(render)
    _remembering.append(cached.cache_clear)
    return cached


def masked(text: str) -> str:
    """Return a text with each secret in it replaced by :data:`MASK`; what says which secret it was stays."""
    return _masked(text) if len(text) <= _LONGEST_REMEMBERED else masked_anew(text)


def masked_anew(text: str) -> str:
    """Do what :func:`masked` does, for a caller that remembers what becomes of each text."""
    if _state["shown"]:
        return text
    lower = text.lower()
    for form in _FORMS if _hinted(lower) else ():
        if any(hint in lower for hint in form.hints) and (not form.marks or any(mark in text for mark in form.marks)):
            text = re.sub(form.pattern, _mask, text)
    return _LINE_OF_KEY.sub(_mask_line, text) if len(text) >= _SHORTEST_LINE else text


_masked = remembered(masked_anew)


def masked_values(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value with every text in it masked; keys of objects too."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, dict):
        return {masked_values(key): masked_values(item) for key, item in value.items()}
    return [*map(masked_values, value)] if isinstance(value, list | tuple) else value


@contextmanager
def shown_secrets() -> Iterator[None]:
    """Show secrets as they stand, for one's own eyes: ``--show-secrets``."""
    before = _state["shown"]
    _show(shown=True)
    try:
        yield
    finally:
        _show(shown=before)


def _show(*, shown: bool) -> None:
    _state["shown"] = shown
    for forget in _remembering:
        forget()


def _mask(match: re.Match[str]) -> str:
    return f"{match[1] or ''}{MASK}" if match.re.groups else MASK


def _mask_line(match: re.Match[str]) -> str:
    """Mask a line of digits, capitals and small letters; one without any of them is a hash or a word."""
    return MASK if _MIXED.match(match[1]) else match[0]
