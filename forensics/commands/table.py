"""``trtforensics table``: what is known of a build as rows and columns."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from trtforensics.engines.joining import JoinedSources
    from trtforensics.tables.columns import Table

EXAMPLE = """examples:
  trtforensics table build.log                                     # the engine's layers as CSV
  trtforensics table layers.json profile.json --sort=-time_ms --columns layer,type,time_ms,share
  trtforensics table build.log --filter 'type:half time>0.05 margin<2% -reformat' --format markdown
  trtforensics table build.log --of candidates -o candidates.parquet"""

TABLES = ("layers", "choices", "candidates", "fusions", "profile", "messages", "findings", "cache-keys")
_FORMS = ("csv", "markdown", "json", "parquet")
_ENDINGS = {".csv": "csv", ".md": "markdown", ".json": "json", ".parquet": "parquet"}


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of ``table``."""
    from trtforensics.sources.kinds import Kind, add_kind_argument

    parser.epilog = EXAMPLE
    what = "a build log, engine-layer JSON, a profile, an ONNX model; several are of one engine and are joined"
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help=what)
    parser.add_argument("--of", choices=TABLES, default="layers", metavar="WHAT", help=f"{', '.join(TABLES)}")
    form = f"{', '.join(_FORMS)} (default: by the ending of -o, else csv)"
    parser.add_argument("--format", choices=_FORMS, metavar="FORM", help=form)
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument("--columns", metavar="NAMES", help="the columns to write, with commas between (default: all)")
    parser.add_argument(
        "--sort", metavar="NAMES", help="columns to sort by; -NAME: largest first, as in --sort=-time_ms"
    )
    parser.add_argument("--filter", metavar="EXPR", help="keep rows, as 'type:half time>0.05 margin<2%% -reformat'")
    parser.add_argument("--build", type=int, metavar="N", help="of this build only, from 1 (default: of every build)")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of to stdout, whole or not at all")
    add_kind_argument(parser, (Kind.BUILD_LOG, Kind.LAYER_INFO, Kind.PROFILE, Kind.TIMES))


def run(args: Namespace) -> int:
    """Join the sources and print the table.

    Raises:
        ForensicsError: A source cannot be used, a column or a filter does not fit, or the table cannot be written.
    """
    from trtforensics.console import streams
    from trtforensics.console.output import write_bytes, write_pieces
    from trtforensics.console.progress import ProgressLine
    from trtforensics.engines.joining import load_joined
    from trtforensics.errors import UsageError
    from trtforensics.sources.build_log import keep_sources
    from trtforensics.sources.kinds import Kind
    from trtforensics.tables import forms

    form = args.format or _ENDINGS.get(PurePath(args.output or "").suffix.lower(), "csv")
    if args.output is not None:
        keep_sources(args.sources, args.output)
    elif form in forms.BINARY_FORMS:
        raise UsageError(form, "is no text for a terminal or a pipe", "Name a file with `-o`")
    with ProgressLine(quiet=args.quiet) as progress:
        kind = Kind(args.kind) if args.kind else None
        joined = load_joined(args.sources, kind=kind, max_bytes=args.max_bytes, on_progress=progress)
    table = _shaped(_table(args, joined), args)
    _say_unjoined(args, joined)
    if form in forms.BINARY_FORMS:
        write_bytes(args.output, forms.to_parquet(table))
    elif args.output is not None:
        write_pieces(args.output, forms.in_pieces(table, form))
    else:
        streams.print_pieces(forms.in_pieces(table, form))
    return 0


def _shaped(table: Table, args: Namespace) -> Table:
    if args.filter:
        table = table.filtered(args.filter)
    if args.sort:
        table = table.sorted_by(args.sort.split(","))
    return table.selected(args.columns.split(",")) if args.columns else table


def _say_unjoined(args: Namespace, joined: JoinedSources) -> None:
    from trtforensics.console import streams
    from trtforensics.console.terminal import visible

    if not args.quiet:
        for one in joined.unjoined:
            streams.tell(f"trtforensics: note: {visible(str(one))}\n")


def _table(args: Namespace, joined: JoinedSources) -> Table:
    from trtforensics.tables import log_tables
    from trtforensics.tables.layer_table import layer_table

    builds = [joined.build(args.build)] if args.build is not None else list(joined.log.builds)
    if args.of == "layers":
        return layer_table(builds, joined.model)
    if args.of == "findings":
        return _findings(joined, {build.index + 1 for build in builds}, args.max_bytes)
    tables: dict[str, Callable[..., Table]] = {
        "choices": log_tables.choice_table,
        "candidates": log_tables.candidate_table,
        "fusions": log_tables.fusion_table,
        "profile": log_tables.profile_table,
        "messages": log_tables.message_table,
        "cache-keys": log_tables.cache_key_table,
    }
    return tables[args.of](builds)


def _findings(joined: JoinedSources, builds: set[int], max_bytes: int) -> Table:
    """Return the findings about builds, with the lines that they cite."""
    from operator import itemgetter

    from trtforensics.findings.engine import Inputs, judge
    from trtforensics.findings.forms.document import finding_document
    from trtforensics.findings.suppression import Suppression
    from trtforensics.sources.quoting import ReadLog
    from trtforensics.tables.columns import Sort, Table, TableColumn

    read = ReadLog(joined.log, joined.log.source.path, max_bytes)
    info = joined.layer_files[-1] if joined.layer_files else None
    report = judge(Inputs([read], model=joined.model, engine_info=info), Suppression())
    numbered = Sort.INTEGER
    columns = (
        *(TableColumn(name, itemgetter(name)) for name in ("code", "severity", "title", "cause", "confidence")),
        TableColumn("build", lambda row: row["build"] + 1, numbered),
        TableColumn("layers", lambda row: tuple(row["layers"]), Sort.TEXTS, aliases=("layer", "name")),
        TableColumn("onnx_nodes", lambda row: tuple(row["onnx_nodes"]), Sort.TEXTS, aliases=("fused",)),
        TableColumn("consequence_of", itemgetter("consequence_of"), numbered),
        TableColumn("fixes", lambda row: tuple(row["fixes"]), Sort.TEXTS, plain=False),
        TableColumn("next", lambda row: tuple(one["command"] or one["what"] for one in row["next"]), Sort.TEXTS),
        TableColumn("source", lambda row: row["evidence"][0]["file"], plain=False),
        TableColumn("line", lambda row: row["evidence"][0]["line"], numbered),
        TableColumn("text", lambda row: row["evidence"][0]["text"]),
    )
    rows = [finding_document(finding) for finding in report.findings]
    return Table(columns, [row for row in rows if builds & {number + 1 for number in row["builds"]}])
