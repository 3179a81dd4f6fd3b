"""Times the layers and reformats of the simulated network, remembers them, and picks the fastest path of formats."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from tests.emulator.engine.kernels import GEMM, TILES, Tactic, dice, hashed, offered, supports, times
from tests.emulator.engine.network import (
    DIMS,
    FLOAT,
    FLOAT_NHWC,
    HALF,
    HALF_2,
    NODES,
    RUNNER_IDS,
    Format,
    Layer,
    Network,
)
from tests.emulator.log.event import TEN, Event, Version, six_digits
from tests.emulator.log.opening import Message
from tests.emulator.log.tuning import (
    CachedResult,
    Chose,
    Combination,
    CostsHeader,
    ForeignColumns,
    ForeignNodeMetadata,
    ForeignOp,
    ForeignSelected,
    ForeignStored,
    ForeignTable,
    ForeignTactic,
    NoValidTactics,
    ProfilingCompleted,
    ReformatAutotune,
    ReformatCostsHeader,
    TacticSkippedScratch,
    TacticTimed,
    TimingRunner,
    WorkspaceHint,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_TACTIC = 0xD15EA5EDD15EA5ED
WORKSPACE = 65536
STARVED = "Some tactics do not have sufficient workspace memory to run. "
STARVED += "Increasing workspace size will enable more tactics, please check verbose output for requested sizes."

SPEED = {FLOAT: 1.0, FLOAT_NHWC: 0.86, HALF: 0.78, HALF_2: 0.74}
"""Cost of a format relative to linear Float; the rest is faster still."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The best tactic of a layer in one combination of formats; ``ms`` is six digits long."""

    layer: Layer
    source: Format
    targets: tuple[Format, ...]
    runner: str
    tactic: int
    ms: float
    kernel: str


@dataclass(frozen=True, slots=True)
class Reformat:
    """A change of format of a tensor; ``into`` tells whether it feeds ``layer`` or follows it."""

    layer: Layer
    tensor: str
    source: Format
    target: Format
    tactic: int
    ms: float
    into: bool = True


@dataclass(frozen=True, slots=True)
class Selection:
    """What a pass decided: the layers' choices in order, and the reformats between them."""

    choices: tuple[Choice, ...]
    reformats: tuple[Reformat, ...]

    @property
    def ms(self) -> float:
        """Estimated inference time."""
        return six_digits(sum(choice.ms for choice in self.choices) + sum(change.ms for change in self.reformats))


@dataclass(frozen=True, slots=True)
class Trial:
    """A combination that is being timed: what was found so far, and the workspace that greedy tactics wanted."""

    layer: Layer
    source: Format
    targets: tuple[Format, ...]
    suffix: str
    attempt: str
    found: list[Choice] = field(default_factory=list)
    requested: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The layer's name as printed, which tells the profile."""
        return self.layer.name + self.suffix

    @property
    def formats(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The formats of inputs and outputs as printed."""
        outputs = zip(self.targets, self.layer.targets, strict=True)
        return (self.source.strides(DIMS[self.layer.source]),), tuple(form.strides(DIMS[key]) for form, key in outputs)

    def fastest(self, runner: str) -> float:
        """Return about how many ms the runner's best tactic takes."""
        return self.layer.ms * SPEED.get(self.source, 0.55) * (1.015 if runner == "CaskGemmConvolution" else 1.0)

    def scratch(self, runner: str, tactic: int) -> int:
        """Return the workspace in bytes that a tactic wants: one Shuffle and all of a Float GEMM are too greedy."""
        if (runner == "Shuffle" and tactic == 1) or (runner == "CaskGemmConvolution" and self.source == FLOAT):
            return 4 * prod(DIMS[self.layer.targets[0]][1:]) * (4 if self.source.dtype == "Float" else 2)
        return 0


class Tuner:
    """Times what it has not timed yet. ``editable``: an editable timing cache names each operation's key."""

    def __init__(self, version: Version, network: Network, seed: int, *, editable: bool = False) -> None:
        self.version = version
        self.network = network
        self.seed = seed
        self.editable = editable
        self.timed: dict[tuple[str, Format], Choice | None] = {}
        self.reformats: dict[tuple[str, Format, Format], tuple[int, float]] = {}
        self.compiled: dict[str, dict[str, str]] = {}
        self.warned = False

    def layer(self, layer: Layer, suffix: str, attempt: str) -> Iterator[Event]:
        """Yield the lines of a layer's combinations; ``attempt`` tells one timing of a ForeignNode from the next."""
        newer = self.version >= TEN
        yield CostsHeader(layer.name + suffix if newer else "")
        if newer and layer.runners == ("Myelin",):
            yield ForeignNodeMetadata(layer.name + suffix, self.onnx_layers(layer.members))
        for source, targets in layer.formats:
            known = self.timed.get((layer.name, source))
            trial = Trial(layer, source, targets, suffix, attempt)
            if known is not None and known.runner != "Myelin":
                yield CachedResult(trial.name, *trial.formats, known.runner, known.tactic, known.ms)
            else:
                yield from self._combination(trial)

    def onnx_layers(self, members: tuple[str, ...]) -> tuple[str, ...]:
        """Return the metadata entries of ONNX nodes, given by their keys."""
        return tuple(f"[ONNX Layer: {self.network.names[key]}]" for key in members)

    def _combination(self, trial: Trial) -> Iterator[Event]:
        yield Combination(*trial.formats)
        newer = self.version >= TEN
        for runner in trial.layer.runners:
            valid = supports(runner, trial.source, newer=newer)
            if valid or not newer:
                yield TimingRunner(trial.name, runner, RUNNER_IDS[runner])
            if valid:
                yield from self._runner(trial, runner)
            else:
                yield NoValidTactics(runner, trial.name if newer else "")
        yield from map(WorkspaceHint, trial.requested)
        best = min(trial.found, key=lambda choice: choice.ms, default=None)
        self.timed[trial.layer.name, trial.source] = best
        if best is not None:
            yield Chose(best.runner, best.tactic)

    def _runner(self, trial: Trial, runner: str) -> Iterator[Event]:
        attempt = trial.attempt if runner == "Myelin" else ""
        random = dice(self.seed, trial.layer.name, trial.source, runner, attempt)
        if runner == "Myelin" and self.version >= TEN:
            yield from self._compile(trial.layer, trial.source)
        tactics = offered(runner, trial.source, random)
        best: Tactic = (NO_TACTIC, "")
        best_ms = float("inf")
        for tactic, ms in zip(tactics, times(len(tactics), trial.fastest(runner), random), strict=True):
            scratch = trial.scratch(runner, tactic[0])
            if scratch > WORKSPACE:
                yield from self._starve(trial, tactic[0], scratch)
                continue
            yield TacticTimed(tactic[0], ms, tactic[1])
            if ms < best_ms:
                best, best_ms = tactic, ms
        seconds = six_digits(0.002 + 0.011 * len(tactics) * random.random())
        yield ProfilingCompleted(trial.name, runner, RUNNER_IDS[runner], seconds, best[0], best_ms)
        if best[0] != NO_TACTIC:
            trial.found.append(Choice(trial.layer, trial.source, trial.targets, runner, best[0], best_ms, best[1]))

    def _starve(self, trial: Trial, tactic: int, scratch: int) -> Iterator[Event]:
        yield TacticSkippedScratch(tactic, scratch, WORKSPACE)
        trial.requested.append(scratch)
        if not self.warned:
            yield Message("I", STARVED)
            self.warned = True

    # ---- ForeignNodes ----

    def _compile(self, layer: Layer, source: Format) -> Iterator[Event]:
        """Yield what Myelin says while it compiles; it remembers what it has compiled."""
        identity = f"{layer.name}/{source.dtype}"
        if identity not in self.compiled:
            yield Message("V", " (foreignNode) Set user's cuda kernel library")
            self.compiled[identity] = {}
            for key in layer.members:
                if NODES[key][0] in {"Conv", "MatMul", "Gemm"}:
                    yield from self._table(key, source, identity)
        yield Message("V", f"Subgraph compilation completed in {len(layer.members) * 0.019:.3f} seconds.")

    def _table(self, key: str, source: Format, identity: str) -> Iterator[Event]:
        random = dice(self.seed, identity, key)
        name = self.network.names[key]
        convolution = NODES[key][0] == "Conv"
        editable_key = f"0x{hashed(f'{identity}/{key}', 16):032x}" if self.editable else ""
        yield ForeignOp(name, self.onnx_layers((key, "relu") if convolution else (key,)), editable_key)
        yield ForeignTable()
        yield ForeignColumns(("conv_w2c_input_fold",) if convolution else ())
        fastest = random.uniform(0.0029, 0.0041) * SPEED.get(source, 1.0)
        costs = sorted(round(ms, 7) for ms in times(6, fastest, random))
        shape = GEMM if source == HALF else GEMM.replace("f16f16_f16f16_f16", "f32f32_tf32f32_f32")
        shape = shape.replace("gemm", "fprop_implicit_gemm") if convolution else shape
        kernels = [shape.format(tile) for tile in random.sample(TILES, len(costs))]
        rows = [
            (ms, kernel, hashed(f"{kernel}/{identity}", 8) >> 13) for ms, kernel in zip(costs, kernels, strict=True)
        ]
        order = random.sample(range(40), len(rows))
        for number, (ms, kernel, tactic) in zip(order, rows, strict=True):
            ratio, correlation = round(ms / costs[0], 5), round(random.uniform(0.4, 2.1), 5)
            yield ForeignTactic(number, ms, ratio, correlation, kernel, tactic, "", ("0",) if convolution else ())
        self.compiled[identity][key] = kernels[0]
        if self.editable:
            yield ForeignSelected(rows[0][2], six_digits(costs[0]))
            yield ForeignStored(rows[0][2])

    # ---- reformats ----

    def tensor(self, key: str, sources: list[Format], targets: list[Format], suffix: str) -> Iterator[Event]:
        """Yield the lines of the reformats that a tensor may need; a network output has one target."""
        pairs = [(source, target) for source in sources for target in targets if source != target]
        yield ReformatCostsHeader(opening=True)
        if pairs:
            yield ReformatCostsHeader(opening=False)
        name = self.network.tensor(key) + suffix
        label = f"Optimizer Reformat(<in> -> {name})" if key in {"y", "z"} else f"Optimizer Reformat({name} -> <out>)"
        for source, target in pairs:
            yield from self._reformat(label, key, source, target)

    def _reformat(self, label: str, key: str, source: Format, target: Format) -> Iterator[Event]:
        formats = source.strides(DIMS[key]), target.strides(DIMS[key])
        known = self.reformats.get((key, source, target))
        if known is not None:
            yield CachedResult(label, formats[:1], formats[1:], "Reformat", *known)
            return
        random = dice(self.seed, key, source, target)
        tactics = offered("Reformat", source, random)
        timed = dict(zip([tactic for tactic, _ in tactics], times(len(tactics), 0.0024, random), strict=True))
        best = min(timed, key=timed.__getitem__)
        self.reformats[key, source, target] = best, timed[best]
        yield ReformatAutotune(*formats)
        yield TimingRunner(label, "Reformat", RUNNER_IDS["Reformat"])
        for tactic, ms in timed.items():
            yield TacticTimed(tactic, ms)
        seconds = six_digits(0.004 + 0.004 * random.random())
        yield ProfilingCompleted(label, "Reformat", RUNNER_IDS["Reformat"], seconds, best, timed[best])

    # ---- the choice ----

    def select(self, layers: tuple[Layer, ...]) -> Selection:
        """Return the path of formats that minimises the time of layers and reformats together."""
        paths: dict[Format, tuple[float, tuple[Choice, ...]]] = {FLOAT: (0.0, ())}
        for layer in layers:
            following: dict[Format, tuple[float, tuple[Choice, ...]]] = {}
            for choice in filter(None, (self.timed[layer.name, source] for source, _ in layer.formats)):
                arriving = (
                    (ms + self._change_ms(layer.source, layout, choice.source), path)
                    for layout, (ms, path) in paths.items()
                )
                cost, path = min(arriving, key=lambda item: item[0])
                reached = cost + choice.ms, (*path, choice)
                best = following.get(choice.targets[0], reached)
                following[choice.targets[0]] = min(best, reached, key=lambda item: item[0])
            paths = following
        last = layers[-1].targets[0]
        ends = {layout: ms + self._change_ms(last, layout, FLOAT) for layout, (ms, _) in paths.items()}
        choices = paths[min(ends, key=ends.__getitem__)][1]
        return Selection(choices, tuple(self._needed(choices)))

    def _change_ms(self, key: str, source: Format, target: Format) -> float:
        return 0.0 if source == target else self.reformats[key, source, target][1]

    def _needed(self, choices: tuple[Choice, ...]) -> Iterator[Reformat]:
        layout = FLOAT
        for choice in choices:
            if layout != choice.source:
                change = self.reformats[choice.layer.source, layout, choice.source]
                yield Reformat(choice.layer, choice.layer.source, layout, choice.source, *change)
            layout = choice.targets[0]
        if layout != FLOAT:
            key = choices[-1].layer.targets[0]
            change = self.reformats[key, layout, FLOAT]
            yield Reformat(choices[-1].layer, key, layout, FLOAT, *change, into=False)
