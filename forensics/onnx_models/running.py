"""ONNX Runtime on the CPU as the project uses it: quiet, without optimisation, its failures as known exceptions.

Types that NumPy lacks (BF16, FP8, 4 bits) go in and out as ml_dtypes has them, bit for bit: ONNX Runtime itself gives
FP8 as bytes, and the others not at all.
"""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Timer
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from trtforensics.errors import SourceError, UsageError
from trtforensics.onnx_models.graphs import copied, graphs
from trtforensics.onnx_models.reading import PreparedModel, valid
from trtforensics.onnx_models.samples import Sample, Values
from trtforensics.onnx_models.shapes import element_types
from trtforensics.onnx_models.streaming import Streamed, apart, references_as_inputs, values_of

_FATAL_ONLY = 4
"""ONNX Runtime's severity that keeps it from printing; failures come as exceptions."""
_NOT_NUMPY = ("bfloat16", "float8", "float4", "int4", "uint4", "int2", "uint2")
"""How ONNX Runtime's names of element types begin that NumPy lacks."""


def onnxruntime() -> Any:  # noqa: ANN401 - it comes without types
    """Return the module; a SourceError where it is not installed."""
    try:
        import onnxruntime  # noqa: PLC0415 - an extra, and heavy
    except ImportError as error:
        raise SourceError(
            "onnxruntime", "is needed here and not installed", "`pip install 'trtforensics[precision]'`"
        ) from error
    return onnxruntime


@dataclass(frozen=True, slots=True)
class ModelSession:
    """A session of ONNX Runtime; it reads ``weights`` where they are, as inputs: constants it would copy."""

    runtime: Any
    weights: Mapping[str, Any]

    def run(self, feed: Sample, names: Sequence[str] | None = None, patience_s: float | None = None) -> dict[str, Any]:
        """Return outputs by name, all or some; one of :func:`failures` where that fails, or patience ends."""
        if patience_s is None:
            return self._run(feed, names, None)
        options = onnxruntime().RunOptions()
        timer = Timer(patience_s, setattr, (options, "terminate", True))
        timer.daemon = True
        timer.start()
        try:
            return self._run(feed, names, options)
        finally:
            timer.cancel()

    def _run(self, feed: Sample, names: Sequence[str] | None, options: Any) -> dict[str, Any]:  # noqa: ANN401 - it comes without types
        kinds = {each.name: each.type.removeprefix("tensor(") for each in self.runtime.get_outputs()}
        outputs = list(kinds) if names is None else list(names)
        given = {**self.weights, **{name: _value_of(array) for name, array in feed.items()}}
        extended = [name for name in outputs if kinds[name].startswith(_NOT_NUMPY)]
        plain = [name for name in outputs if name not in extended]
        results = dict(zip(plain, self.runtime.run(plain, given, options), strict=True)) if plain or not outputs else {}
        if extended:
            make = onnxruntime().OrtValue.ortvalue_from_numpy
            values = {name: make(value) if isinstance(value, np.ndarray) else value for name, value in given.items()}
            arrays = map(_array_of, self.runtime.run_with_ort_values(extended, values, options))
            results |= dict(zip(extended, arrays, strict=True))
        return {name: results[name] for name in outputs}


def _value_of(value: Values) -> Any:  # noqa: ANN401 - an array, or ONNX Runtime's value of a type that NumPy lacks
    if not isinstance(value, np.ndarray) or value.dtype.type.__module__ == "numpy":
        return value
    tensor = numpy_helper.from_array(value)
    made = onnxruntime().OrtValue.ortvalue_from_shape_and_type(value.shape, tensor.data_type)
    ctypes.memmove(made.data_ptr(), tensor.raw_data, len(tensor.raw_data))
    return made


def _array_of(value: Any) -> Values:  # noqa: ANN401 - as ONNX Runtime's values come, without types
    tensor = onnx.TensorProto(dims=value.shape(), data_type=value.element_type())
    tensor.raw_data = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return numpy_helper.to_array(tensor)


def session_of(
    model: onnx.ModelProto, streamed: Streamed, libraries: Sequence[str] = (), threads: int = 0
) -> ModelSession:
    """Return a session of a model; ``streamed`` are the values of streamed constants, by their keys; 0 threads: all.

    Nodes run in the order of the model. By default ONNX Runtime runs first what only reads constants, such as the
    Casts of all weights, and holds all of it. With constants in files memory is given back after each node, and there
    are no copies of weights in another layout. ONNX Runtime finds the shapes itself: those in a model may be wrong for
    sizes of 1, and it would share a buffer between two tensors that they say are alike.

    Raises:
        RuntimeError, ValueError: those of :func:`failures`.
        UsageError: a library cannot be registered.
    """
    runtime = onnxruntime()
    options = runtime.SessionOptions()
    for library in libraries:
        try:
            options.register_custom_ops_library(library)
        except failures() as error:
            what = f"{library} is no library of operators for ONNX Runtime: {first_line(error)}"
            raise UsageError("--custom-ops", what, "Give a shared library that exports RegisterCustomOps") from error
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = _FATAL_ONLY
    options.intra_op_num_threads = threads
    options.execution_order = runtime.ExecutionOrder.PRIORITY_BASED
    if any(isinstance(values, np.memmap) for values in streamed.values()):
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
        options.add_session_config_entry("session.disable_prepacking", "1")
    kinds = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    make = runtime.OrtValue.ortvalue_from_numpy_with_onnx_type
    light, large = apart(model)
    values = values_of(light, {**streamed, **large})
    weights = {name: make(each, kinds[name]) for name, each in values.items()}
    plain = copied(references_as_inputs(light))
    for graph in graphs(plain.graph):
        graph.ClearField("value_info")
    session = runtime.InferenceSession(plain.SerializeToString(), options, ["CPUExecutionProvider"])
    return ModelSession(session, weights)


def run_model(model: onnx.ModelProto, feed: Sample, streamed: Streamed | None = None) -> dict[str, Any] | str:
    """Run a model in ONNX Runtime; return its outputs by name, or why it does not run."""
    try:
        return session_of(model, streamed or {}).run(feed)
    except failures() as error:
        return first_line(error)


def failures() -> tuple[type[Exception], ...]:
    """Return the exceptions that ONNX Runtime raises; they have no common base class of their own."""
    state = onnxruntime().capi.onnxruntime_pybind11_state
    names = ("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoSuchFile", "NotImplemented")
    return (RuntimeError, ValueError, *(getattr(state, name) for name in (*names, "RuntimeException")))


def first_line(error: BaseException) -> str:
    """Return the first line of what an exception says, cut."""
    return str(error).strip().split("\n")[0][:300].rstrip(".")


def typed_by_running(prepared: PreparedModel, libraries: Sequence[str]) -> PreparedModel:
    """Return a model with the types of its main graph's tensors that ONNX Runtime infers and ONNX does not.

    ONNX's inference ends at operators of other domains. The model itself is returned where nothing is missing, or
    where ONNX Runtime does not load it.
    """
    known = element_types(prepared.proto)
    unknown = [name for node in prepared.proto.graph.node for name in node.output if name and name not in known]
    if not unknown or prepared.streamed:
        return prepared
    asked = copied(prepared.proto)
    asked.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in unknown)
    try:
        outputs = session_of(asked, {}, libraries).runtime.get_outputs()
    except failures():
        return prepared
    proto = copied(prepared.proto)
    for each in outputs[-len(unknown) :]:
        word = each.type.removeprefix("tensor(").removesuffix(")").upper()
        if word in onnx.TensorProto.DataType.keys():  # noqa: SIM118 - an enumeration of protobuf, which is no mapping
            kind = onnx.TensorProto.DataType.Value(word)
            proto.graph.value_info.append(onnx.helper.make_tensor_value_info(each.name, kind, None))
    return valid(prepared, proto)
