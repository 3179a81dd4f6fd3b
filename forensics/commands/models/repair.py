"""``trtforensics repair``: rewrites what TensorRT stumbles over, equal to the original."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.bisection.search_options import SampleOptions
from trtforensics.console import streams
from trtforensics.console.arguments import read_options
from trtforensics.console.diagnostics import ExitCode
from trtforensics.console.output import write_bytes
from trtforensics.console.terminal import visible
from trtforensics.errors import UsageError
from trtforensics.render.json_text import dumps
from trtforensics.repairs.repairing import (
    REPAIRS,
    Equality,
    compare,
    extreme_samples,
    note_data,
    read_original,
    repaired,
    require_named,
)

if TYPE_CHECKING:
    from argparse import Namespace

    from trtforensics.repairs.graph import RepairedGraph


SCHEMA = 1


def run(args: Namespace) -> int:
    """Repair, compare, write, and print what was changed."""
    from trtforensics.onnx_models.reading import prepare

    if not args.repairs:
        options = ", ".join(f"--{name}" for name in REPAIRS)
        raise UsageError("repair", "has nothing to do", f"Give one or several of {options}")
    if Path(args.output).resolve() == Path(args.model).resolve():
        raise UsageError("-o", f"{args.output} is the model itself", "Name another file")
    original = read_original(args.model)
    samples = read_options(args, SampleOptions).samples_of(prepare(args.model).proto).samples
    result = repaired(original.proto, [name for name in REPAIRS if name in args.repairs])
    require_named(original.proto, result, args.model)
    extremes = extreme_samples(original.proto, samples[0])
    comparison = compare(original.proto, result.model, samples, args.model, extremes)
    note_data(result, original.external)
    write_bytes(args.output, result.model.SerializeToString())
    streams.print_result(_document(result, comparison) if args.json else _text(result, comparison, args.output))
    return ExitCode.NO if comparison.difference is None else ExitCode.OK


def _document(result: RepairedGraph, comparison: Equality) -> str:
    document = {
        "schema": SCHEMA,
        "kind": "repair",
        "changes": [{"repair": each.repair, "node": each.node, "what": each.what} for each in result.changes],
        "largest_difference": comparison.difference,
        "samples": comparison.samples,
        "extremes": list(comparison.extremes),
        "not_run": list(comparison.not_run),
        "not_compared": comparison.why or None,
    }
    return dumps(document, indent=1) + "\n"


def _text(result: RepairedGraph, comparison: Equality, output: str) -> str:
    from trtforensics.onnx_models.graphs import graphs

    lines = [f"{each.repair}: {each.node}: {each.what}" for each in result.changes]
    count = len(result.changes)
    lines.append(f"{output}: {count or 'no'} {'change' if count == 1 else 'changes'}.")
    if inner := sum(len(graph.node) for graph in graphs(result.model.graph)) - len(result.model.graph.node):
        stay = "1 node stays" if inner == 1 else f"{inner:,} nodes stay"
        lines.append(f"Only the main graph is repaired: inside of If, Loop or Scan, {stay} as before.")
    count = comparison.samples + len(comparison.extremes)
    samples = f"{count} {'sample' if count == 1 else 'samples'}"
    if comparison.difference is None:
        lines.append(f"Not compared with the original: {comparison.why}.")
    elif comparison.difference:
        lines.append(f"Outputs differ by at most {comparison.difference:.1g} of the largest magnitude on {samples}.")
    else:
        lines.append(f"Outputs are the original's bit for bit on {samples}.")
    if comparison.extremes:
        lines.append(f"Extreme samples are among them: {', '.join(comparison.extremes)}.")
    if comparison.not_run:
        lines.append(f"Not compared, since the original does not run on it: {', '.join(comparison.not_run)}.")
    return "".join(f"{visible(line)}\n" for line in lines)
