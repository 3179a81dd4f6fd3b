"""Executions that TensorRT refuses: shapes outside the profile, unset tensors, contexts that share a profile."""

from __future__ import annotations

from trtforensics.findings.finding import Fix, Severity
from trtforensics.findings.rule import said

profile_taken = said(
    "TF640",
    Severity.ERROR,
    "Two execution contexts use one optimization profile",
    kinds=("profile_taken",),
    says="Optimization profile {index} is in use by another execution context",
    cause="With dynamic shapes, each context in concurrent use needs an optimization profile of its own; this engine's "
    "profile already belongs to another context.",
    confirm="engine.num_optimization_profiles against the number of contexts.",
    fixes=(
        (
            "Build the engine with one profile per context, and give each context its own "
            "(set_optimization_profile_async)."
        ),
        "Or destroy the other context first, or use one context for all threads, under a lock.",
        Fix("Let contexts share a profile with PreviewFeature kPROFILE_SHARING_0806 or the default of 10.", "8.6"),
    ),
    sources=("engine.cpp of 7.x and 8.x",),
)

profile_unset = said(
    "TF641",
    Severity.ERROR,
    "The context has no profile or not all input shapes",
    kinds=("profile_unset",),
    cause="The context runs with no optimization profile selected, or before every dynamic input has a shape.",
    confirm="The lines before say whether the profile was refused (in use by another context).",
    fixes=(
        (
            "Select a profile (set_optimization_profile_async), then set the shape of every dynamic input "
            "(set_input_shape), before enqueue."
        ),
    ),
    sources=("executionContext.cpp of 7.x to 10.x",),
)

outside_profile = said(
    "TF642",
    Severity.ERROR,
    "An input's shape is outside the optimization profile",
    kinds=("profile_exceeded",),
    cause="The shape that the program sets lies outside the profile's minimum and maximum, so the engine has no "
    "kernels "
    "for it.",
    confirm="engine.get_tensor_profile_shape(name, profile) against the shape of the data.",
    fixes=(
        "Resize or pad the input so that it lies within the profile range.",
        "Or build the engine for the shapes that occur: --minShapes, --optShapes, --maxShapes.",
    ),
    sources=("executionContext.cpp of 7.x to 10.x",),
)

static_dimension = said(
    "TF643",
    Severity.ERROR,
    "An input's shape differs in a dimension that the engine fixes",
    kinds=("static_dimension",),
    cause="The engine was built with this dimension fixed, and the data has another size there.",
    confirm="engine.get_tensor_shape(name): -1 is dynamic, all else is fixed.",
    fixes=(
        "Feed the shape that the engine has, or export the model with that dimension dynamic and build with shapes.",
    ),
    sources=("executionContext.cpp of 8.x to 10.x",),
)

tensor_name = said(
    "TF644",
    Severity.ERROR,
    "The program names a tensor that the engine does not have",
    kinds=("tensor_name_invalid",),
    says="The program asks for tensor {name}, and the engine has no tensor of that name",
    cause="The name handed to the engine names no tensor of it. A ? here means an empty name: the tensor name is empty "
    "in the program's settings (for ROS nodes input_binding_names and output_binding_names).",
    confirm="polygraphy inspect model ENGINE lists the names of the tensors.",
    fixes=("Give the engine's own tensor names; they are those of the ONNX model's inputs and outputs.",),
    sources=("engine.cpp of 8.5 and later (getProfileObliviousBindingIndex)",),
)

address_unset = said(
    "TF645",
    Severity.ERROR,
    "A tensor has no address when the engine runs",
    kinds=("address_unset",),
    says="Tensor {tensor} has neither address nor allocator when the engine is enqueued",
    cause="Each input and output needs setTensorAddress, or an output allocator where its shape depends on the data "
    "(data-dependent shape, DDS), before enqueueV3. After an engine is built again for new shapes all must be bound "
    "again.",
    confirm="Print for each I/O tensor whether its address was set in this context.",
    fixes=(
        "Set the address of every I/O tensor, and an output allocator for outputs with data-dependent shapes.",
        (
            "In ONNX Runtime this is a known bug of ONNX Runtime after an engine update: use a newer ONNX Runtime, or "
            "give "
            "trt_profile_min_shapes, trt_profile_opt_shapes and trt_profile_max_shapes that cover all inputs."
        ),
    ),
    settle="Which program binds the tensors: the prefix of the line names ONNX Runtime, or it is your own code.",
    sources=("IExecutionContext::enqueueV3 of 8.5 and later; onnxruntime#26272",),
)

batch_too_small = said(
    "TF646",
    Severity.WARNING,
    "The engine's batch size is smaller than the one asked for",
    kinds=("batch_too_small",),
    says="The engine has batch size {first}, and {second} is asked for",
    cause="The model was exported with a static batch, so the engine's batch size is fixed, whatever the configuration "
    "says.",
    confirm="The first dimension of the ONNX model's input: a number is a static batch, a name a dynamic one.",
    fixes=(
        (
            "Export the ONNX model with a dynamic batch (exporters call it --dynamic or dynamic_axes), or with that "
            "fixed "
            "batch, delete the engine file, and let it be built again."
        ),
        (
            "Give an engine of an ONNX model shapes in place of a batch size: trtexec --shapes without --batch, or "
            "setInputShape and enqueueV3."
        ),
        "In Triton, set max_batch_size to the engine's.",
    ),
    sources=("DeepStream, nvdsinfer_context_impl.cpp", "NVIDIA/TensorRT#1521, #3549", "Triton's tensorrt_backend"),
)

batch_of_explicit = said(
    "TF647",
    Severity.WARNING,
    "A batch size is given to an engine with explicit batch",
    kinds=("batch_of_explicit",),
    cause="The batch is a dimension of the tensors; execute, enqueue and --batch with a batch size are for the "
    "implicit "
    "batch of old networks (gone with TensorRT 10).",
    confirm="engine.has_implicit_batch_dimension is False.",
    fixes=(
        Fix("Use execute_async_v2 without a batch size, and trtexec --shapes instead of --batch.", before="8.5"),
        Fix("Use execute_async_v3, and trtexec --shapes instead of --batch.", "8.5"),
    ),
    sources=("executionContext.cpp of 7.x and 8.x",),
)


max_batch = said(
    "TF611",
    Severity.NOTE,
    "The batch size of an engine with explicit batch is asked for",
    kinds=("max_batch",),
    says="getMaxBatchSize() is asked of an engine with explicit batch, and always says 1",
    cause="The batch is a dimension of the tensors, with its limits in the optimisation profile. Polygraphy and older "
    "programs ask all the same; the answer means nothing, and harms only a program that believes it.",
    confirm="engine.has_implicit_batch_dimension is False; the shapes of the profile (get_profile_shape).",
    fixes=("Read the largest batch from the optimisation profile.",),
    sources=("8.2 to 8.6, ICudaEngine::getMaxBatchSize; removed in 10.0",),
)
