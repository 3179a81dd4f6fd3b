"""``trtforensics explain``: the whole explanation of a finding code, or the list of all codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """examples:
  trtforensics explain TF201
  trtforensics explain"""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of ``explain``."""
    parser.epilog = EXAMPLE
    parser.add_argument("code", nargs="?", metavar="CODE", help="a code such as TF201; without one, all are listed")
    parser.add_argument("--json", action="store_true", help="print a JSON document instead of text")


def run(args: Namespace) -> int:
    """Print the explanation of a code, or the list.

    Raises:
        UsageError: There is no such code.
        OutputError: Stdout cannot be written.
    """
    from trtforensics.console import streams
    from trtforensics.findings.explaining import explain, explain_json, list_codes
    from trtforensics.findings.registry import rule_of, rules

    chosen = rules() if args.code is None else [rule_of(args.code)]
    text = explain_json(chosen) if args.json else list_codes(chosen) if args.code is None else explain(chosen[0])
    streams.print_result(text)
    return 0
