"""``trtforensics repair``: rewrites what TensorRT stumbles over, equal to the original."""

from argparse import Namespace
from pathlib import Path

from trtforensics.bisection.search_options import SampleOptions
from trtforensics.console import streams
from trtforensics.console.arguments import read_options
from trtforensics.console.diagnostics import ExitCode
from trtforensics.console.output import write_bytes
from trtforensics.errors import UsageError
from trtforensics.render.json_text import dumps
from trtforensics.repairs.repairing import REPAIRS, repair


def run(args: Namespace) -> int:
    """Repair, compare, write, and print what was changed."""
    if not args.repairs:
        options = ", ".join(f"--{name}" for name in REPAIRS)
        raise UsageError("repair", "has nothing to do", f"Give one or several of {options}")
    if Path(args.output).resolve() == Path(args.model).resolve():
        raise UsageError("-o", f"{args.output} is the model itself", "Name another file")
    model, answer = repair(args.model, args.repairs, read_options(args, SampleOptions).samples_of)
    write_bytes(args.output, model.SerializeToString())
    streams.print_result(f"{dumps(answer.document(), indent=1)}\n" if args.json else answer.text(args.output))
    return ExitCode.NO if answer.equality.largest_difference is None else ExitCode.OK
