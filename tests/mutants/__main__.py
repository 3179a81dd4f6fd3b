"""Change the product here and there, and see which tests notice: `python -m tests.mutants --count 60 --seed 31`.

Lines are drawn evenly from the product, and one change from those of the line. The unit tests of the module run first,
then all fast ones, then, with `--slow`, the slow ones, each until the first that fails. With `--coverage` the fast ones
run once before, and for a mutant only those that run its line. Prints a row a mutant, and ends with status 1 if one was
noticed by none.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.mutants.operators import Mutant, mutants
from tests.mutants.running import Copy
from tests.support.repository import PRODUCT, files_of, label

if TYPE_CHECKING:
    from collections.abc import Iterator


def drawn(count: int, seed: int) -> Iterator[tuple[Path, Mutant]]:
    """Give changes of lines that are drawn evenly from the product, no line twice."""
    paths = sorted({path for folder in PRODUCT.values() for path in files_of(folder) if path.suffix == ".py"})
    sources = {path: path.read_bytes() for path in paths}
    lines = [(path, line) for path, source in sources.items() for line in range(1, source.count(b"\n") + 1)]
    chance = random.Random(seed)  # noqa: S311 - the same draw for the same seed
    chance.shuffle(lines)
    for path, line in lines:
        changes = mutants(sources[path], line)
        if changes and count:
            count -= 1
            yield path, chance.choice(changes)
        if not count:
            return


def main() -> int:
    """Try mutants, and print a row for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--first", type=int, default=1, help="go on with this one of the mutants drawn")
    parser.add_argument("--near", action="store_true", help="run the unit tests of the module only")
    parser.add_argument("--slow", action="store_true", help="try what the fast tests do not notice on the slow ones")
    parser.add_argument("--coverage", action="store_true", help="run only the fast tests that run the line")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    arguments = parser.parse_args()
    chosen = list(drawn(arguments.count, arguments.seed))[arguments.first - 1 :]
    lost = 0
    print("| mutant | before | after | noticed by | s |\n|---|---|---|---|---:|")
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = None if arguments.list else Copy(Path(folder))
        covering = copy.tests_by_line() if copy and arguments.coverage else {}
        wide = ["slow"] if arguments.slow else []
        for path, mutant in chosen:
            row = f"| {label(path)}:{mutant.line} | `{_cell(mutant.before)}` | `{_cell(mutant.after)}` |"
            if copy is None:
                print(row)
                continue
            ran = covering.get(label(path), {})
            tests = ran.get(mutant.line, frozenset()) - {""} or frozenset().union(*ran.values()) - {""}
            trial = copy.trial(path, mutant, tests, tiers=[] if arguments.near else ["fast", *wide])
            lost += trial.killed_by == "none"
            print(f"{row} {trial.killed_by} | {trial.seconds:.0f} |", flush=True)
    return bool(lost)


def _cell(text: str) -> str:
    short = " ".join(text.split()).replace("|", "\\|")
    return short if len(short) <= 60 else f"{short[:59]}…"


if __name__ == "__main__":
    sys.exit(main())
