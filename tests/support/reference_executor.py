"""The reference executor: Lark's own LALR parser with a contextual lexer runs the same grammars.

It defines what the grammars mean, and tests hold the compiled regexes equal to it. No log is read with it: it takes
about 0.1 ms a line.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import LarkError

from trtforensics.model.older_python import flags_here
from trtforensics.parsers.grammar.grammar import field_of, grammar_text
from trtforensics.parsers.grammar.line_kinds import LINE, REGEX_FLAGS

_OPTIONS: dict[str, Any] = {} if sys.version_info >= (3, 11) else {"regex": True}
"""What Lark is told so that it takes atomic groups and possessive quantifiers."""


def parse(body: bytes, start: str = LINE) -> tuple[str, dict[str, bytes]] | None:
    """Return the kind and the fields of a line body (or a prefix), or None where no rule reads it."""
    parser = _lalr(start)
    try:
        tree = parser.parse(body.decode("latin-1"))
    except LarkError:
        return None
    kind = tree.children[0]
    if not isinstance(kind, Tree):
        return None
    fields: dict[str, bytes] = {}
    for token in kind.children:
        field = field_of(token.type) if isinstance(token, Token) else None
        if field is not None:
            fields[field] = str(token).encode("latin-1")
    return str(kind.data), fields


@cache
def _lalr(start: str) -> Lark:
    return Lark(
        grammar_text(start),
        start=start,
        parser="lalr",
        lexer="contextual",
        g_regex_flags=flags_here(REGEX_FLAGS),
        maybe_placeholders=False,
        **_OPTIONS,
    )
