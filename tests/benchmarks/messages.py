"""How many of the messages that public sources can print the report explains: ``python -m tests.benchmarks.messages``.

The folder holds ``SOURCE/RELEASE/…`` as :mod:`tests.benchmarks.message_forms` says. Each form is one small log. It is

- *own*: a rule for this message alone speaks;
- *class*: a rule for such messages speaks, with the message's words and values in the title;
- *passed*: the message only passes an error on, and the report says so: below an error it follows from that error;
- *general*: a rule for such messages speaks, and says only that something failed (TF940);
- *repeated*: only a rule for any error speaks (TF615, TF616, TF716, TF718 …), or a class without the message's values;
- *none*: nothing does.

``--every N`` judges each N-th form of a source, ``--show WORD`` prints forms that came out so.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.benchmarks.message_forms import Form, forms
from trtforensics.findings.finding import Severity
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.findings.finding import Finding

GENERAL = {
    *("TF108", "TF146", "TF151", "TF162", "TF163", "TF614", "TF615", "TF616", "TF622", "TF624", "TF664"),
    *("TF702", "TF705", "TF716", "TF717", "TF718"),
}
"""Rules for errors of any sort: what they say is what the message says."""
CLASSES = (*(f"TF{number}" for number in range(911, 945)), "TF6040")
"""The codes of rules for classes of messages."""
_OPENING = "[04/05/2026-06:07:08] [I] === Device Information ==="
"""What shows that the text is of a program with TensorRT."""
PASSING = {"TF162", "TF664", "TF717", "TF918"}
"""Rules that say that the reason is an error before the message."""
_CAUSE = "[04/05/2026-06:07:09] [E] Error[4]: Error Code 4: Internal Error (neck.cat_2: concat axes differ: 20 and 40)"
"""An error that another message may pass on."""
_OF_THE_LOG = {"TF702", "TF705"}
OUTCOMES = ("own", "class", "passed", "general", "repeated", "none")


def reported(form: Form, folder: Path, above: str = "") -> Sequence[Finding]:
    """Return the findings on a form, below another line if one is given."""
    path = folder / "build.log"
    path.write_text("\n".join(filter(None, (_OPENING, above, form.text, ""))) + "\n", encoding="utf-8")
    log = read_log(str(path), max_bytes=1 << 30, on_progress=lambda _: None)
    return judge(Inputs([log]), Suppression()).findings


def passes_on(form: Form, folder: Path) -> bool:
    """Whether a report says that a form follows from an error above it."""
    found = reported(form, folder, _CAUSE)
    roots = [finding for finding in found if finding.consequence_of is None and finding.severity is not Severity.NOTE]
    followers = [finding for finding in found if finding.consequence_of is not None]
    return [finding.line for finding in roots] == [2] and any(finding.code in PASSING for finding in followers)


def outcome(form: Form, found: Sequence[Finding], folder: Path) -> str:
    """Return how a report takes a form."""
    if any(finding.code not in GENERAL and finding.code not in CLASSES for finding in found):
        return "own"
    classes = [finding for finding in found if finding.code in CLASSES]
    whole = [each for each in classes if all(value in each.title for value in form.values if len(form.text) < 400)]
    if any(not each.general for each in whole):
        return "class"
    if any(finding.code in PASSING for finding in found) and passes_on(form, folder):
        return "passed"
    if whole:
        return "general"
    return "repeated" if any(finding.code not in _OF_THE_LOG for finding in found) else "none"


def main() -> None:
    """Judge the forms and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--show", choices=OUTCOMES)
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    seen: Counter[str] = Counter()
    with TemporaryDirectory() as scratch:
        for form in forms(options.folder):
            seen[form.source] += 1
            if seen[form.source] % options.every:
                continue
            came = outcome(form, reported(form, Path(scratch)), Path(scratch))
            counts.setdefault(form.source, Counter())[came] += 1
            if came == options.show:
                print(f"{form.source} {form.release}: {form.text.splitlines()[-1][:300]}")
    print(f"{'source':24}{'forms':>7}" + "".join(f"{name:>10}" for name in OUTCOMES) + f"{'explained':>11}")
    for source, count in sorted(counts.items()):
        total = count.total()
        shares = "".join(f"{count[name]:10}" for name in OUTCOMES)
        print(f"{source:24}{total:7}{shares}{(count['own'] + count['class'] + count['passed']) / total:11.1%}")


if __name__ == "__main__":
    main()
