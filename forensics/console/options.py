"""Options of a command line that are fields of a dataclass, so that each stands beside the object that it sets."""

from __future__ import annotations

import argparse
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection
    from dataclasses import Field


class _Options(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


_T = TypeVar("_T", bound=_Options)


def option(*flags: str, default: Any = None, **declared: Any) -> Any:  # noqa: ANN401 - as dataclasses.field and argparse
    """Return a field of a dataclass that an option of these flags sets; ``declared`` is what argparse is told of it."""
    return field(default=default, metadata={"flags": flags, "declared": declared})


def add_options(
    parser: argparse.ArgumentParser, options: type[_Options], only: Collection[str] = (), **helps: str
) -> None:
    """Declare the options of a dataclass, or ``only`` those of some fields; ``helps`` has other help for fields."""
    for each in fields(options):
        if each.metadata and (not only or each.name in only):
            declared = {**each.metadata["declared"]}
            declared["help"] = helps.get(each.name, declared["help"])
            parser.add_argument(*each.metadata["flags"], dest=each.name, default=argparse.SUPPRESS, **declared)


def read_options(args: argparse.Namespace, options: type[_T]) -> _T:
    """Return the dataclass as a command line sets it; fields that it does not name have their defaults."""
    given = {each.name: vars(args)[each.name] for each in fields(options) if each.name in vars(args)}
    return options(**{name: tuple(value) if isinstance(value, list) else value for name, value in given.items()})
