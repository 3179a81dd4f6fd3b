"""``trtforensics parse``: a build log, replay, timing cache or engine-layer file as text or JSON."""

import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence

from trtforensics.console.arguments import wants_json
from trtforensics.console.progress import ProgressLine
from trtforensics.console.streams import deliver
from trtforensics.console.terminal import wants_colour
from trtforensics.errors import NotABuildLogError, UsageError
from trtforensics.model.log import BuildLog
from trtforensics.sources.kinds import Kind, is_engine_file, kind_of


def run(args: Namespace) -> int:
    """Parse the sources and print the summary or the JSON document."""
    from trtforensics.sources.build_log import keep_sources

    keep_sources(args.sources, args.output)
    args.json = wants_json(args)
    readers = {
        Kind.REPLAY: lambda args: shown_replay(
            _only_source(args, "a replay is one file"), args, colour=not args.output
        ),
        Kind.LAYER_INFO: _engine,
        Kind.PROFILE: _engine,
        Kind.TIMES: _times,
        Kind.TIMING_CACHE: _timing_cache,
    }
    kind = _kind(args)
    texts = (readers[kind](args),) if kind in readers else _build_log(args)
    deliver(texts, args.output)
    return 0


def _kind(args: Namespace) -> Kind:
    """Return the kind of the sources; several are parts of a build log, unless all are engine-layer or profile JSON."""
    if args.kind:
        return Kind(args.kind)
    if len(args.sources) == 1:
        return kind_of(args.sources[0])
    from pathlib import Path

    kinds = {kind_of(path) for path in args.sources if Path(path).is_file()}
    return Kind.LAYER_INFO if kinds and kinds <= {Kind.LAYER_INFO, Kind.PROFILE} else Kind.BUILD_LOG


def _build_log(args: Namespace) -> Iterable[str]:
    log = _joined_log(args) if len(args.sources) > 1 else read_log(args, args.sources, excerpt=True)
    if args.json:
        from trtforensics.render.log_json import in_pieces

        return in_pieces(log)
    from trtforensics.render.log_text import summarise

    return (summarise(log, colour=args.output is None and wants_colour(sys.stdout)),)


def read_log(args: Namespace, paths: Sequence[str], *, excerpt: bool = False) -> BuildLog:
    """Read the parts of a log, with progress on stderr.

    An ``excerpt`` may lack TensorRT's prefix: it names TensorRT and states a program, an outcome or another fact.
    """
    from trtforensics.model.run import Program
    from trtforensics.sources.build_log import load_build_log

    with ProgressLine(quiet=args.quiet) as progress:
        try:
            return load_build_log(paths, max_bytes=args.max_bytes, on_progress=progress)
        except NotABuildLogError as error:
            from pathlib import Path

            from trtforensics.sources.strangers import named

            if not excerpt or named(error) is not error or not all(Path(path).is_file() for path in paths):
                raise
            log = load_build_log(paths, max_bytes=args.max_bytes, on_progress=progress, excerpt=True)
            told = (run.outcome.span or run.setting or run.program is not Program.UNKNOWN for run in log.runs)
            if any(told) or any(build.notes or build.results for build in log.builds):
                return log
            raise


def _joined_log(args: Namespace) -> BuildLog:
    from trtforensics.engines.joining import load_joined, say_unjoined

    if not any(map(is_engine_file, args.sources)):
        return read_log(args, args.sources, excerpt=True)
    with ProgressLine(quiet=args.quiet) as progress:
        joined = load_joined(args.sources, max_bytes=args.max_bytes, on_progress=progress)
    say_unjoined(joined, quiet=args.quiet)
    return joined.log


def shown_replay(path: str, args: Namespace, *, colour: bool) -> str:
    """Return a replay as text or JSON; on a terminal with ``colour``, if it is wanted there."""
    from trtforensics.replay.report import show, show_document, to_json
    from trtforensics.sources.replay import load_replay

    replay = load_replay(path, max_bytes=args.max_bytes)
    return to_json(show_document(replay)) if args.json else show(replay, colour=colour and wants_colour(sys.stdout))


def _engine(args: Namespace) -> str:
    from trtforensics.render import engine
    from trtforensics.sources.engine import load_engine_files

    files = load_engine_files(args.sources, kind=args.kind, max_bytes=args.max_bytes)
    return engine.to_json(files) if args.json else engine.summarise(files)


def _times(args: Namespace) -> str:
    from trtforensics.parsers.files.profile_json import read_times_json
    from trtforensics.parsers.text.document import read_document
    from trtforensics.render import times

    read = read_times_json(read_document(_only_source(args, "times are one file"), max_bytes=args.max_bytes))
    return times.to_json(read) if args.json else times.summarise(read)


def _timing_cache(args: Namespace) -> str:
    from trtforensics.render import cache as cache_export
    from trtforensics.sources.cache import load_timing_cache

    cache = load_timing_cache(_only_source(args, "a timing cache is one file"), max_bytes=args.max_bytes)
    return cache_export.to_json(cache) if args.json else cache_export.summarise(cache)


def _only_source(args: Namespace, rule: str) -> str:
    if len(args.sources) > 1:
        raise UsageError(" ".join(args.sources), rule, "Name one, or `diff` to compare them")
    source: str = args.sources[0]
    return source
