"""LALR parsers for the strings that nest: fused names, formats, the tensors of an engine layer.

Each has a small grammar in ``nested_rules/``. LALR costs some fifty microseconds a string, so a string is parsed only
when it is needed, and each distinct string once. Strings that do not nest are read by regex (``plain.py``). So most
logs never need Lark, and it is imported with the first string that nests.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark import Lark, Token, Tree


@cache
def parser(grammar: str) -> Lark:
    """Return the LALR parser of one of the nested grammars; it raises Lark's errors, which say where and what."""
    from pathlib import Path  # noqa: PLC0415 - see above

    from lark import Lark  # noqa: PLC0415 - see above

    text = Path(__file__).with_name("nested_rules").joinpath(f"{grammar}.lark").read_text("utf-8")
    return Lark(text, parser="lalr", lexer="contextual", maybe_placeholders=False)


def parse(grammar: str, text: str) -> Tree[Token] | None:
    """Parse a text with one of the nested grammars; None where the text is not of that form."""
    from lark.exceptions import LarkError  # noqa: PLC0415 - see above

    try:
        return parser(grammar).parse(text)
    except LarkError:
        return None


def trees(tree: Tree[Token], *names: str) -> Iterator[Tree[Token]]:
    """Give the direct children of these rules."""
    return (child for child in tree.children if not isinstance(child, str) and child.data in names)


def token(tree: Tree[Token], name: str) -> str | None:
    """Return the text of the first direct token of a name."""
    return next((str(c) for c in tree.children if isinstance(c, str) and c.type == name), None)


def tokens(tree: Tree[Token]) -> Iterator[Token]:
    """Give every token of a tree in the order of the text."""
    for child in tree.children:
        if isinstance(child, str):
            yield child
        else:
            yield from tokens(child)
