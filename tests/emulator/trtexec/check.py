"""A check of an engine of the emulator: it fails if the hidden culprits are in it.

    python -m tests.emulator.trtexec.check probe.engine --culprits hidden.json

``hidden.json`` holds sets of conditions (see `tests.emulator.engine.files.present`): a set is in the engine if all of
its conditions hold. Exit status 0: none is (the engine is good), 1: one is, 125: there is no engine of ours to look at.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.emulator.engine import chances, faults
from tests.emulator.engine.files import BadFile, present, read_engine, read_sets
from tests.emulator.engine.kernels import dice

if TYPE_CHECKING:
    from collections.abc import Sequence

GOOD, BAD, NO_ENGINE = 0, 1, 125


def main(arguments: Sequence[str] | None = None) -> int:
    """Check; return the exit status."""
    options = _parser().parse_args(arguments)
    random = dice("check", chances.luck(options))
    faults.strike(faults.from_arguments(options, random.random()))
    time.sleep(options.seconds)
    try:
        engine = read_engine(Path(options.engine).read_bytes())
    except (OSError, BadFile) as error:
        print(f"cannot check {options.engine}: {error}", file=sys.stderr)
        return NO_ENGINE
    draw = float(engine["luck"]) if options.per == "build" else random.random()
    bad = present(engine, read_sets(options.culprits)) and draw < options.shown
    bad ^= random.random() < options.flip
    print(f"{'FAILED' if bad else 'PASSED'} | Difference is {'outside' if bad else 'within'} tolerance")
    return BAD if bad else GOOD


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="check", description=__doc__, allow_abbrev=False)
    parser.add_argument("engine")
    parser.add_argument("--culprits", required=True, metavar="FILE", help="the hidden sets")
    parser.add_argument("--flip", type=float, default=0.0, help="how often a verdict is the wrong one")
    parser.add_argument("--shown", type=float, default=1.0, help="how often a culprit does its harm")
    parser.add_argument(
        "--per", choices=("check", "build"), default="check", help="what decides that: each check, or each build"
    )
    chances.add_arguments(parser)
    parser.add_argument("--seconds", type=float, default=0.0, help="how long the check takes")
    faults.add_arguments(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
