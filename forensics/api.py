"""What ``import trtforensics`` offers: load files about one engine, look at builds and layers, compare, report, bisect.

Every name here is public, and exported by ``trtforensics``. All errors are :class:`trtforensics.errors.ForensicsError`.
Times are in ms, sizes in bytes, tactic ids unsigned 64-bit integers, builds in the order of the log.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal

from trtforensics.console.counting import counted
from trtforensics.engines.facts import EngineFacts, LayerFacts
from trtforensics.engines.joining import JoinedSources, Unjoined, load_joined
from trtforensics.model.log import Build, BuildLog, Choice, Fusion, Message, OnnxNode
from trtforensics.render.headline import first_line, headline_of, headlines, run_lines
from trtforensics.render.markup import Records, RecordsByName, html, table, tag
from trtforensics.render.names import shortened
from trtforensics.render.time_rows import time_rows
from trtforensics.tables import forms
from trtforensics.tables.catalogue import table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from xml.etree import ElementTree as ET

    import networkx as nx

    from trtforensics.comparison.differences import Comparison
    from trtforensics.engines.alternatives import Result
    from trtforensics.engines.why import Reasons
    from trtforensics.findings.finding import Report
    from trtforensics.model.ledger import TimeLedger
    from trtforensics.model.run import Run, RunResult
    from trtforensics.model.span import SourceSpan
    from trtforensics.model.timings import Candidate, LayerTime, TacticTimings
    from trtforensics.notebook_views import FigureView
    from trtforensics.tables.table import Table

    Path = str | PathLike[str]

_LONGEST = 120
"""Characters of a name or a path in a ``repr``."""
_ROWS, _BUILDS = 20, 10
"""The most rows and builds that a notebook shows."""
_SLOWEST = ("layer", "type", "compute_precision", "time_ms", "share")


def load(*paths: Path, profile: Path | None = None, layers: Path | None = None, model: Path | None = None) -> LoadedLog:
    """Read files about one engine, and join them by the layers' names.

    ``paths`` are build logs (plain, ``.gz``, ``.zst``; several are parts of one build), engine-layer JSON, profiles,
    times and an ONNX model, as their content tells; ``profile``, ``layers`` and ``model`` too, named for readers.

    Raises:
        ForensicsError: a file cannot be read, is damaged, or is about another engine.
    """
    named = [fspath(path) for path in (*paths, profile, layers) if path is not None]
    return LoadedLog(load_joined(named, model=None if model is None else fspath(model)), tuple(named))


@dataclass(frozen=True, slots=True)
class LayerTiming:
    """How long a layer takes: ``ms`` on average, ``median_ms`` in a profile, ``share`` of all layers (0 to 1).

    Calls that are far slower than the others, such as the first one, do not count in ``ms``. ``source`` is
    ``measured`` (a profile) or ``tuned`` (the autotuner timed the layer alone).
    """

    ms: float
    source: str
    share: float | None
    median_ms: float | None


@dataclass(frozen=True)
class TableView:
    """Rows and columns, with units in the columns' names; the same tables as of ``trtforensics table``."""

    make: Callable[[], Table]

    def __repr__(self) -> str:
        return f"<table of {sum(1 for _ in self):,} rows: {shortened(', '.join(self.columns), _LONGEST)}>"

    def _repr_html_(self) -> str:
        return html(table(self.columns, self.make().values(), _ROWS))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.make().header)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Give the rows as dicts by column; what is not known is None."""
        table = self.make()
        return (dict(zip(self.columns, values, strict=True)) for values in table.values())

    def filter(self, expression: str) -> TableView:
        """Return the rows that a filter keeps, as ``type:half time>0.05 -reformat``.

        Raises:
            ForensicsError: the filter cannot be read; the error says at which column.
        """
        return TableView(lambda: self.make().filtered(expression))

    def sort(self, *columns: str) -> TableView:
        """Return the rows by columns; ``-`` before a name: largest first.

        Raises:
            ForensicsError: there is no such column.
        """
        return TableView(lambda: self.make().sorted_by(columns))

    def select(self, *columns: str) -> TableView:
        """Return the table with some of its columns.

        Raises:
            ForensicsError: there is no such column.
        """
        return TableView(lambda: self.make().selected(columns))

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is optional
        """Return a ``pandas.DataFrame`` with nullable types.

        Raises:
            ForensicsError: pandas is not installed.
        """
        return forms.to_pandas(self.make())

    def to_arrow(self) -> Any:  # noqa: ANN401 - pyarrow is optional
        """Return a ``pyarrow.Table``.

        Raises:
            ForensicsError: pyarrow is not installed (``pip install 'trtforensics[table]'``).
        """
        return forms.to_arrow(self.make())

    def to_text(self, form: Literal["csv", "markdown", "json"] = "csv") -> str:
        """Return the table as a text."""
        return "".join(forms.in_pieces(self.make(), form))


class LoadedLayer:
    """A layer of an engine. ``facts`` holds what is derived: bytes, MACs, intensity, alignment, reformats."""

    def __init__(self, facts: LayerFacts) -> None:
        self.facts = facts

    def __repr__(self) -> str:
        return f"<layer {self.facts.index}: {shortened(self.name, _LONGEST)}>"

    def _repr_html_(self) -> str:
        facts = [("computes in", self.precision), ("time", self.time and f"{self.time.ms:.4g} ms {self.time.source}")]
        facts += [("ONNX nodes", ", ".join(self.onnx_nodes)), ("why", "; ".join(self.why))]
        facts += [("stated at", str(self.span))]
        return html(tag("div", tag("p", f"{self.type} {self.name}"), table(("", ""), filter(all, facts), len(facts))))

    @property
    def name(self) -> str:
        """The layer's name, as TensorRT prints it."""
        return self.facts.name

    @property
    def type(self) -> str:
        """What it does (``Convolution``), or else how it is implemented (``CaskConvolution``)."""
        return self.facts.kind

    @property
    def precision(self) -> str | None:
        """The type that it computes in, as TensorRT spells it; None where nothing tells it."""
        return self.facts.compute_precision.type if self.facts.compute_precision else None

    @property
    def time(self) -> LayerTiming | None:
        """How long it takes; None where nothing tells it."""
        facts = self.facts
        if facts.time_ms is None or facts.time_is is None:
            return None
        return LayerTiming(facts.time_ms, facts.time_is.value, facts.share, facts.median_ms)

    @property
    def choice(self) -> Result | None:
        """The choice or the cached result that it came from; None where the log does not tell, or there is none."""
        return self.facts.choice

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The tactics that were timed for its choice, fastest first."""
        choice = self.choice
        return Records(self.facts.engine.build.candidates(choice) if isinstance(choice, Choice) else ())

    @property
    def onnx_nodes(self) -> tuple[str, ...]:
        """The ONNX nodes that were fused into it."""
        return self.facts.onnx_nodes

    @property
    def why(self) -> tuple[str, ...]:
        """Why it is as it is, most telling first."""
        return tuple(reason.text for reason in self.facts.why())

    @property
    def span(self) -> SourceSpan:
        """File, line and byte where it is printed."""
        return self.facts.span


class LoadedBuild:
    """A build of a log, or an engine of engine files. ``raw`` is the parsed record, which is not promised."""

    def __init__(self, log: LoadedLog, raw: Build) -> None:
        self.log = log
        self.raw = raw

    def __repr__(self) -> str:
        return f"<build {self.raw.index + 1} of {shortened(self.log.path, _LONGEST)}: {len(self.layers)} engine layers>"

    def _repr_html_(self) -> str:
        return html(self._element())

    def _element(self) -> ET.Element:
        """Return how it ended and where its time goes, and its slowest layers folded."""
        from trtforensics.plots.engine_figures import types  # noqa: PLC0415 - only a notebook shows it so
        from trtforensics.plots.figure import image  # noqa: PLC0415 - as above

        log = self.log.raw
        rows = [(row.label, row.cited) for row in time_rows(log, self.raw)]
        figure = types(self.engine)
        slowest = self.table().sort("-time_ms").select(*_SLOWEST)
        layers = table(slowest.columns, slowest.make().values(), _ROWS)
        folded = tag("details", tag("summary", f"{len(self.layers):,} engine layers, slowest first"), layers)
        picture = [] if figure is None else [image(figure)]
        return tag("div", tag("p", headline_of(log, self.raw).text), table(("", ""), rows, len(rows)), *picture, folded)

    @cached_property
    def engine(self) -> EngineFacts:
        """The engine's layers with their facts, and sums by kind, precision and ONNX block."""
        return EngineFacts(self.raw, self.log.path, self.log.joined.model)

    @cached_property
    def layers(self) -> tuple[LoadedLayer, ...]:
        """The engine's layers, in its order."""
        return Records(LoadedLayer(facts) for facts in self.engine.layers)

    @property
    def ledger(self) -> TimeLedger:
        """The engine's time: each unit of it once, with its basis and share."""
        return self.engine.ledger

    @property
    def reasons(self) -> Reasons:
        """Why layers are as they are, with lines."""
        return self.engine.reasons

    @property
    def choices(self) -> Sequence[Choice]:
        """One for each ``Chose`` line."""
        return Records(self.raw.choices)

    @property
    def fusions(self) -> Sequence[Fusion]:
        """What the optimiser fused."""
        return Records(self.raw.fusions)

    @property
    def onnx_nodes(self) -> Sequence[OnnxNode]:
        """The nodes that the ONNX parser read."""
        return Records(self.raw.onnx_nodes)

    @property
    def messages(self) -> Sequence[Message]:
        """Warnings and errors."""
        return Records(self.raw.messages)

    @property
    def profile(self) -> Sequence[LayerTime]:
        """The rows of the profile; empty where there is none."""
        return Records(self.raw.profile)

    @property
    def results(self) -> Mapping[str, RunResult]:
        """What the run came to, by a name with its unit (``latency_ms``, ``throughput_qps``)."""
        return RecordsByName({result.key: result for result in self.raw.results})

    @property
    def timings(self) -> TacticTimings:
        """Every timed tactic, in numpy columns sorted by line."""
        return self.raw.timings

    @property
    def tensorrt_version(self) -> str | None:
        """The version, where the log states it."""
        return self.raw.tensorrt_version

    @property
    def outcome(self) -> str:
        """How it ended: ``passed``, ``failed``, ``truncated`` or ``unknown``."""
        return self.raw.outcome.value

    def option(self, block: str, name: str) -> str | None:
        """Return an option as printed: ``build.option("build", "Precision")``; None where it is not printed."""
        return self.raw.option(block, name)

    def table(self, of: str = "layers") -> TableView:
        """Return ``layers``, ``choices``, ``candidates``, ``results``, ``options`` … of the build.

        Raises:
            ForensicsError: there is no such table.
        """
        table_of(of, [])
        return TableView(lambda: table_of(of, [self.engine]))

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is optional
        """Return the table of layers as a ``pandas.DataFrame``."""
        return self.table().to_pandas()

    def to_arrow(self) -> Any:  # noqa: ANN401 - pyarrow is optional
        """Return the table of layers as a ``pyarrow.Table``."""
        return self.table().to_arrow()


class LoadedLog:
    """What :func:`load` read. ``paths`` are the files; ``joined`` is the record made of them, which is not promised."""

    def __init__(self, joined: JoinedSources, paths: tuple[str, ...]) -> None:
        self.joined = joined
        self.paths = paths

    def __repr__(self) -> str:
        return f"<{shortened(self.path, _LONGEST)}: {counted(len(self.builds), 'build')}>"

    def _repr_html_(self) -> str:
        runs = [tag("li", line) for line in run_lines(headlines(self.raw))]
        builds = [tag("details", tag("summary", repr(build)[1:-1]), build._element()) for build in self.builds]  # noqa: SLF001
        for build in builds[:1]:
            build.set("open", "")
        return html(tag("div", tag("p", self.headline), *([tag("ul", *runs)] if runs else []), *builds[:_BUILDS]))

    @property
    def path(self) -> str:
        """The name of the log or of the first engine file."""
        return self.joined.log.source.path

    @property
    def raw(self) -> BuildLog:
        """The parsed record, which is not promised."""
        return self.joined.log

    @cached_property
    def builds(self) -> tuple[LoadedBuild, ...]:
        """The builds of the log, or the engines of engine files."""
        return Records(LoadedBuild(self, build) for build in self.joined.log.builds)

    @property
    def runs(self) -> Sequence[Run]:
        """The runs of the log, each with its program, outcome, phases and results; ``builds`` are places in builds."""
        return Records(self.raw.runs)

    @property
    def headline(self) -> str:
        """How the run ended, of what, on what, how fast; of several runs, how many ended how."""
        return first_line(headlines(self.raw))

    @property
    def unjoined(self) -> tuple[Unjoined, ...]:
        """Rows of the files that match no layer."""
        return self.joined.unjoined

    def table(self, of: str = "layers") -> TableView:
        """Return a table of all builds, by one of the words of ``trtforensics table --of``.

        Raises:
            ForensicsError: there is no such table, or a file cannot be read again to quote its lines.
        """
        from trtforensics.datasets.judged_sources import JudgedSource  # noqa: PLC0415 - for this call only

        source = JudgedSource.of(self.joined)
        source.table(of)
        return TableView(lambda: source.table(of))


def graph(build: LoadedBuild) -> nx.MultiDiGraph:
    """Return the graph of a build: ONNX nodes, network layers, engine layers, tensors; node ids carry their kind."""
    from trtforensics.graphs.build import BuildGraph  # noqa: PLC0415 - networkx is slow to import

    return BuildGraph(build.engine).graph


def diff(good: LoadedLog | Path, bad: LoadedLog | Path) -> Comparison:
    """Compare two sides: logs that were loaded, or paths of logs, engine files, replays, caches or directories.

    Raises:
        ForensicsError: a file cannot be used.
    """
    from trtforensics.comparison.compare import compare  # noqa: PLC0415 - for this call only
    from trtforensics.comparison.loading import load_side, with_files  # noqa: PLC0415 - as above
    from trtforensics.notebook_views import ComparisonView, view  # noqa: PLC0415 - as above

    sides = []
    for name, side in (("good", good), ("bad", bad)):
        first, *more = side.paths if isinstance(side, LoadedLog) else (fspath(side),)
        sides.append(with_files(load_side(first, name), more, on_file=lambda _: None))
    return view(ComparisonView, compare(*sides), "differences")


def plot(first: LoadedBuild, second: LoadedBuild | None = None, *, of: str = "") -> FigureView:
    """Return a figure of an engine, or of two: without ``of``, the first that there is.

    Of one these are ``layers``, ``types``, ``blocks``, ``memory``, ``roofline``, ``margins`` and ``build``, of two
    ``waterfall`` and ``compare``.

    A notebook shows it, ``interactive()`` with zoom and filter; ``svg_text()`` is its text, ``header`` and ``rows`` are
    its data.

    Raises:
        ForensicsError: the files do not give the figure; the error says what it needs.
    """
    from trtforensics.notebook_views import FigureView, view  # noqa: PLC0415 - for this call only
    from trtforensics.plots.engine_figures import figures_of, figures_of_two, named  # noqa: PLC0415 - as above

    made = figures_of(first.engine)
    if second is not None:
        made = figures_of_two(*(replace(build.log.raw, builds=(build.raw,)) for build in (first, second)))
    name = of or next((figure.name for figure in made), "layers")
    return view(FigureView, named(made, name, first.log.path))


def report(log: LoadedLog | Path) -> Report:
    """Return what is wrong with the builds of a log, loaded or a path: findings with causes, lines, fixes, next steps.

    Raises:
        ForensicsError: the files cannot be read, or not again to quote their lines.
    """
    from trtforensics.datasets.judged_sources import JudgedSource  # noqa: PLC0415 - for this call only
    from trtforensics.notebook_views import ReportView, view  # noqa: PLC0415 - as above

    joined = (log if isinstance(log, LoadedLog) else load(log)).joined
    return view(ReportView, JudgedSource.of(joined).report, "findings", "sources", "not_judged")


def check(
    model: Path, target: str = "", *, gpu: str = "", types: Sequence[str] = (), strongly_typed: bool = False
) -> Report:
    """Return what a TensorRT release will make of an ONNX model; its weights are not loaded.

    ``target`` is a release (``10.3``) or ``rtx``, empty for any; ``gpu`` a compute capability (``8.9``) or a name;
    ``types`` are the reduced types that the build allows (``fp16``). Lines of evidence are numbers of nodes.

    Raises:
        ForensicsError: the model cannot be read, or the release or the GPU is not known.
    """
    from trtforensics.findings.checking import check as checked  # noqa: PLC0415 - for this call only
    from trtforensics.findings.suppression import Suppression  # noqa: PLC0415 - as above
    from trtforensics.findings.target import ModelTarget  # noqa: PLC0415 - as above
    from trtforensics.notebook_views import ReportView, view  # noqa: PLC0415 - as above

    wanted = ModelTarget(target, gpu, tuple(types), strongly_typed)
    return view(ReportView, next(checked(fspath(model), [wanted], Suppression())), "findings", "sources", "not_judged")
