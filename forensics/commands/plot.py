"""``trtforensics plot``: pictures of an engine's times, memory and tuning, and of two engines side by side."""

from argparse import Namespace
from pathlib import PurePath

from trtforensics.console.diagnostics import remark
from trtforensics.console.output import form_of, write_bytes, write_text
from trtforensics.console.progress import ProgressLine
from trtforensics.engines.joining import load_joined
from trtforensics.errors import UsageError
from trtforensics.plots.engine_figures import NEEDS, figures_of, figures_of_two, named
from trtforensics.plots.figure import Figure, to_csv, to_html, to_png, to_svg
from trtforensics.plots.times_figures import figures_of_times
from trtforensics.sources.build_log import keep_sources

_ENDINGS = (".html", ".svg", ".png")


def run(args: Namespace) -> int:
    """Draw the figures."""
    ending = form_of(args.output, {ending: ending for ending in _ENDINGS})
    single = ending != ".html"
    if single and len(args.of or ()) > 1:
        raise UsageError(args.output, "holds one figure", "Name an .html file for several")
    table = str(PurePath(args.output).with_suffix(".csv"))
    for output in (args.output, *([table] if single else [])):
        keep_sources([*args.sources, *args.against], output)
    figures = _figures(args)
    if not single:
        names = [PurePath(sources[0]).name for sources in (args.sources, args.against) if sources]
        write_text(args.output, to_html(figures, " against ".join(names)))
    else:
        drawn = to_svg(figures[0]).encode() if ending == ".svg" else to_png(figures[0], args.output)
        write_bytes(args.output, drawn)
        write_text(table, to_csv(figures[0]))
    written = figures[:1] if single else figures
    remark(f"{args.output}: {', '.join(figure.name for figure in written)}", quiet=args.quiet)
    return 0


def _figures(args: Namespace) -> list[Figure]:
    """Return the figures that were asked for, or all that the files give."""
    with ProgressLine(quiet=args.quiet) as progress:
        joined = load_joined(args.sources, max_bytes=args.max_bytes, on_progress=progress)
        other = load_joined(args.against, max_bytes=args.max_bytes, on_progress=progress) if args.against else None
    made: list[Figure] = []
    if other is not None:
        made += figures_of_two(joined.log, other.log)
    both = [joined, *([other] if other is not None else [])]
    timed = figures_of_times([file for engine in both for file in engine.times_files])
    if joined.log.builds or args.build is not None or not timed:
        made += figures_of(joined.engine(args.build))
    made += timed
    wanted = args.of or [figure.name for figure in made]
    if not wanted:
        raise UsageError(args.sources[0], "gives no figure", f"Figures need, for example, {NEEDS['layers']}")
    return [named(made, name, args.sources[0]) for name in wanted]
