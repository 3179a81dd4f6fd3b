"""The runs that a source holds: which program ran, its phases, how it ended, and what it compared.

A run holds builds. A fact carries the line that states it, as in :mod:`trtforensics.model.log`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from trtforensics.model.older_python import StrEnum
from trtforensics.model.span import SourceSpan


class Program(StrEnum):
    """The program that ran."""

    TRTEXEC = "trtexec"
    POLYGRAPHY = "polygraphy"
    PYTHON = "python"
    CPP = "cpp"
    MLPERF = "mlperf"
    TRITON = "triton"
    DEEPSTREAM = "deepstream"
    TENSORRT_LLM = "tensorrt-llm"
    TORCH_TENSORRT = "torch-tensorrt"
    TF_TRT = "tf-trt"
    ONNXRUNTIME = "onnxruntime"
    JETSON_INFERENCE = "jetson-inference"
    ROS = "ros"
    CMAKE = "cmake"
    PIP = "pip"
    UNKNOWN = "unknown"


class Ending(StrEnum):
    """How a run ended. ``NONE``: without a verdict, as far as its lines tell."""

    PASSED = "passed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    KILLED = "killed"
    CRASHED = "crashed"
    NONE = "none"


class PhaseName(StrEnum):
    """What a run does for a while; ``IMPORT`` is that of the model."""

    IMPORT = "import"
    BUILD = "build"
    LOAD = "load"
    INFER = "infer"
    COMPARE = "compare"
    PROFILE = "profile"


@dataclass(slots=True, unsafe_hash=True)
class StatedName:
    """What a program calls a figure: the name, the row if it stands in a table, the unit as printed; or empty texts.

    ``group`` is the title that the figure stands under: a heading, a model's or an engine's name; ``side`` the
    framework, type or device that ran, where a figure comes again with another.
    """

    name: str
    row: str
    unit: str
    group: str = ""
    side: str = ""

    @property
    def is_of_inference(self) -> bool:
        """Whether a program that states it has inferred."""
        words = r"(?i:/s|per second|latency|infer|fps|throughput|\btrials?\b|running time)"
        return re.search(words, f"{self.name} {self.unit}") is not None

    @property
    def key(self) -> str:
        """The key of the result: ``Throughput [infer/sec] as stated``, ``mAP50 of person as stated``."""
        row = f" of {self.row}" if self.row else ""
        title = "".join(f"{each}: " for each in (self.side, self.group) if each)
        return f"{title}{self.name}{row}{f' [{self.unit}]' if self.unit else ''} as stated"


@dataclass(slots=True, unsafe_hash=True)
class RunResult:
    """What a build or its run came to. ``key`` names the quantity and its unit (``latency_ms``, ``engine_bytes``).

    Of a quantity that was measured often, ``value`` has ``min``, ``max``, ``mean``, ``median`` and percentiles
    (``p99``), as far as the log prints them.
    """

    key: str
    value: float | Mapping[str, float]
    span: SourceSpan
    stated: StatedName | None = None
    """The program's own words for it, where it is no quantity that is known."""
    owner: str = ""
    """The engine that it is of, where the quantity is printed for several."""

    @property
    def number(self) -> float | None:
        """The value of a quantity that was measured once, else None."""
        return self.value if isinstance(self.value, float | int) else None

    @property
    def figures(self) -> Mapping[str, float]:
        """The figures of a quantity that was measured often; empty for others."""
        return {} if isinstance(self.value, float | int) else self.value


@dataclass(slots=True, unsafe_hash=True)
class Phase:
    """A phase, from its first line to its last; ``seconds`` are those that a line states."""

    name: PhaseName
    first_line: int
    last_line: int
    seconds: float | None = None


@dataclass(slots=True, unsafe_hash=True)
class SurvivedError:
    """The last error of a program of which no line tells how it ended, and what that leaves (empty: not known)."""

    span: SourceSpan
    text: str
    spoils: str
    stops_build: bool = False
    """Whether it is an error of a build, which gives no engine then."""


@dataclass(slots=True, unsafe_hash=True)
class StepExit:
    """The exit code that a shell, make, a container or a script prints of a process; ``step`` is empty if unnamed."""

    step: str
    code: int
    span: SourceSpan

    @property
    def signal(self) -> int | None:
        """The number of the POSIX signal that ended the process: shells add 128, Python's subprocess negates it."""
        number = self.code - _SHELL if self.code > _SHELL else -self.code
        return number if 0 < number <= _LAST_SIGNAL else None


_SHELL = 128
POLYGRAPHY_READERS = ("inspect", "debug", "surgeon", "check", "data", "template", "plugin")
"""Tools of Polygraphy that make no engine."""
_LAST_SIGNAL = 64


@dataclass(slots=True, unsafe_hash=True)
class RunOutcome:
    """How a run ended, why one may say so, and the line that shows it; ``span`` is None where no line does."""

    ending: Ending
    span: SourceSpan | None
    why: str
    survived: SurvivedError | None = None
    is_verdict: bool = False
    """Whether the program itself says so: by a verdict, a comparison or a result, not by how its process ended."""
    reached: str = ""
    """What the run came to (``engine built``) or what failed (``import failed``), where no verdict is given."""
    exits: tuple[StepExit, ...] = ()


@dataclass(slots=True, unsafe_hash=True)
class ComparedOutput:
    """An output of two runners, or one that was validated alone. What no line tells is None.

    ``nan`` and ``inf`` count such values: 0 where a check for them passed, 1 where a line says that there are some
    without their number. The ranges are the least and the largest value with each runner.
    """

    name: str
    span: SourceSpan
    max_abs: float | None = None
    mean_abs: float | None = None
    max_rel: float | None = None
    atol: float | None = None
    rtol: float | None = None
    passed: bool | None = None
    nan: int | None = None
    inf: int | None = None
    dtype: str | None = None
    left_range: tuple[float, float] | None = None
    right_range: tuple[float, float] | None = None

    @property
    def holds_integers(self) -> bool:
        """Whether its values are places, classes or flags, which an error changes by any amount or not at all."""
        return (self.dtype or "").startswith(("int", "uint", "bool"))


@dataclass(slots=True, unsafe_hash=True)
class RunnerComparison:
    """Outputs of two runners, in the order of the network; ``right`` is empty where a runner's are validated alone.

    ``pass_rate`` is the share of iterations that passed, in percent.
    """

    left: str
    right: str
    outputs: tuple[ComparedOutput, ...]
    span: SourceSpan
    pass_rate: float | None = None

    @property
    def first_different(self) -> ComparedOutput | None:
        """The first output in the order of the network that did not pass."""
        return next((output for output in self.outputs if output.passed is False), None)


def furthest(outputs: Iterable[ComparedOutput]) -> ComparedOutput | None:
    """Return the output of real numbers with the largest error."""
    real = (each for each in outputs if each.max_abs is not None and not each.holds_integers)
    return max(real, key=lambda output: output.max_abs or 0.0, default=None)


@dataclass(slots=True, unsafe_hash=True)
class Run:
    """One run of a program. ``builds`` are the places of its builds in the log.

    ``program_span`` is the line that shows the program; None where no line does. ``uses_tensorrt`` is False where its
    lines show what it did and none of that is TensorRT's.
    """

    index: int
    first_line: int
    last_line: int
    program: Program
    program_span: SourceSpan | None
    command: str | None
    phases: tuple[Phase, ...]
    outcome: RunOutcome
    uses_tensorrt: bool
    builds: tuple[int, ...]
    results: tuple[RunResult, ...]
    comparisons: tuple[RunnerComparison, ...]
    engine_file: str | None = None
    """The file that the engine was written to."""
    version: str | None = None
    """The program's own version, of TensorRT-LLM."""
    loaded_file: str | None = None
    """The file that the last engine was loaded from."""
    facts: tuple[tuple[str, SourceSpan], ...] = ()
    """What else a program says of its set-up, in our words: inputs, batch, instances, the files it wrote."""
    command_span: SourceSpan | None = None
    """The line of ``command``, printed or typed."""
    subcommand: str = ""
    """What Polygraphy was started for: ``inspect model``."""
    setting: str = ""
    """MLPerf's scenario and mode, and whether its result is valid; the type or provider that a library takes."""

    @property
    def set_up(self) -> list[tuple[str, SourceSpan]]:
        """The facts without the rate that MLPerf's stream scenarios print too and do not aim at."""
        return [fact for fact in self.facts if "Stream" not in self.setting or not fact[0].startswith("target of")]

    @property
    def only_reads(self) -> bool:
        """Whether it is a tool of Polygraphy that makes no engine: it reads a model or a file."""
        return self.program is Program.POLYGRAPHY and self.subcommand.startswith(POLYGRAPHY_READERS)
