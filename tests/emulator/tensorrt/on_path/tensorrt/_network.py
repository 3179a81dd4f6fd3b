"""Networks and the ONNX parser: one network layer for each ONNX node."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.emulator.engine.builder import Build, Request
from tests.emulator.engine.onnx_net import Unsupported, elements_of, nodes_of, to_net
from tests.emulator.engine.story import Story
from tests.emulator.log.opening import Message

from ._enums import ELEVEN, DataType, ErrorCode, LayerType, NetworkDefinitionCreationFlag, TensorLocation
from ._logging import ILogger, listens, tell
from ._scenario import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.emulator.engine.net import Net, Node

_OPERATORS = {
    "ACTIVATION": "Relu Sigmoid Tanh Clip LeakyRelu",
    "CAST": "Cast",
    "CONCATENATION": "Concat",
    "CONVOLUTION": "Conv",
    "DECONVOLUTION": "ConvTranspose",
    "ELEMENTWISE": "Add Sub Mul Div Pow",
    "GATHER": "Gather",
    "MATRIX_MULTIPLY": "MatMul Gemm",
    "NORMALIZATION": "LayerNormalization InstanceNormalization",
    "POOLING": "MaxPool AveragePool",
    "REDUCE": "GlobalAveragePool ReduceMean ReduceSum ReduceMax",
    "SCALE": "BatchNormalization",
    "SHUFFLE": "Reshape Transpose Flatten Squeeze Unsqueeze",
    "SLICE": "Slice",
    "SOFTMAX": "Softmax",
    "TOPK": "TopK",
}
_TYPES = {op: kind for kind, ops in _OPERATORS.items() for op in ops.split()}
_ELEMENTS = {1: "FLOAT", 10: "HALF", 16: "BF16", 3: "INT8", 6: "INT32", 7: "INT64", 9: "BOOL", 2: "UINT8"}


class Dims:
    """Dimensions, which compare equal to a tuple or a list."""

    MAX_DIMS = 8
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, shape: Sequence[int] = ()) -> None:
        self._sizes = list(shape)

    def __len__(self) -> int:
        return len(self._sizes)

    def __iter__(self) -> Iterator[int]:
        return iter(self._sizes)

    def __getitem__(self, arg0: Any) -> Any:
        return tuple(self._sizes[arg0]) if isinstance(arg0, slice) else self._sizes[arg0]

    def __setitem__(self, arg0: Any, arg1: Any) -> None:
        self._sizes[arg0] = arg1

    def __eq__(self, arg0: object) -> bool:
        return isinstance(arg0, (tuple, list, Dims)) and tuple(arg0) == tuple(self._sizes)

    def __repr__(self) -> str:
        return repr(tuple(self._sizes))


class ITensor:
    """A tensor of a network."""

    def __init__(self, network: INetworkDefinition, name: str, dtype: Any, shape: Sequence[int]) -> None:
        self._network = network
        self.name = name
        self.dtype = dtype
        self.shape = Dims(shape)
        self.allowed_formats = 1
        self.location = TensorLocation.DEVICE

    @property
    def is_network_input(self) -> bool:
        """Whether it is an input of the network."""
        return self in self._network._inputs

    @property
    def is_network_output(self) -> bool:
        """Whether it is an output of the network."""
        return self in self._network._outputs

    @property
    def is_shape_tensor(self) -> bool:
        """Whether it holds a shape; the emulator knows none."""
        return False

    @property
    def is_execution_tensor(self) -> bool:
        """Whether it holds data."""
        return True


class ILayer:
    """A layer of a network, before any fusion."""

    def __init__(self, network: INetworkDefinition, node: Node, inputs: list[ITensor], outputs: list[ITensor]) -> None:
        self._network = network
        self._inputs = inputs
        self._outputs = outputs
        self._precision: Any = None
        self._types: dict[int, Any] = {}
        self.name = node.name
        self.metadata = f"[ONNX Layer: {node.name}]"
        self.type = LayerType[_TYPES.get(node.op, "UNARY")]

    @property
    def num_inputs(self) -> int:
        """Number of inputs."""
        return len(self._inputs)

    @property
    def num_outputs(self) -> int:
        """Number of outputs."""
        return len(self._outputs)

    def get_input(self, index: int) -> ITensor | None:
        """Return an input, None behind the last."""
        return self._inputs[index] if index < self.num_inputs else None

    def get_output(self, index: int) -> ITensor | None:
        """Return an output, None behind the last."""
        return self._outputs[index] if index < self.num_outputs else None

    @property
    def precision(self) -> Any:
        """The precision asked for, FLOAT where none was."""
        return DataType.FLOAT if self._precision is None else self._precision

    @precision.setter
    def precision(self, wanted: Any) -> None:
        if self._network._refuses_types("setPrecision"):
            return
        self._precision = wanted

    @property
    def precision_is_set(self) -> bool:
        """Whether a precision was asked for."""
        return self._precision is not None

    def reset_precision(self) -> None:
        """Ask for no precision."""
        self._precision = None

    def set_output_type(self, index: int, dtype: Any) -> None:
        """Ask for the type of an output."""
        if not self._network._refuses_types("setOutputType"):
            self._types[index] = dtype

    def get_output_type(self, index: int) -> Any:
        """Return the type asked for, or the tensor's own."""
        return self._types.get(index, self._outputs[index].dtype)

    def output_type_is_set(self, index: int) -> bool:
        """Whether a type was asked for."""
        return index in self._types

    def reset_output_type(self, index: int) -> None:
        """Ask for no type."""
        self._types.pop(index, None)


class INetworkDefinition:
    """A network. It keeps the ONNX file that was parsed into it."""

    def __init__(self, builder: Any, logger: ILogger, flags: int) -> None:
        self.builder = builder
        self.flags = flags
        self.name = "Unnamed Network 0"
        self.error_recorder: Any = None
        self._model = b""
        self._inputs: list[ITensor] = []
        self._outputs: list[ITensor] = []
        self._debug: list[str] = []
        self._unfused_debug = False
        self._logger = logger
        self._layers: list[ILayer] = []

    @property
    def _typed(self) -> bool:
        """Whether the model's types are kept: always in 11."""
        return ELEVEN or bool(self.flags & 1 << int(NetworkDefinitionCreationFlag.STRONGLY_TYPED))

    @property
    def num_layers(self) -> int:
        """Number of layers."""
        return len(self._layers)

    @property
    def num_inputs(self) -> int:
        """Number of inputs."""
        return len(self._inputs)

    @property
    def num_outputs(self) -> int:
        """Number of outputs."""
        return len(self._outputs)

    @property
    def has_implicit_batch_dimension(self) -> bool:
        """Whether the batch is no dimension; never."""
        return False

    def __len__(self) -> int:
        return len(self._layers)

    def __getitem__(self, arg0: int) -> ILayer:
        return self._layers[arg0]

    def get_layer(self, index: int) -> ILayer:
        """Return a layer."""
        return self._layers[index]

    def get_input(self, index: int) -> ITensor:
        """Return an input."""
        return self._inputs[index]

    def get_output(self, index: int) -> ITensor:
        """Return an output."""
        return self._outputs[index]

    def get_flag(self, flag: Any) -> bool:
        """Whether the network was created with a flag."""
        return bool(self.flags & 1 << int(flag))

    def mark_output(self, tensor: ITensor) -> None:
        """Make a tensor an output, which no fusion swallows."""
        if tensor not in self._outputs:
            self._outputs.append(tensor)

    def unmark_output(self, tensor: ITensor) -> None:
        """Make an output an ordinary tensor."""
        self._outputs.remove(tensor)

    def mark_debug(self, tensor: ITensor) -> bool:
        """Make a tensor a debug tensor, which no fusion swallows either."""
        if tensor.name not in self._debug:
            self._debug.append(tensor.name)
        return True

    def unmark_debug(self, tensor: ITensor) -> bool:
        """Make a debug tensor an ordinary one."""
        if tensor.name in self._debug:
            self._debug.remove(tensor.name)
        return True

    def is_debug_tensor(self, tensor: ITensor) -> bool:
        """Whether a tensor is a debug tensor."""
        return tensor.name in self._debug

    def mark_unfused_tensors_as_debug_tensors(self) -> bool:
        """Make what no fusion swallows debug tensors; the network is built as it is."""
        self._unfused_debug = True
        return True

    def unmark_unfused_tensors_as_debug_tensors(self) -> bool:
        """Undo the marking."""
        self._unfused_debug = False
        return True

    def _refuses_types(self, function: str) -> bool:
        """Say that a strongly typed network takes no types, if it is one."""
        if self._typed:
            text = f"INetworkLayer::{function} cannot be called for a strongly typed network."
            tell(self._logger, [Message("E", text)])
        return self._typed

    def _wanted(self) -> dict[str, str]:
        """Return the precision asked for, by node."""
        spelled = {DataType.FLOAT: "Float", DataType.HALF: "Half"}
        return {
            layer.name: spelled[layer.precision]
            for layer in self._layers
            if layer.precision_is_set and layer.precision in spelled
        }

    def _fill(self, content: bytes) -> None:
        """Take the layers of a model."""
        net = to_net(content)
        elements = elements_of(content)
        tensors: dict[str, ITensor] = {}

        def tensor(name: str) -> ITensor:
            if name not in tensors:
                number, sizes = elements.get(name, (1, None))
                dtype = DataType[_ELEMENTS.get(number, "FLOAT")]
                dims = net.dims.get(name, ()) if sizes is None else [size or -1 for size in sizes]
                tensors[name] = ITensor(self, name, dtype, dims)
            return tensors[name]

        self._inputs = [tensor(name) for name in net.inputs]
        for node in nodes_of(content):
            inputs = [tensor(name) for name in node.inputs if name not in net.weights]
            self._layers.append(ILayer(self, node, inputs, [tensor(name) for name in node.outputs]))
        self._outputs = [tensor(name) for name in net.outputs]
        self._model = content
        if listens(self._logger):
            tell(self._logger, Story(Build(self._net(), Request(luck=0)), VERSION).parsed())

    def _net(self) -> Net:
        """Return what there is to build.

        Raises:
            Unsupported: The parser took no model.
        """
        marked = [*(tensor.name for tensor in self._outputs), *self._debug]
        return to_net(self._model, marked, eleven=ELEVEN, typed=self._typed)


class ParserError:
    """Why the parser failed."""

    def __init__(self, error: Unsupported) -> None:
        self._error = error

    def __str__(self) -> str:
        return f"In node {self._error.node} with name:  and operator: {self._error.op} : {self.code()}: {self._error}"

    def code(self) -> Any:
        """Return the kind of error."""
        unsupported = self._error.op or self._error.node >= 0
        return ErrorCode.UNSUPPORTED_NODE if unsupported else ErrorCode.MODEL_DESERIALIZE_FAILED

    def desc(self) -> str:
        """Return the text."""
        return str(self._error)

    def file(self) -> str:
        """Return the source file of the parser."""
        return "onnxOpImporters.cpp"

    def func(self) -> str:
        """Return the function of the parser."""
        return "importFallbackPluginImporter"

    def line(self) -> int:
        """Return the line of the source file."""
        return 6087

    def node(self) -> int:
        """Return the index of the node, -1 for none."""
        return self._error.node

    def node_name(self) -> str:
        """Return the name of the node."""
        return ""

    def node_operator(self) -> str:
        """Return the operator of the node."""
        return self._error.op


class OnnxParser:
    """Reads an ONNX model into a network."""

    def __init__(self, network: INetworkDefinition, logger: ILogger) -> None:
        self._network = network
        self._logger = logger
        self._errors: list[ParserError] = []
        self.flags = 0

    @property
    def num_errors(self) -> int:
        """Number of errors."""
        return len(self._errors)

    def get_error(self, index: int) -> ParserError:
        """Return an error."""
        return self._errors[index]

    def clear_errors(self) -> None:
        """Forget the errors."""
        self._errors.clear()

    def set_flag(self, flag: Any) -> None:
        """Set a flag; none changes anything here."""
        self.flags |= 1 << int(flag)

    def clear_flag(self, flag: Any) -> None:
        """Clear a flag."""
        self.flags &= ~(1 << int(flag))

    def get_flag(self, flag: Any) -> bool:
        """Whether a flag is set."""
        return bool(self.flags & 1 << int(flag))

    def parse(self, model: Any, path: str | None = None) -> bool:  # noqa: ARG002 - weights beside the model are not read
        """Read a model from memory."""
        try:
            self._network._fill(bytes(model))
        except Unsupported as error:
            self._errors.append(ParserError(error))
            text = f"In node {error.node} with name:  and operator: {error.op} ({error})"
            tell(self._logger, [Message("E", text)])
            return False
        return True

    def parse_from_file(self, model: str) -> bool:
        """Read a model from a file."""
        path = Path(model)
        if not path.is_file():
            tell(self._logger, [Message("E", f"Could not open file {model}")])
            return False
        return self.parse(path.read_bytes(), model)

    def supports_operator(self, op_name: str) -> bool:
        """Whether an operator can be built: all of ONNX's own."""
        return not op_name.startswith("Custom")
