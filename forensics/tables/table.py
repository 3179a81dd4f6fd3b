"""A table: rows under columns, which can be filtered, sorted and selected; and filter expressions over such rows.

``type:half|int8 time>0.05 margin<2% fused:norm -reformat``: a row stays where every term holds. A plain word is looked
for in all fields that are texts, whatever its case; ``field:value`` looks in one of them; ``=`` and ``!=`` compare
whole values, ``<``, ``<=``, ``>``, ``>=`` numbers. ``|`` separates alternatives, ``-`` negates a term, ``"`` around a
value with spaces, ``|`` or an operator in it. A number may carry a unit (``50us``, ``4MiB``, ``2%``). ``field:?`` keeps
rows that lack the value; no comparison holds for them.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from trtforensics.errors import UsageError
from trtforensics.parsers.grammar.nested import tokens, trees
from trtforensics.tables.columns import TYPE_VALUES, TableColumn, Value

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

_Row = TypeVar("_Row")


def sorted_rows(rows: Iterable[_Row], get: Callable[[_Row], Any], *, reverse: bool) -> list[_Row]:
    """Return rows by a value of each; those without one come last."""
    values = [(get(row), row) for row in rows]
    known = sorted((pair for pair in values if pair[0] is not None), key=operator.itemgetter(0), reverse=reverse)
    return [row for _, row in (*known, *(pair for pair in values if pair[0] is None))]


@dataclass(frozen=True)
class Table:
    """Rows under columns. Rows may come one by one, and then only once."""

    columns: tuple[TableColumn, ...]
    rows: Iterable[Any]
    shown: tuple[TableColumn, ...] | None = None

    @property
    def header(self) -> tuple[TableColumn, ...]:
        """The columns that are written: those that were selected, else all but the extra ones."""
        return tuple(column for column in self.columns if not column.extra) if self.shown is None else self.shown

    def values(self) -> Iterator[tuple[Value, ...]]:
        """Give the values of the rows under :attr:`header`."""
        getters = [column.get for column in self.header]
        return (tuple(get(row) for get in getters) for row in self.rows)

    def filtered(self, expression: str) -> Table:
        """Return the rows that a filter keeps; it knows all columns."""
        keep = parse_filter(expression, self.columns).keeps
        return replace(self, rows=(row for row in self.rows if keep(row)))

    def sorted_by(self, names: Sequence[str]) -> Table:
        """Return the rows by columns, those without a value last; ``-`` before a name: largest first."""
        rows = list(self.rows)
        for name in reversed(names):
            rows = sorted_rows(rows, self._column(name.removeprefix("-")).get, reverse=name.startswith("-"))
        return replace(self, rows=rows)

    def selected(self, names: Sequence[str]) -> Table:
        """Return the table with these columns, in this order."""
        return replace(self, shown=tuple(self._column(name) for name in names))

    def _column(self, name: str) -> TableColumn:
        by_name = {word: column for column in reversed(self.columns) for word in (*column.aliases, column.name)}
        if name not in by_name:
            listed = ", ".join(column.name for column in self.columns)
            raise UsageError(f"column {name!r}", "is not in this table", f"Its columns are {listed}")
        return by_name[name]


_Test = Callable[[Any], bool]

_UNITS = {
    "ms": {"": 1.0, "ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3},
    "bytes": {"": 1.0, "b": 1.0, "kib": 1024.0, "mib": 1024.0**2, "gib": 1024.0**3}
    | {"k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9},
    "ratio": {"": 1.0, "%": 0.01},
    "": {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12},
}
"""What a suffix multiplies a number by, for each unit that a field may have."""
_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)([a-zµ%]*)", re.IGNORECASE)
_ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_TERMS = ("negated", "comparison", "words")
_UNKNOWN = "?"
_SAME_WORDS = {"fp32": "float", "fp16": "half", "bf16": "bfloat16", "float32": "float", "float16": "half"}
"""Spellings of types that mean the same."""
_TEXT_HINT = 'To look for such a text, put it in quotes: "a:b"'


class FilterError(UsageError):
    """A filter that cannot be read. ``column`` is where, from 1; ``what`` and ``next_step`` are as of every error."""

    def __init__(self, text: str, column: int, what: str, next_step: str = "") -> None:
        super().__init__(f"filter {text!r}, column {column}", what, next_step)
        self.column = column


@dataclass(frozen=True)
class RowFilterExpression:
    """A filter that was read; an empty one keeps every row."""

    text: str
    tests: tuple[_Test, ...] = field(repr=False)

    def keeps(self, row: Any) -> bool:  # noqa: ANN401 - rows are whatever the fields read
        """Whether a row stays."""
        return all(test(row) for test in self.tests)


def parse_filter(text: str, fields: Sequence[TableColumn]) -> RowFilterExpression:
    """Read a filter over rows of these columns; a FilterError where it has no such form or names no such field."""
    from lark.exceptions import UnexpectedInput  # noqa: PLC0415 - most commands filter nothing

    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        ended = getattr(getattr(error, "token", None), "type", "") == "$END"
        column = len(text) + 1 if ended or error.column < 1 else error.column
        raise FilterError(text, column, *_unreadable(text, column)) from error
    reading = _Reading(text, fields)
    return RowFilterExpression(text, tuple(reading.test(term) for term in trees(tree, *_TERMS)))


def completions(text: str, column: int, fields: Iterable[TableColumn], rows: Iterable[object] = ()) -> tuple[str, ...]:
    """Return what the word before a column (from 1) may become: fields, their usual values, those in ``rows``."""
    begun = re.search(r"[^\s|]*$", text[: column - 1])
    word = begun[0].removeprefix("-") if begun else ""
    name, operator, value = re.fullmatch(r"([\w.]*)([:=<>!]*)(.*)", word, re.DOTALL).groups()  # type: ignore[union-attr]  # it matches any text
    if operator:
        known = next((field for field in fields if name in (field.name, *field.aliases)), None)
        given = dict.fromkeys(TYPE_VALUES if known is not None and known.types else ())
        if known is not None and known.is_text:
            values = (text for row in rows for text in _texts(known.asked(row)))
            given |= dict.fromkeys(text for text in values if re.fullmatch(r"[\w.+/]+", text))
        return tuple(
            f"{name}{operator}{suggestion}"
            for suggestion in given
            if suggestion.casefold().startswith(value.casefold())
        )
    names = ((alias, field) for field in fields for alias in (*field.aliases, field.name))
    folded = name.casefold()
    return tuple(
        f"{alias}{'>' if field.is_number else ':'}" for alias, field in names if alias.casefold().startswith(folded)
    )


@cache
def _parser() -> Lark:
    from pathlib import Path  # noqa: PLC0415 - see above

    from lark import Lark  # noqa: PLC0415 - see above

    grammar = Path(__file__).with_name("filter.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", maybe_placeholders=False)


def _unreadable(text: str, column: int) -> tuple[str, str]:
    """Say what is wrong at a column where no term can go on."""
    at = text[column - 1 : column]
    if at == '"':
        return "a quote is not closed", 'End the text with "'
    if not at:
        return "a value should stand here", "As in type:half, or time>0.05"
    return f"{at!r} cannot stand here", 'Put a text that holds it in quotes: "a | b"'


class _Reading:
    """Makes tests of the terms of a filter."""

    def __init__(self, text: str, fields: Sequence[TableColumn]) -> None:
        self._text = text
        self._fields = {name: field for field in reversed(fields) for name in (*field.aliases, field.name)}
        self._plain = [field for field in fields if field.plain and field.is_text]

    def test(self, term: Tree[Token]) -> _Test:
        """Return the test of a term."""
        if term.data == "negated":
            (inner,) = (self.test(child) for child in trees(term, *_TERMS))
            return lambda row: not inner(row)
        parts = [token for token in tokens(term) if token.type != "OR"]
        return self._anywhere(parts) if term.data == "words" else self._comparison(*parts)

    def _anywhere(self, values: Sequence[Token]) -> _Test:
        needles = [_plain(value).casefold() for value in values]
        getters = [field.searched or field.asked for field in self._plain]
        return lambda row: any(needle in text for get in getters for text in _texts(get(row)) for needle in needles)

    def _comparison(self, name: Token, operator: Token, *values: Token) -> _Test:
        known = self._fields.get(str(name))
        if known is None:
            raise self._error(name, f"there is no field {str(name)!r}", self._meant(str(name)))
        get = known.asked
        if any(str(value) == _UNKNOWN for value in values):
            if len(values) > 1 or operator not in {":", "=", "!="}:
                raise self._error(operator, "`?` stands alone behind `:`, `=` or `!=`", f"As in {name}:?")
            return (lambda row: _lacks(get(row))) if operator != "!=" else (lambda row: not _lacks(get(row)))
        if known.is_number:
            return self._of_numbers(known, operator, values)
        if operator in _ORDERS:
            what = f"{str(name)!r} is a text, which is neither more nor less"
            raise self._error(operator, what, f"Write {name}:{values[0]}")
        return _of_texts(known, str(operator), [_plain(value) for value in values])

    def _of_numbers(self, known: TableColumn, operator: Token, values: Sequence[Token]) -> _Test:
        numbers = [self._number(known, value) for value in values]
        get, order = known.get, _ORDERS.get(str(operator))
        if order is not None and len(numbers) > 1:
            raise self._error(values[1], f"`{operator}` takes one number", "Leave out `|`")
        if order is not None:
            (bound,) = numbers
            return lambda row: (number := _number_of(get(row))) is not None and order(number, bound)
        equals = operator != "!="
        return lambda row: (number := _number_of(get(row))) is not None and _equal(number, numbers) is equals

    def _number(self, known: TableColumn, value: Token) -> float:
        units = _UNITS.get(known.unit, _UNITS[""])
        read = _NUMBER.fullmatch(_plain(value))
        if read is None or read[2].lower() not in units:
            suffixes = ", ".join(unit for unit in units if unit)
            what = f"{str(value)!r} is no number" if read is None else f"{read[2]!r} is no unit of {known.name!r}"
            raise self._error(value, what, f"Write a number, and behind it none or one of {suffixes}")
        return float(read[1]) * units[read[2].lower()]

    def _meant(self, name: str) -> str:
        close = difflib.get_close_matches(name, self._fields, 1)
        meant = f"Did you mean {close[0]!r}?" if close else f"The fields are {', '.join(sorted(self._fields))}."
        return f"{meant} {_TEXT_HINT}"

    def _error(self, token: Token, what: str, next_step: str) -> FilterError:
        return FilterError(self._text, token.column or 1, what, next_step)


def _of_texts(known: TableColumn, operator: str, values: Sequence[str]) -> _Test:
    same = _type_word if known.types else str.casefold
    get, needles = known.searched or known.asked, [same(value) for value in values]
    if operator == ":":
        return lambda row: any(needle in same(text) for text in _texts(get(row)) for needle in needles)
    wanted = frozenset(needles)
    if operator == "=":
        return lambda row: any(same(text) in wanted for text in _texts(get(row)))
    return lambda row: not _lacks(get(row)) and not any(same(text) in wanted for text in _texts(get(row)))


def _type_word(text: str) -> str:
    folded = text.casefold()
    return _SAME_WORDS.get(folded, folded)


def _plain(token: Token) -> str:
    return str(token)[1:-1] if token.type == "QUOTED" else str(token)


def _equal(number: float, others: Iterable[float]) -> bool:
    """Whether a number is one of others, but for rounding where units are converted."""
    return any(abs(number - other) <= 1e-9 * max(abs(number), abs(other)) for other in others)


def _texts(value: object) -> Iterable[str]:
    """Return the texts of a value in lower case."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value.casefold(),)
    if isinstance(value, Sequence):
        return [str(part).casefold() for part in value]
    return (str(value).casefold(),)


def _number_of(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _lacks(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, Sequence) and len(value) == 0)
