"""``trtforensics graph``: write the graph of a build as a picture or for other programs."""

from argparse import Namespace
from collections.abc import Iterable
from pathlib import PurePath

import networkx as nx

from trtforensics.console.counting import counted
from trtforensics.console.diagnostics import remark
from trtforensics.console.output import form_of, open_output
from trtforensics.console.progress import ProgressLine
from trtforensics.engines.joining import load_joined
from trtforensics.errors import UsageError
from trtforensics.graphs.build import BuildGraph
from trtforensics.graphs.drawing import Colouring, drawn, rendered
from trtforensics.graphs.export import GraphForm, export, without_secrets
from trtforensics.graphs.views import View, around, only, top, viewed
from trtforensics.sources.build_log import keep_sources

_HOPS = 2


def run(args: Namespace) -> int:
    """Write the graph and print its size to stderr."""
    form = form_of(args.output, {form.value: form for form in GraphForm})
    _check(args, form is GraphForm.ONNX)
    keep_sources(args.sources, args.output)
    with ProgressLine(quiet=args.quiet) as progress:
        joined = load_joined(args.sources, max_bytes=args.max_bytes, on_progress=progress)
    graph = BuildGraph(joined.engine(args.build))
    blocks: Iterable[bytes]
    if form is GraphForm.ONNX:
        if not graph.layers_by_node:
            raise UsageError(args.sources[0], "names no engine layers", "Give a verbose log or engine-layer JSON")
        from trtforensics.graphs.netron import to_onnx

        blocks, size = [to_onnx(graph)], counted(len(graph.layers_by_node), "layer")
    else:
        shown = _selected(graph, args, picture=form.drawn)
        blocks = _written(shown, args, form, graph)
        size = f"{counted(len(shown), 'node')}, {counted(shown.number_of_edges(), 'edge')}"
        if form.drawn:
            blocks = [rendered(b"".join(blocks), form.value.removeprefix("."), args.output)]
    with open_output(args.output) as sink:
        for block in blocks:
            sink.write(block)
    remark(f"{args.output}: {size}", quiet=args.quiet)
    for unjoined in joined.unjoined:
        remark(f"note: {unjoined}", quiet=args.quiet)
    return 0


def _check(args: Namespace, to_onnx: bool) -> None:  # noqa: FBT001 - of the form
    """Refuse options that go with no form or with no other option."""
    for name, value in (("--hops", args.hops), ("--top", args.top)):
        if value is not None and value < 1:
            raise UsageError(name, f"{value} is too few", "Give a number from 1")
    if args.hops is not None and args.around is None:
        raise UsageError("--hops", "says how far around what", "Name a layer: `--around LAYER`")
    if args.top is not None and args.around is not None:
        raise UsageError("--top", "is for the whole engine and goes with no --around", "Leave one of them out")
    if to_onnx and (args.view or args.around or args.top or args.filter):
        raise UsageError(
            args.output, "an .onnx file holds all engine layers", "Leave out --view, --around, --top, --filter"
        )


def _selected(graph: BuildGraph, args: Namespace, *, picture: bool) -> nx.MultiDiGraph:
    """Return the view that was asked for, or the part of it."""
    where = args.sources[0]
    selects = args.around is not None or args.top is not None or args.filter is not None
    view = View(args.view) if args.view else View.ENGINE if picture or selects else View.ALL
    shown = viewed(graph, view)
    if picture and not len(shown):
        raise UsageError(where, f"names nothing for the view {view}", f"Give another: {', '.join(View)}")
    if (args.top is not None or args.filter is not None) and view is not View.ENGINE:
        raise UsageError(
            "--view", "only the view engine has times and fields", "Leave out --view, or --top and --filter"
        )
    if args.filter is not None:
        from trtforensics.tables.layers import layer_table

        kept = layer_table([graph.engine]).filtered(args.filter).rows
        layers = tuple(graph.layers_by_node)
        shown = only(shown, {layers[row.index] for row in kept})
    if args.top is not None:
        shown = top(shown, args.top, where=where)
    if args.around is not None:
        shown = around(shown, args.around, _HOPS if args.hops is None else args.hops, where=where)
    return shown


def _written(shown: nx.MultiDiGraph, args: Namespace, form: GraphForm, graph: BuildGraph) -> Iterable[bytes]:
    """Return the document of a form in blocks; a picture's is its DOT."""
    whole = shown is graph.graph
    if not form.drawn and (form is not GraphForm.DOT or whole):
        return export(shown, form)
    version = f", TensorRT {graph.engine.build.tensorrt_version}" if graph.engine.build.tensorrt_version else ""
    title = f"{PurePath(args.sources[0]).name}{version}: {len(graph.layers_by_node)} engine layers"
    return [drawn(without_secrets(shown), Colouring(args.colour), title)]
