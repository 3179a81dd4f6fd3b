"""Arguments that several commands declare, and the forms of their values.

Options that are fields of a dataclass stand beside the object that they set.
"""

import argparse
import os
from collections.abc import Collection, Mapping
from dataclasses import Field, field, fields
from typing import Any, ClassVar, Protocol, TypeVar

from trtforensics.errors import UsageError

_OTHER_FORMS = {".html", ".svg", ".png", ".pdf", ".csv", ".xml", ".sarif", ".parquet"}
_BYTES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def wants_json(args: argparse.Namespace) -> bool:
    """Whether a command that writes text or JSON is to write JSON: it is asked to, or its file's name ends so.

    Raises:
        UsageError: the name ends as a form does that the command does not write.
    """
    ending = os.path.splitext(args.output or "")[1]  # noqa: PTH122 - these commands need no pathlib
    if ending in _OTHER_FORMS:
        raise UsageError(args.output, f"{args.command} writes text or JSON, not {ending}", "Let the name end otherwise")
    return bool(args.json) or ending == ".json"


def count(text: str) -> int:
    """Read a number from 1 on, for argparse."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a count from 1 on")
    return int(text)


def until(text: str) -> int | str:
    """Read a number from 1 on, or a verdict, for argparse."""
    if text in {"good", "bad"}:
        return text
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a count from 1 on nor good or bad")
    return int(text)


def seconds(text: str) -> float:
    """Read a time in seconds, for argparse."""
    value = _number(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time in seconds")
    return value


def probability(text: str) -> float:
    """Read a probability, for argparse."""
    value = _number(text)
    if not 0.5 < value < 1:  # noqa: PLR2004 - below one half, a coin would do
        raise argparse.ArgumentTypeError(f"{text!r} is not a probability between 0.5 and 1")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def size(text: str, least: int = 0) -> int:
    """Read a size in bytes, for argparse."""
    factor = _BYTES.get(text[-1:].upper(), 1)
    digits = text[:-1] if factor > 1 else text
    if not digits.isdecimal() or int(digits) < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 500M or 64G")
    return int(digits) * factor


def words(text: str) -> tuple[str, ...]:
    """Read a list of different words, for argparse."""
    listed = tuple(word.strip() for word in text.split(","))
    if not all(listed) or len(set(listed)) < len(listed):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list such as 0,1")
    return listed


class Options(Protocol):
    """A dataclass whose fields are options."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


_T = TypeVar("_T", bound=Options)


def option(flag: str, *others: str, default: Any = None, **declared: Any) -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return a dataclass field that an option of these flags sets; ``declared`` goes to argparse.

    An option whose default is False is a switch; one whose default is () may be repeated, unless its type reads a list.
    Its metavar and help are words of :func:`add_options`.
    """
    if default is False:
        declared["action"] = "store_true"
    elif default == () and "type" not in declared:
        declared["action"] = "append"
    return field(default=default, metadata={"flags": (flag, *others), "declared": declared})


def add_options(
    parser: argparse.ArgumentParser,
    options: type[Options],
    only: Collection[str],
    words_of: Mapping[str, Mapping[str, Any]],
) -> None:
    """Declare the options of a dataclass, or ``only`` those of some fields, in the words of each by its first flag."""
    for each in fields(options):
        if each.metadata and (not only or each.name in only):
            flags = each.metadata["flags"]
            declared = {"dest": each.name, "default": argparse.SUPPRESS, **each.metadata["declared"]}
            parser.add_argument(*flags, **declared, **words_of[flags[0]])


def read_options(args: argparse.Namespace, options: type[_T]) -> _T:
    """Return the dataclass as a command line sets it; fields that it does not name have their defaults."""
    given = {each.name: vars(args)[each.name] for each in fields(options) if each.name in vars(args)}
    return options(**{name: tuple(value) if isinstance(value, list) else value for name, value in given.items()})
