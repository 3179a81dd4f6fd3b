"""From an event of a build to the line that TensorRT logs for it, in the 8.6 and 10.16 dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.emulator.log.dialect import Dialect, prefixed, version_code
from tests.emulator.log.event import TEN, Event, Joined, Version
from tests.emulator.log.opening import (
    Banner,
    Blank,
    DeviceFact,
    EngineBuilt,
    EngineSize,
    FusingPair,
    GraphConstructed,
    GraphOptimized,
    ImportingInitializer,
    Latency,
    MarkingOutput,
    MergingLayers,
    Message,
    NetworkInput,
    NodeInputs,
    NodeOutputs,
    OnnxHeader,
    Option,
    OptionBlock,
    ParseFinished,
    ParsingNode,
    RegisteringLayer,
    RegisteringTensor,
    RemovingLayer,
    RunningPass,
    SearchingInput,
    StageCount,
    StaticCheck,
    SwappingLayerType,
    Throughput,
    TotalTime,
)
from tests.emulator.log.tuning import (
    AddingReformat,
    CachedResult,
    Chose,
    Combination,
    CostsHeader,
    EngineDump,
    EngineGeneration,
    EngineLayerDetailed,
    EngineLayerNamesOnly,
    ForeignColumns,
    ForeignNodeMetadata,
    ForeignOp,
    ForeignSelected,
    ForeignStored,
    ForeignTable,
    ForeignTactic,
    KernelIndex,
    KernelKind,
    LayerMemory,
    MemoryOmitted,
    NoValidTactics,
    ProfileBegin,
    ProfilingCompleted,
    ReformatAutotune,
    ReformatCostsHeader,
    SelectionCompleted,
    StrategyBegin,
    StrategyChosen,
    StrategyInitial,
    StrategySkipped,
    TacticSkippedScratch,
    TacticTimed,
    TimingCacheDeleted,
    TimingCacheInUse,
    TimingCacheOrigin,
    TimingCacheSerialized,
    TimingRunner,
    TotalMemory,
    WorkspaceHint,
)

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["EVENTS", "Dialect", "line", "prefixed", "render", "severity", "version_code"]

EVENTS: tuple[type[Event], ...] = (
    Banner,
    OptionBlock,
    Option,
    DeviceFact,
    Blank,
    ParseFinished,
    EngineSize,
    EngineBuilt,
    Throughput,
    Latency,
    TotalTime,
    Message,
    OnnxHeader,
    NetworkInput,
    ImportingInitializer,
    StaticCheck,
    ParsingNode,
    SearchingInput,
    NodeInputs,
    RegisteringLayer,
    RegisteringTensor,
    NodeOutputs,
    MarkingOutput,
    StageCount,
    GraphConstructed,
    GraphOptimized,
    RunningPass,
    FusingPair,
    MergingLayers,
    RemovingLayer,
    SwappingLayerType,
    StrategyBegin,
    StrategyInitial,
    StrategyChosen,
    StrategySkipped,
    TimingCacheInUse,
    ProfileBegin,
    CostsHeader,
    ForeignNodeMetadata,
    Combination,
    TimingRunner,
    TacticTimed,
    TacticSkippedScratch,
    WorkspaceHint,
    NoValidTactics,
    ProfilingCompleted,
    Chose,
    CachedResult,
    ForeignOp,
    ForeignTable,
    ForeignColumns,
    ForeignTactic,
    ForeignSelected,
    ForeignStored,
    ReformatCostsHeader,
    ReformatAutotune,
    AddingReformat,
    SelectionCompleted,
    LayerMemory,
    MemoryOmitted,
    TotalMemory,
    KernelIndex,
    KernelKind,
    EngineGeneration,
    EngineDump,
    EngineLayerNamesOnly,
    EngineLayerDetailed,
    TimingCacheDeleted,
    TimingCacheOrigin,
    TimingCacheSerialized,
)
"""Every kind of event, in the order in which a log first has them."""


def render(event: Event, version: Version) -> str:
    """Return the body of the event's line, without the logger's prefix."""
    values: dict[str, object] = {"version": version_code(version)}
    for name in event.fields:
        value = getattr(event, name)
        values[name] = Joined(value) if isinstance(value, tuple) else value
    return event._shape(version).format_map(values)


def severity(event: Event, version: Version) -> str:
    """Return the severity letter with which this version logs the event."""
    if isinstance(event, Message):
        return event.severity
    return event.old_letter if version < TEN and event.old_letter else event.letter


def line(event: Event, version: Version, dialect: Dialect, timestamp: datetime) -> str:
    """Return the whole line of an event: its body, behind a prefix unless it is a line that has none."""
    body = render(event, version)
    if not event.prefixed:
        return body
    tensorrt = event.tensorrt if not isinstance(event, Message) else event.of_tensorrt
    return prefixed(body, dialect, timestamp, severity(event, version), tensorrt=tensorrt)
