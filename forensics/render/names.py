"""Long texts in little space: names by their two ends or in two lines, sentences in lines of a width."""

import textwrap

_SEPARATORS = (" ", "/.", "_")
"""Where a name is best parted between two lines, the best first."""


def wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Part a text into lines between words only; ``first`` stands before the first line, ``rest`` before others."""
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def shortened(name: str, most: int) -> str:
    """Cut the middle out of a name of more than ``most`` characters."""
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[:half]}…{name[-half:]}"


def by_options(text: str, most: int) -> str:
    """Shorten a text of more than ``most`` characters; of a command each long word by itself, none into another."""
    parts = text.split(" ") if len(text) > most and " --" in text else [text]
    return " ".join(shortened(part, most // min(len(parts), 4)) for part in parts)


def in_two_lines(name: str, first: int, second: int) -> list[str]:
    """Part a name into a line or two of so many characters at most, after a separator where there is one.

    Of what does not fit into two lines, the middle is cut out.
    """
    if len(name) <= first:
        return [name]
    cuts = (max(name.rfind(mark, 0, first) for mark in marks) + 1 for marks in _SEPARATORS)
    cut = next((place for place in cuts if place > first // 2), first)
    return [name[:cut].rstrip(), shortened(name[cut:].lstrip(), second)]
