"""The lines from the first tactic to the engine: strategies, timings, reformats, memory, the engine dump, the cache."""

from __future__ import annotations

from tests.emulator.log.event import DetailedTensor, Event, Joined, LayerTensor, Version

# ---- strategies and profiles ---------------------------------------------------------------------------------------


class StrategyBegin(Event):
    """A pass over the graph begins."""

    strategy: int
    shape = "Building graph using backend strategy {strategy}"


class StrategyInitial(Event):
    """The first of several passes is the one to beat; ``ms`` is its estimated inference time."""

    strategy: int
    ms: float
    shape = "Use backend strategy {strategy} with estimated inference time ({ms:.6g}) as the initial choice."


class StrategyChosen(Event):
    """This pass beats the best one so far."""

    strategy: int
    ms: float
    previous_ms: float
    shape = (
        "Chose this engine with backend strategy {strategy} since its estimated inference time ({ms:.6g}) "
        "is faster than the previous engine with estimated inference time ({previous_ms:.6g})."
    )


class StrategySkipped(Event):
    """This pass is no better than the best one so far. TensorRT leaves out a blank here."""

    strategy: int
    ms: float
    previous_ms: float
    shape = (
        "Skip backend strategy {strategy}since its estimated inference time ({ms:.6g}) "
        "is not faster than the previous engine with estimated inference time ({previous_ms:.6g})."
    )


class TimingCacheInUse(Event):
    """Which timing cache the pass uses: ``Global`` ones outlive the build."""

    scope: str
    letter = "I"

    def _shape(self, version: Version) -> str:  # noqa: ARG002 - the same in all versions
        stored = "be stored" if self.scope == "Global" else "not be stored"
        return f"{{scope}} timing cache in use. Profiling results in this builder pass will {stored}."


class ProfileBegin(Event):
    """The pass turns to an optimization profile; ``index`` counts from 0."""

    index: int
    total: int

    def _shape(self, version: Version) -> str:  # noqa: ARG002 - the same in all versions
        return f"Constructing optimization profile number {{index}} [{self.index + 1}/{{total}}]."


# ---- tactics -------------------------------------------------------------------------------------------------------


class CostsHeader(Event):
    """The combinations of a layer follow. 8.6 prints no layer: it is empty there."""

    layer: str
    shape = "=============== Computing costs for {layer}"


class ForeignNodeMetadata(Event):
    """The ONNX layers that a ForeignNode swallowed (10.x)."""

    layer: str
    onnx_layers: tuple[str, ...]
    shape = "ForeignNode {layer} metadata: {onnx_layers:\x1e}"


class Combination(Event):
    """Input and output formats that are timed together. ``key`` is that of an editable timing cache."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    where: str = ""
    key: str = ""

    def _shape(self, version: Version) -> str:  # noqa: ARG002 - the same in all versions
        where = " where {where}" if self.where else ""
        key = " {{key: {key}}}" if self.key else ""
        formats = "{inputs:, } -> {outputs:, }"
        return f"*************** Autotuning format combination: {formats}{where}{key} ***************"


class TimingRunner(Event):
    """A runner's tactics follow."""

    layer: str
    runner: str
    runner_id: int
    shape = "--------------- Timing Runner: {layer} ({runner}[{runner_id:#010x}])"


class TacticTimed(Event):
    """A tactic and its time in ms; ``kernel`` is empty where the runner names none."""

    tactic: int
    ms: float
    kernel: str = ""

    def _shape(self, version: Version) -> str:  # noqa: ARG002 - the same in all versions
        name = "Tactic Name: {kernel} " if self.kernel else ""
        return name + "Tactic: {tactic:#018x} Time: {ms:.6g}"


class TacticSkippedScratch(Event):
    """A tactic that needs more workspace, in bytes, than there is."""

    tactic: int
    requested: int
    available: int
    shape = "Tactic: {tactic:#018x} skipped. Scratch requested: {requested}, available: {available}"


class WorkspaceHint(Event):
    """Follows a block with skipped tactics. TensorRT leaves out a blank here."""

    requested: int
    shape = "Setting workspace to {requested}enables more tactics for profiling"


class NoValidTactics(Event):
    """A runner that cannot do the combination. 8.6 prints no layer: it is empty there."""

    runner: str
    layer: str
    shape = "Skipping {runner}: No valid tactics for {layer}"
    old_shape = "{runner} has no valid tactics for this config, skipping"


class ProfilingCompleted(Event):
    """A runner's tactics are timed; ``tactic`` and ``ms`` are the fastest one's."""

    layer: str
    runner: str
    runner_id: int
    seconds: float
    tactic: int
    ms: float
    shape = (
        "{layer} ({runner}[{runner_id:#010x}]) profiling completed in {seconds:.6g} seconds. "
        "Fastest Tactic: {tactic:#018x} Time: {ms:.6g}"
    )


class Chose(Event):
    """The best tactic of a combination."""

    runner: str
    tactic: int
    shape = ">>>>>>>>>>>>>>> Chose Runner Type: {runner} Tactic: {tactic:#018x}"


class CachedResult(Event):
    """The best tactic of a combination that the timing cache knows; no block of timings stands before it."""

    layer: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    runner: str
    tactic: int
    ms: float
    shape = "{layer} [{inputs:, } -> {outputs:, }] got cached result: {runner}, tactic {tactic:#018x}, {ms:.6g} ms"


# ---- inside a ForeignNode (10.x) -----------------------------------------------------------------------------------


class ForeignOp(Event):
    """Myelin times an operation; ``key`` (0x and 32 digits) is that of an editable timing cache, or empty."""

    op: str
    onnx_layers: tuple[str, ...]
    key: str = ""

    def _shape(self, version: Version) -> str:  # noqa: ARG002 - the same in all versions
        key = "(key: {key})" if self.key else ""
        return " (foreignNode) Autotuning op {op}" + key + ": {onnx_layers:\x1f}"


class ForeignTable(Event):
    """The title of the table of tactics."""

    shape = " (foreignNode) Sorted table of all evaluated tactics:"


class ForeignColumns(Event):
    """The heading of the table; ``more`` are columns that only some operations have."""

    more: tuple[str, ...] = ()

    def _shape(self, version: Version) -> str:  # noqa: ARG002 - the same in all versions
        columns = (
            "tactic_id",
            "cost(in ms)",
            "cost/fastest_cost",
            "prediction_correlation",
            "kernel_name",
            "tactic_hash",
            "tunable_parameter",
        )
        return f" (foreignNode) {Joined(columns + self.more):, }"


class ForeignTactic(Event):
    """A row of the table; ``more`` holds one value for each of the further columns."""

    tactic_id: int
    ms: float
    ratio: float
    correlation: float
    kernel: str
    tactic: int
    parameter: str = ""
    more: tuple[str, ...] = ()

    def _shape(self, version: Version) -> str:  # noqa: ARG002 - the same in all versions
        row = " (foreignNode) {tactic_id:4d}, {ms:.7f}, {ratio:.5f}, {correlation:.5f}, {kernel}, {tactic:#x}, "
        row += "{parameter}"
        return row + ", {more:, }" if self.more else row


class ForeignSelected(Event):
    """The row that an editable timing cache stores."""

    tactic: int
    ms: float
    shape = "The selected tactic is (tactic hash, cost(in ms)):{tactic:#x},  {ms:.6g}"


class ForeignStored(Event):
    """The editable timing cache has it."""

    tactic: int
    shape = "Writing the best tactic ({tactic:#x}) to cache"


# ---- reformats -----------------------------------------------------------------------------------------------------


class ReformatCostsHeader(Event):
    """Reformats of a tensor follow: first once with ``opening``, then once without."""

    opening: bool

    def _shape(self, version: Version) -> str:
        rule = "=============== Computing reformatting costs"
        if not self.opening:
            return rule + ": "
        return rule if version < (10, 0, 0) else rule + " for available format set"


class ReformatAutotune(Event):
    """A pair of formats; a block of the runner Reformat follows."""

    source: str
    target: str
    shape = "*************** Autotuning Reformat: {source} -> {target} ***************"


class AddingReformat(Event):
    """A reformat that the engine needs; ``name`` is that of the tensor which it makes."""

    name: str
    tensor: str
    source: str
    target: str
    shape = "Adding reformat layer: {name} ({tensor}) from {source} to {target}"


class SelectionCompleted(Event):
    """Every layer has its formats and its tactic."""

    seconds: float
    shape = "Formats and tactics selection completed in {seconds:.6g} seconds."


# ---- memory and kernels --------------------------------------------------------------------------------------------


class LayerMemory(Event):
    """Memory of a layer, in bytes."""

    layer: str
    host: int
    device: int
    scratch: int
    shape = (
        "Layer: {layer} Host Persistent: {host} bytes Device Persistent: {device} bytes Scratch Memory: {scratch} bytes"
    )
    old_shape = "Layer: {layer} Host Persistent: {host} Device Persistent: {device} Scratch Memory: {scratch}"


class MemoryOmitted(Event):
    """How many layers have no memory line."""

    layers: int
    shape = (
        "Skipped printing memory information for {layers} layers with 0 memory size "
        "i.e. Host Persistent + Device Persistent + Scratch Memory == 0."
    )


class TotalMemory(Event):
    """A sum in bytes: ``kind`` is ``Total Host Persistent``, ``Max Scratch``, ``Total Activation`` and so on."""

    kind: str
    size: int
    letter = "I"
    shape = "{kind} Memory: {size} bytes"
    old_shape = "{kind} Memory: {size}"


class KernelIndex(Event):
    """Which of the engine's kernels a layer runs."""

    layer: str
    index: int
    shape = "Finalize: {layer} Set kernel index: {index}"


class KernelKind(Event):
    """Where a kernel comes from."""

    index: int
    kind: str
    shape = "Kernel: {index} {kind}"


class EngineGeneration(Event):
    """The pass has made its engine."""

    seconds: float
    letter = "I"
    old_letter = "V"
    shape = "Engine generation completed in {seconds:.6g} seconds."


# ---- the engine dump -----------------------------------------------------------------------------------------------


class EngineDump(Event):
    """The engine's layers follow, without prefixes."""

    detailed: bool

    def _shape(self, version: Version) -> str:  # noqa: ARG002 - the same in all versions
        return "Layers:" if self.detailed else "Engine Layer Information:"


class EngineLayerNamesOnly(Event):
    """A layer of the engine, as built without detailed profiling verbosity."""

    runner: str
    name: str
    tactic: int
    inputs: tuple[LayerTensor, ...]
    outputs: tuple[LayerTensor, ...]
    prefixed = False
    shape = "Layer({runner}): {name}, Tactic: {tactic:#018x}, {inputs:, } -> {outputs:, }"


class EngineLayerDetailed(Event):
    """A layer of the engine with everything known about it.

    ``parameters`` are name and printed value. ``tactic_name``, ``tactic`` and ``stream`` are missing from some
    layers; ``metadata`` None is a version that prints no such field. Inside a ForeignNode the separator is Myelin's.
    """

    name: str
    layer_type: str
    inputs: tuple[DetailedTensor, ...]
    outputs: tuple[DetailedTensor, ...]
    parameters: tuple[tuple[str, str], ...] = ()
    tactic_name: str | None = None
    tactic: int | None = None
    stream: int | None = None
    metadata: tuple[str, ...] | None = None
    separator: str = "\x1e"
    prefixed = False

    def _shape(self, version: Version) -> str:  # noqa: ARG002 - the same in all versions
        shape = "Name: {name}, LayerType: {layer_type}, Inputs: "
        shape += "[ {inputs:, }], Outputs: " if self.inputs else "[], Outputs: "
        shape += "[ {outputs:, }]" if self.outputs else "[]"
        for index in range(len(self.parameters)):
            shape += f", {{parameters[{index}][0]}}: {{parameters[{index}][1]}}"
        shape += ", TacticName: {tactic_name}" if self.tactic_name is not None else ""
        shape += ", TacticValue: {tactic:#018x}" if self.tactic is not None else ""
        shape += ", StreamId: {stream}" if self.stream is not None else ""
        return shape + (f", Metadata: {{metadata:{self.separator}}}" if self.metadata is not None else "")


# ---- the tail ------------------------------------------------------------------------------------------------------


class TimingCacheDeleted(Event):
    """Statistics of the timing cache of the build."""

    entries: int
    hits: int
    shape = "Deleting timing cache: {entries} entries, served {hits} hits since creation."


class TimingCacheOrigin(Event):
    """Device and commit that a stored timing cache is valid for."""

    device: str
    commit: str
    shape = "Serializing timing cache. UUID = {device}, commit ID = {commit}"


class TimingCacheSerialized(Event):
    """Number of entries of a stored timing cache."""

    entries: int
    letter = "I"
    old_letter = "V"
    shape = "Serialized {entries} timing cache entries"
