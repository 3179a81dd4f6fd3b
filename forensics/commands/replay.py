"""``trtforensics replay``: show, check, convert and mix tactic replays, without TensorRT or Polygraphy."""

import sys
from argparse import Namespace
from collections.abc import Iterable

from trtforensics.commands.parse import read_log, shown_replay
from trtforensics.console import streams
from trtforensics.console.diagnostics import ExitCode
from trtforensics.console.terminal import wants_colour
from trtforensics.engines.joining import select_build
from trtforensics.errors import NotABuildLogError, UsageError
from trtforensics.model.log import BuildLog
from trtforensics.model.replay import ProblemSeverity, ReplayForm
from trtforensics.render.json_text import JsonObject
from trtforensics.replay import report
from trtforensics.replay.edges import DataflowNode, nodes_of_build, nodes_of_layer_info, nodes_of_model, operators_of
from trtforensics.replay.from_log import LeftOut, Offers, replay_of
from trtforensics.replay.lint import Lint
from trtforensics.replay.mixing import Mixer, across_cut, check_layers
from trtforensics.replay.writing import converted, to_text
from trtforensics.sources.build_log import keep_sources
from trtforensics.sources.kinds import Kind, kind_of
from trtforensics.sources.replay import ReplayFile, load_replay


def run(args: Namespace) -> int:
    """Run a subcommand."""
    return {"show": _show, "lint": _lint, "convert": _convert, "mix": _mix}[args.action](args)


def _show(args: Namespace) -> int:
    streams.print_result(shown_replay(args.file, args, colour=True))
    return 0


def _lint(args: Namespace) -> int:
    file = ReplayFile(args.file, max_bytes=args.max_bytes)
    lint = Lint(file.replay, file.place)
    context = _ReplayContext(args)
    if context.build is not None:
        lint.against_build(context.build, args.log)
    if context.operators:
        lint.against_model(context.operators)
    lint.against_edges(context.nodes(entry.layer for entry in file.replay.entries))
    against = [path for path in (args.log, args.onnx, args.layer_info) if path is not None]
    if args.json:
        text = report.to_json(report.lint_document(lint, against))
    else:
        text = report.lint_text(lint, against, colour=wants_colour(sys.stdout))
    streams.print_result(text)
    return ExitCode.NO if any(each.severity is ProblemSeverity.ERROR for each in lint.problems) else ExitCode.OK


def _convert(args: Namespace) -> int:
    _check_output(args, [args.file, args.log])
    log = _log_to_convert(args)
    left_out: tuple[LeftOut, ...] = ()
    offers = None
    if log is not None:
        build = select_build(log, args.build)
        replay, left_out = replay_of(build, log.source)
        offers = Offers(build)
    else:
        replay = load_replay(args.file, max_bytes=args.max_bytes)
        if args.log is not None:
            offers = Offers(select_build(read_log(args, [args.log]), args.build))
    form = ReplayForm(args.to)
    text = to_text(converted(replay, form, offers), form)
    _write(args, text, report.convert_document(args.output or "", replay, form, left_out))
    if left_out and not args.quiet:
        streams.tell(report.left_out_text(left_out))
    return 0


def _mix(args: Namespace) -> int:
    _check_output(args, [args.good, args.bad, args.log])
    good, bad = (load_replay(path, max_bytes=args.max_bytes) for path in (args.good, args.bad))
    check_layers(bad, args.take)
    mixer = Mixer(good, bad)
    entries = mixer.entries(set(args.take))
    cut = across_cut(_ReplayContext(args).nodes(entry.layer for entry in entries), entries, set(args.take))
    _write(args, mixer.text(set(args.take)), report.mix_document(args.output or "", mixer.form, args.take, cut))
    if cut and not args.quiet:
        streams.tell(report.cut_text(cut))
    return 0


class _ReplayContext:
    """What ``--log``, ``--onnx`` and ``--layer-info`` say about the network of a replay."""

    def __init__(self, args: Namespace) -> None:
        self.build = select_build(read_log(args, [args.log]), args.build) if args.log is not None else None
        self.operators = operators_of(args.onnx) if args.onnx is not None else ()
        self._layer_info: tuple[DataflowNode, ...] = ()
        if args.layer_info is not None:
            self._layer_info = nodes_of_layer_info(args.layer_info, max_bytes=args.max_bytes)

    def nodes(self, layers: Iterable[str]) -> tuple[DataflowNode, ...]:
        """Return the layers with their tensors, from the most exact source that the user gave."""
        of_build = nodes_of_build(self.build) if self.build is not None else ()
        return self._layer_info or of_build or nodes_of_model(self.operators, layers)


def _log_to_convert(args: Namespace) -> BuildLog | None:
    """Return FILE as a build log; None where it is not one."""
    if args.kind is not None:
        return read_log(args, [args.file]) if args.kind == Kind.BUILD_LOG else None
    if args.file == "-" or kind_of(args.file) is not Kind.BUILD_LOG:
        return None
    try:
        return read_log(args, [args.file])
    except NotABuildLogError:
        return None  # reading it as a replay reports what is wrong


def _check_output(args: Namespace, sources: list[str | None]) -> None:
    keep_sources(sources, args.output)
    if args.json and args.output is None:
        raise UsageError("--json", "says what was written, and the replay itself goes to stdout", "Name OUT with `-o`")


def _write(args: Namespace, text: str, document: JsonObject) -> None:
    streams.deliver((text,), args.output)
    if args.json:
        streams.print_result(report.to_json(document))
