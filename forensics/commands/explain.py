"""``trtforensics explain``: a finding code, what a name in a log means, a search in all codes, or their list."""

import re
from argparse import Namespace

from trtforensics.console import streams
from trtforensics.console.diagnostics import ExitCode
from trtforensics.errors import UsageError
from trtforensics.findings import explaining
from trtforensics.findings.registry import rule_of, rules

_CODE = re.compile(r"TF[0-9]+", re.IGNORECASE)


def run(args: Namespace) -> int:
    """Print the explanation of codes, the rules that speak of some words, or the list."""
    phrase, json = " ".join(args.words), args.json
    if not args.words:
        text = explaining.explain_json(rules()) if json else explaining.list_codes(rules())
    elif all(map(_CODE.fullmatch, args.words)):
        chosen = [rule_of(code) for code in args.words]
        text = explaining.explain_json(chosen) if json else "\n".join(map(explaining.explain, chosen))
    else:
        meanings, hits = explaining.meanings(phrase), explaining.search(rules(), phrase)
        if not meanings and not hits:
            raise UsageError(phrase, "no rule speaks of it", "Try other words; `trtforensics explain` lists all codes")
        if json:
            text = explaining.explain_json((hit.rule for hit in hits), meanings)
        else:
            text = explaining.explain_meanings(meanings, hits) if meanings else explaining.list_hits(hits)
    streams.print_result(text)
    return ExitCode.OK
