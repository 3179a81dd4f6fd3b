"""One test for every row of a table, which names each row that fails."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Test = Callable[..., None]

_Param = type(pytest.param())
_Failed = pytest.fail.Exception


def for_each(
    names: str | Sequence[str], rows: Iterable[Any], ids: Callable[[Any], object] | Sequence[str] = str
) -> Callable[[Test], Test]:
    """Call a test once a row, as one item: for facts that are quick to look at and hold for hundreds of rows.

    Written like ``pytest.mark.parametrize``. All rows share the fixtures of the one item.
    """
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [_named(row, columns, ids if callable(ids) else str) for row in rows]
    if not callable(ids):
        table = [(name, row) for name, (_, row) in zip(ids, table, strict=True)]

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def over_all(**fixtures: Any) -> None:
            if not table:
                pytest.fail("no row to look at")
            failures = [f"{name}\n{text}" for name, row in table if (text := _failure(test, {**fixtures, **row}))]
            if failures:
                pytest.fail(f"{len(failures)} of {len(table)} rows:\n\n" + "\n\n".join(failures), pytrace=False)

        signature = inspect.signature(test)
        wanted = [one for name, one in signature.parameters.items() if name not in columns]
        over_all.__signature__ = signature.replace(parameters=wanted)  # type: ignore[attr-defined]
        return over_all

    return decorate


def _named(row: Any, columns: Sequence[str], label: Callable[[Any], object]) -> tuple[str, Mapping[str, Any]]:
    """Return a row's name and its values by their columns."""
    if isinstance(row, _Param):
        if row.marks:
            raise TypeError("a row has no marks of its own")
        values, name = row.values, row.id
    else:
        values, name = ((row,) if len(columns) == 1 else tuple(row)), None
    return str(name or "-".join(str(label(value)) for value in values)), dict(zip(columns, values, strict=True))


def _failure(test: Test, arguments: Mapping[str, Any]) -> str:
    """Return what a row fails with, nothing where it passes."""
    try:
        test(**arguments)
    except (AssertionError, _Failed) as failure:
        return str(failure)
    return ""
