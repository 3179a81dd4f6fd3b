"""What commands take, as the tables beside this module say: their arguments, the actions of some, their examples."""

import argparse
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from trtforensics.console.arguments import add_options, count, until, words
from trtforensics.console.cluster import cluster_address
from trtforensics.knowledge import table

_HOW: dict[str, dict[str, Any]] = {
    "required": {"required": True},
    "switch": {"action": "store_true"},
    "again": {"action": "append", "default": []},
    "adds": {"action": "append_const", "default": []},
    "sets": {"action": "store_const"},
    "several": {"nargs": "+", "default": []},
    "rest": {"nargs": argparse.REMAINDER, "default": []},
    "empty": {"default": ""},
    "codes": {},
    "int": {"type": int},
    **{reader.__name__: {"type": reader} for reader in (count, words, until, cluster_address)},
    **{number: {"nargs": number} for number in "?*+"},
}
"""What the words of the column ``how`` mean to argparse; ``adds`` and ``sets`` give the option's own name.

``codes`` lets a shell complete codes of findings. ``fields`` stands for options that are fields of a dataclass, all or
those of the column ``choices``; their own rows have its name in place of commands.
"""


@cache
def _rows(name: str) -> tuple[Mapping[str, str], ...]:
    return tuple(table.rows(name, "trtforensics.commands"))


def example_of(command: str) -> str:
    """Return what stands below the help of a command, in lines as they are; of an action, above its example."""
    return "\n".join(row["line"] for row in _rows("examples") if command in row["commands"].split())


def _codes(**_: object) -> list[str]:
    from trtforensics.findings.registry import rules

    return [rule.code for rule in rules()]


def declare(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Declare the arguments of a command, and its actions; return their parsers, without any its own."""
    command = ".".join(parser.prog.split()[1:])
    for row in _rows("arguments"):
        if command in row["commands"].split():
            _declare_row(parser, row)
    actions = [row for row in _rows("actions") if row["command"] == command]
    if not actions:
        return [parser]
    dest = actions[0]["dest"]
    parsers = parser.add_subparsers(dest=dest, metavar=dest.upper(), required=True, parser_class=type(parser))
    every = []
    for row in actions:
        name, summary = row["action"], row["summary"]
        more, example = example_of(f"{command}.{name}"), f"example: trtforensics {command} {name} {row['example']}"
        action = parsers.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=f"{more}\n\n{example}" if more else example,
            formatter_class=argparse.RawDescriptionHelpFormatter if more else argparse.HelpFormatter,
            allow_abbrev=False,
        )
        every += declare(action)
    return every


def _filled(row: Mapping[str, str], *columns: str) -> dict[str, str]:
    return {column: row[column] for column in columns if row[column]}


def _declare_row(parser: argparse.ArgumentParser, row: Mapping[str, str]) -> None:
    names, how, choices = row["names"].split(), row["how"].split(), row["choices"].split()
    if how == ["fields"]:
        module, _, name = row["names"].rpartition(".")
        options = [each for each in _rows("arguments") if name in each["commands"].split()]
        words_of = {each["names"]: _filled(each, "metavar") | {"help": row["help"] or each["help"]} for each in options}
        add_options(parser, getattr(import_module(module), name), choices, words_of)
        return
    declared: dict[str, Any] = _filled(row, "dest", "metavar", "default", "help")
    for word in how:
        declared |= _HOW[word]
    if not {"adds", "sets"}.isdisjoint(how):
        declared["const"] = names[-1].lstrip("-")
    if choices:
        declared["choices"] = choices
    argument = parser.add_argument(*names, **declared)
    if "codes" in how:
        setattr(argument, "completer", _codes)  # noqa: B010 - argcomplete looks there, and argparse does not declare it
