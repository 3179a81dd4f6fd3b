"""ONNX Runtime on the CPU as the project uses it: quiet, without optimisation, its failures as known exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trtforensics.bisect.precision.casting.streaming import references_as_inputs, values_of
from trtforensics.errors import SourceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx

    from trtforensics.bisect.precision.casting.streaming import Streamed
    from trtforensics.bisect.precision.inputs.sample import Sample

_FATAL_ONLY = 4
"""ONNX Runtime's severity that keeps it from printing; failures come as exceptions."""


def onnxruntime() -> Any:  # noqa: ANN401 - it comes without types
    """Return the module.

    Raises:
        SourceError: it is not installed.
    """
    try:
        import onnxruntime  # noqa: PLC0415 - an extra, and heavy
    except ImportError as error:
        raise SourceError("onnxruntime", "is needed here and not installed", "Run `pip install onnxruntime`") from error
    return onnxruntime


def options_for(runtime: Any, libraries: Sequence[str], *, frees_memory: bool = False) -> Any:  # noqa: ANN401 - it comes without types
    """Return a session's options; ``libraries`` of custom operators are registered.

    Nodes run in the order of the model. By default ONNX Runtime runs first what only reads constants, such as the
    Casts of all weights, and holds all of it. A session that ``frees_memory`` gives it back after each node, and has no
    copies of weights in another layout.

    Raises:
        UsageError: a library cannot be registered.
    """
    options = runtime.SessionOptions()
    for library in libraries:
        try:
            options.register_custom_ops_library(library)
        except failures(runtime) as error:
            what = f"{library} is no library of operators for ONNX Runtime: {first_line(error)}"
            raise UsageError("--custom-ops", what, "Give a shared library that exports RegisterCustomOps") from error
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = _FATAL_ONLY
    options.execution_order = runtime.ExecutionOrder.PRIORITY_BASED
    if frees_memory:
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
        options.add_session_config_entry("session.disable_prepacking", "1")
    return options


def failures(runtime: Any) -> tuple[type[Exception], ...]:  # noqa: ANN401 - it comes without types
    """Return the exceptions that ONNX Runtime raises; they have no common base class of their own."""
    state = runtime.capi.onnxruntime_pybind11_state
    names = ("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoSuchFile", "NotImplemented")
    return (RuntimeError, ValueError, *(getattr(state, name) for name in (*names, "RuntimeException")))


def first_line(error: BaseException) -> str:
    """Return the first line of what an exception says, cut."""
    return str(error).strip().split("\n")[0][:300].rstrip(".")


def run_model(model: onnx.ModelProto, feed: Sample, streamed: Streamed | None = None) -> dict[str, Any] | str:
    """Run a model in ONNX Runtime; return its outputs by name, or why it does not run.

    ``streamed`` are the values of streamed constants, by their keys.
    """
    runtime = onnxruntime()
    try:
        session, weights = session_of(model, streamed or {})
        names = [each.name for each in session.get_outputs()]
        return dict(zip(names, session.run(names, {**weights, **feed}), strict=True))
    except failures(runtime) as error:
        return first_line(error)


def session_of(model: onnx.ModelProto, streamed: Streamed, libraries: Sequence[str] = ()) -> tuple[Any, dict[str, Any]]:
    """Return a session, and the values of its streamed constants, which it takes as inputs: constants it would copy.

    Raises:
        RuntimeError, ValueError: those of :func:`failures`.
        UsageError: a library cannot be registered.
    """
    runtime = onnxruntime()
    options = options_for(runtime, libraries, frees_memory=bool(streamed))
    kinds = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    make = runtime.OrtValue.ortvalue_from_numpy_with_onnx_type
    weights = {name: make(each, kinds[name]) for name, each in values_of(model, streamed).items()} if streamed else {}
    message = (references_as_inputs(model) if streamed else model).SerializeToString()
    return runtime.InferenceSession(message, options, ["CPUExecutionProvider"]), weights
