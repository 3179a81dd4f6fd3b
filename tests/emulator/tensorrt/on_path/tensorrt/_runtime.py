"""Engines: what can be asked of one without running it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.emulator.engine.files import BadFile, read_engine
from tests.emulator.log.opening import Message

from ._config import IHostMemory
from ._enums import LayerInformationFormat
from ._logging import ILogger, tell

if TYPE_CHECKING:
    from typing_extensions import Self


class EngineInspector:
    """Describes the layers of an engine."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self.execution_context: Any = None

    def get_engine_information(self, format: Any) -> str:  # noqa: A002 - TensorRT's name
        """Return every layer."""
        layers = [self._layer(index) for index in range(len(self._document["layers"]))]
        if format is LayerInformationFormat.JSON:
            return json.dumps({"Layers": layers, "Bindings": self._document.get("outputs", [])})
        return "\n".join(layer["Name"] for layer in layers)

    def get_layer_information(self, layer_index: int, format: Any) -> str:  # noqa: A002 - TensorRT's name
        """Return one layer."""
        layer = self._layer(layer_index)
        return json.dumps(layer) if format is LayerInformationFormat.JSON else layer["Name"]

    def _layer(self, index: int) -> dict[str, Any]:
        layer = self._document["layers"][index]
        metadata = "\x1e".join(f"[ONNX Layer: {node}]" for node in layer["nodes"])
        kernel = {"TacticName": layer["kernel"]} if layer["kernel"] else {}
        tactic = {"TacticValue": layer["tactic"], "StreamId": 0, "Metadata": metadata}
        return {"Name": layer["name"], "LayerType": layer["runner"], **kernel, **tactic}


class IProfiler:
    """What a context reports the time of each layer to, in ms."""

    def report_layer_time(self, layer_name: str, ms: float) -> None:
        """Take the time of one layer."""
        raise NotImplementedError


class IExecutionContext:
    """Runs an engine: here it only reports times, which are made up."""

    def __init__(self, engine: ICudaEngine) -> None:
        self.engine = engine
        self.profiler: IProfiler | None = None

    def execute_async_v3(self, stream_handle: int) -> bool:  # noqa: ARG002 - there is no stream
        """Run once."""
        if self.profiler is not None:
            inspector = self.engine.create_engine_inspector()
            for index in range(self.engine.num_layers):
                layer = json.loads(inspector.get_layer_information(index, LayerInformationFormat.JSON))
                self.profiler.report_layer_time(layer["Name"], len(layer["Name"]) / 1000)
        return True


class ICudaEngine:
    """An engine that was built or loaded."""

    def __init__(self, plan: bytes) -> None:
        self._plan = plan
        self._document = read_engine(plan)

    @property
    def num_layers(self) -> int:
        """Number of layers."""
        return len(self._document["layers"])

    @property
    def name(self) -> str:
        """The network's name."""
        return str(self._document["net"])

    def create_execution_context(self) -> IExecutionContext:
        """Return what runs the engine."""
        return IExecutionContext(self)

    def create_engine_inspector(self) -> EngineInspector:
        """Return what describes the layers."""
        return EngineInspector(self._document)

    def serialize(self) -> IHostMemory:
        """Return what a file holds."""
        return IHostMemory(self._plan)


class Runtime:
    """Loads engines."""

    def __init__(self, logger: ILogger) -> None:
        self.logger = logger
        self.max_threads = 1
        self.error_recorder: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def deserialize_cuda_engine(self, serialized_engine: Any) -> ICudaEngine | None:
        """Load an engine; None after an error, which is in the log."""
        try:
            return ICudaEngine(bytes(serialized_engine))
        except BadFile as error:
            text = f"IRuntime::deserializeCudaEngine: Error Code 1: Serialization ({error})"
            tell(self.logger, [Message("E", text)])
            return None
