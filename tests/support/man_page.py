"""The manual page, made of the parsers of the commands: ``python -m tests.support.man_page`` writes it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tests.support.repository import ROOT
from trtforensics.cli import COMMANDS, build_parser

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "man" / "trtforensics.1"

_HEAD = r""".TH TRTFORENSICS 1
.SH NAME
trtforensics \- tactic and build-log forensics for NVIDIA TensorRT
.SH SYNOPSIS
.B trtforensics
.I COMMAND
[\fIARGUMENT\fR \&...]
.br
.B trtforensics
.I BUILD.LOG
.SH DESCRIPTION
trtforensics reads what TensorRT, trtexec and programs around them write: build logs, tactic replays, engine layers,
profiles and timing caches. It says what is wrong with a build, compares builds, and finds the tactics, cache keys,
nodes or tensors that make a build bad. A file without a command is reported on.
"""
_TAIL = r""".SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 1
The answer is no: differences, findings of the level that was asked for, or a bisection that is not certified.
.TP
.B 2
Bad usage or bad input.
.TP
.B 70
A bug of trtforensics.
.TP
.B 130
Interrupted.
"""


def page() -> str:
    """Return the page in the macros of man(7)."""
    sections = [f".SH {name.upper()}\n{''.join(_command(name))}" for name in COMMANDS]
    return _HEAD + "".join(sections) + _TAIL


def _command(name: str) -> Iterator[str]:
    parser = _subparsers(build_parser(name))[name]
    yield from _parser(parser, name)
    for action, inner in _subparsers(parser).items():
        yield f".SS {name} {action}\n"
        yield from _parser(inner, f"{name} {action}")


def _parser(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    arguments = [action for action in parser._actions if action.help is not argparse.SUPPRESS]
    words = " ".join(map(_word, (action for action in arguments if not action.option_strings)))
    yield f"\\fBtrtforensics {name}\\fR [\\fIOPTION\\fR \\&...] {words}".rstrip() + "\n"
    yield f".PP\n{_escaped(parser.description or '')}\n"
    for action in arguments:
        if isinstance(action, (argparse._SubParsersAction, argparse._HelpAction)):
            continue
        yield f".TP\n{_spelled(action)}\n{_help(parser, action)}\n"


def _word(action: argparse.Action) -> str:
    if isinstance(action, argparse._SubParsersAction):
        return "|".join(action.choices)
    word = str(action.metavar or action.dest)
    more = " \\&..." if action.nargs in {"*", "+"} else ""
    return f"[{_escaped(word)}]{more}" if action.nargs in {"*", "?"} else _escaped(word) + more


def _spelled(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"\\fI{_word(action)}\\fR"
    names = ", ".join(f"\\fB{_escaped(name)}\\fR" for name in action.option_strings)
    if action.nargs == 0:
        return names
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    value = " ".join(value) if isinstance(value, tuple) else str(value)
    return f"{names} \\fI{_escaped(value)}\\fR"


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    values = {"prog": parser.prog, **vars(action), "choices": ", ".join(map(str, action.choices or ()))}
    return _escaped((action.help or "") % values)


def _escaped(text: str) -> str:
    """Return a text that troff prints as it is; an opening dot would be a request."""
    text = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(found[0].choices) if found else {}


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
