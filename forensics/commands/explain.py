"""``trtforensics explain``: the whole explanation of a finding code, a search in all, or the list of all codes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """examples:
  trtforensics explain TF201
  trtforensics explain nan layernorm
  trtforensics explain "could not find any implementation"
  trtforensics explain"""

_CODE = re.compile(r"TF[0-9]+", re.IGNORECASE)


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of ``explain``."""
    parser.epilog = EXAMPLE
    what = "a code such as TF201, or words to look for in all explanations; without any, all codes are listed"
    parser.add_argument("words", nargs="*", metavar="CODE|WORD", help=what)
    parser.add_argument("--json", action="store_true", help="print a JSON document instead of text")


def run(args: Namespace) -> int:
    """Print the explanation of codes, the rules that speak of some words, or the list.

    Raises:
        UsageError: There is no such code, or no rule speaks of any of the words.
        OutputError: Stdout cannot be written.
    """
    from trtforensics.console import streams
    from trtforensics.errors import UsageError
    from trtforensics.findings.explaining import explain, explain_json, list_codes, list_hits, search
    from trtforensics.findings.registry import rule_of, rules

    if not args.words:
        streams.print_result(explain_json(rules()) if args.json else list_codes(rules()))
    elif all(map(_CODE.fullmatch, args.words)):
        chosen = [rule_of(code) for code in args.words]
        streams.print_result(explain_json(chosen) if args.json else "\n".join(map(explain, chosen)))
    else:
        hits = search(rules(), " ".join(args.words))
        if not hits:
            where = " ".join(args.words)
            raise UsageError(where, "no rule speaks of it", "Try other words; `trtforensics explain` lists all codes")
        streams.print_result(explain_json(hit.rule for hit in hits) if args.json else list_hits(hits))
    return 0
