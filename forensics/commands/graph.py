"""``trtforensics graph``: write the graph of a build as JSON, GraphML or DOT."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "example: trtforensics graph build.log -o build.graphml"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of ``graph``."""
    parser.epilog = EXAMPLE
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="a build log; several are parts of one build")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT",
        help="the file to write; its ending picks the form: .json (networkx node-link), .graphml, .dot",
    )
    parser.add_argument(
        "--build",
        type=int,
        metavar="N",
        help="which build of the log, from 1 (default: the last one with engine layers, else the last)",
    )


def run(args: Namespace) -> int:
    """Write the graph and print its size to stderr.

    Raises:
        SourceError: The source cannot be read.
        NotABuildLogError: It is not a build log.
        UsageError: The ending names no form, the log has no such build, or OUT is the source itself.
        OutputError: OUT cannot be written.
    """
    # Imported here so that no other command waits for networkx.
    from trtforensics.console import streams
    from trtforensics.console.output import write_bytes
    from trtforensics.console.progress import ProgressLine
    from trtforensics.console.terminal import visible
    from trtforensics.graph.build import build_graph, select_build
    from trtforensics.graph.export import export, form_of
    from trtforensics.sources.build_log import keep_sources, load_build_log

    form = form_of(args.output)
    keep_sources(args.sources, args.output)
    with ProgressLine(quiet=args.quiet) as progress:
        log = load_build_log(args.sources, max_bytes=args.max_bytes, on_progress=progress)
    graph = build_graph(select_build(log, args.build)).graph
    write_bytes(args.output, export(graph, form))
    if not args.quiet:
        streams.tell(f"{visible(args.output)}: {len(graph)} nodes, {graph.number_of_edges()} edges\n")
    return 0
