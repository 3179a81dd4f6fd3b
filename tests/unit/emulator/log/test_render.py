"""The emulator's lines have TensorRT's form."""

from __future__ import annotations

from datetime import datetime

from tests.emulator.log import opening, render, tuning
from tests.emulator.log.event import DetailedTensor, Event, LayerTensor, OnnxTensor, Version
from tests.support.for_each import for_each

OLD: Version = (8, 6, 1)
NEW: Version = (10, 16, 1)
MOMENT = datetime(2026, 11, 21, 7, 52, 4)  # noqa: DTZ001 - logs have no zone
ID = 0x5B8BF1B8028629D9
NO_TACTIC = 0xD15EA5EDD15EA5ED

SAME_IN_BOTH: tuple[tuple[Event, str], ...] = (
    (opening.OptionBlock("Build Options"), "=== Build Options ==="),
    (opening.Option("Precision", "FP32+FP16"), "Precision: FP32+FP16"),
    (opening.Option("LayerPrecisions", ""), "LayerPrecisions: "),
    (opening.Option("Output", None), "Output:"),
    (opening.Option("Dump refittable layers", "Disabled"), "Dump refittable layers:Disabled"),
    (opening.DeviceFact("SMs", "142"), "SMs: 142"),
    (opening.Blank(), ""),
    (opening.ParseFinished(0.0216159), "Finished parsing network model. Parse time: 0.0216159"),
    (opening.EngineSize(6.37831), "Created engine with size: 6.37831 MiB"),
    (opening.EngineBuilt(14.2693), "Engine built in 14.2693 sec."),
    (opening.Throughput(3406.14), "Throughput: 3406.14 qps"),
    (
        opening.Latency("Latency", 0.25, 1, 0.3, 0.275, 0.276611, 0.4, 0.5),
        (
            "Latency: min = 0.25 ms, max = 1 ms, mean = 0.3 ms, median = 0.275 ms, percentile(90%) = 0.276611 ms, "
            "percentile(95%) = 0.4 ms, percentile(99%) = 0.5 ms"
        ),
    ),
    (opening.TotalTime("Total GPU Compute Time", 2.98676), "Total GPU Compute Time: 2.98676 s"),
    (opening.Message("W", "beware {of} braces"), "beware {of} braces"),
    (opening.OnnxHeader("Opset version", "18"), "Opset version:    18"),
    (opening.OnnxHeader("Domain", ""), "Domain:           "),
    (
        opening.NetworkInput("x", "float32", (-1, 1, 28, 28)),
        "Adding network input: x with dtype: float32, dimensions: (-1, 1, 28, 28)",
    ),
    (opening.ImportingInitializer("w"), "Importing initializer: w"),
    (opening.StaticCheck("c", "Conv"), "Static check for parsing node: c [Conv]"),
    (opening.ParsingNode("c", "Conv"), "Parsing node: c [Conv]"),
    (opening.SearchingInput("x"), "Searching for input: x"),
    (
        opening.NodeInputs("c", "Conv", (OnnxTensor("x", (-1, 8), "FLOAT"), OnnxTensor("b", (32,), "HALF"))),
        "c [Conv] inputs: [x -> (-1, 8)[FLOAT]], [b -> (32)[HALF]], ",
    ),
    (opening.RegisteringLayer("c", "c"), "Registering layer: c for ONNX node: c"),
    (opening.RegisteringLayer("w", None), "Registering layer: w required by ONNX-TRT"),
    (opening.RegisteringTensor("y_0", "y"), "Registering tensor: y_0 for ONNX tensor: y"),
    (
        opening.NodeOutputs("a", "ArgMax", (OnnxTensor("z", (-1,), "INT64"),)),
        "a [ArgMax] outputs: [z -> (-1)[INT64]], ",
    ),
    (opening.MarkingOutput("y_0", "y"), "Marking y_0 as output: y"),
    (opening.StageCount("Original", 24), "Original: 24 layers"),
    (opening.StageCount("vertical fusions", 10), "After vertical fusions: 10 layers"),
    (opening.GraphConstructed(0.000459213), "Graph construction completed in 0.000459213 seconds."),
    (opening.GraphOptimized(7.5e-05), "Graph optimization time: 7.5e-05 seconds."),
    (opening.RunningPass("ConvReluFusion", "c"), "Running: ConvReluFusion on c"),
    (opening.FusingPair("ConvReluFusion", "c", "r"), "ConvReluFusion: Fusing c with r"),
    (opening.MergingLayers(("a", "b + c", "d")), "Merging layers: a || b + c || d"),
    (opening.RemovingLayer("s"), "Removing s"),
    (
        opening.SwappingLayerType("e", "ELEMENTWISE", "POINTWISE"),
        "Swap the layer type of e from ELEMENTWISE to POINTWISE",
    ),
    (tuning.StrategyBegin(4), "Building graph using backend strategy 4"),
    (
        tuning.StrategyInitial(4, 0.3344),
        "Use backend strategy 4 with estimated inference time (0.3344) as the initial choice.",
    ),
    (
        tuning.StrategyChosen(3, 0.310688, 0.3344),
        (
            "Chose this engine with backend strategy 3 since its estimated inference time (0.310688) is faster than "
            "the previous engine with estimated inference time (0.3344)."
        ),
    ),
    (
        tuning.StrategySkipped(2, 0.32816, 0.310688),
        (
            "Skip backend strategy 2since its estimated inference time (0.32816) is not faster than the previous "
            "engine with estimated inference time (0.310688)."
        ),
    ),
    (
        tuning.TimingCacheInUse("Global"),
        "Global timing cache in use. Profiling results in this builder pass will be stored.",
    ),
    (
        tuning.TimingCacheInUse("Local"),
        "Local timing cache in use. Profiling results in this builder pass will not be stored.",
    ),
    (tuning.ProfileBegin(0, 2), "Constructing optimization profile number 0 [1/2]."),
    (tuning.CostsHeader("c + r"), "=============== Computing costs for c + r"),
    (tuning.CostsHeader(""), "=============== Computing costs for "),
    (
        tuning.Combination(("Float(784,1:4,28,1)", "Half(10,1)"), ("Int64(1)",)),
        "*************** Autotuning format combination: Float(784,1:4,28,1), Half(10,1) -> Int64(1) ***************",
    ),
    (
        tuning.Combination(("Float(E0,1)",), ("Float(E0,1)",), "E0=(* 64 seq)", "0x12"),
        (
            "*************** Autotuning format combination: Float(E0,1) -> Float(E0,1) where E0=(* 64 seq) {key: 0x12} "
            "***************"
        ),
    ),
    (
        tuning.TimingRunner("c", "CaskConvolution", 0x80000009),
        "--------------- Timing Runner: c (CaskConvolution[0x80000009])",
    ),
    (tuning.TacticTimed(1000, 0.00452), "Tactic: 0x00000000000003e8 Time: 0.00452"),
    (tuning.TacticTimed(ID, 0.00402895, "sm80_k"), "Tactic Name: sm80_k Tactic: 0x5b8bf1b8028629d9 Time: 0.00402895"),
    (
        tuning.TacticSkippedScratch(1, 200704, 1024),
        "Tactic: 0x0000000000000001 skipped. Scratch requested: 200704, available: 1024",
    ),
    (tuning.WorkspaceHint(200704), "Setting workspace to 200704enables more tactics for profiling"),
    (
        tuning.ProfilingCompleted("c", "Shuffle", 0x8000000D, 0.00201685, NO_TACTIC, float("inf")),
        (
            "c (Shuffle[0x8000000d]) profiling completed in 0.00201685 seconds. "
            "Fastest Tactic: 0xd15ea5edd15ea5ed Time: inf"
        ),
    ),
    (tuning.Chose("Shuffle", 0), ">>>>>>>>>>>>>>> Chose Runner Type: Shuffle Tactic: 0x0000000000000000"),
    (tuning.ReformatCostsHeader(opening=False), "=============== Computing reformatting costs: "),
    (
        tuning.ReformatAutotune("Float(10,1)", "Half(10,1)"),
        "*************** Autotuning Reformat: Float(10,1) -> Half(10,1) ***************",
    ),
    (
        tuning.AddingReformat("Reformatted Input Tensor 0 to c", "x", "Float(10,1)", "Half(10,1)"),
        "Adding reformat layer: Reformatted Input Tensor 0 to c (x) from Float(10,1) to Half(10,1)",
    ),
    (tuning.SelectionCompleted(8.2933), "Formats and tactics selection completed in 8.2933 seconds."),
    (
        tuning.MemoryOmitted(8),
        (
            "Skipped printing memory information for 8 layers with 0 memory size i.e. Host Persistent + Device "
            "Persistent + Scratch Memory == 0."
        ),
    ),
    (tuning.KernelIndex("c", 3), "Finalize: c Set kernel index: 3"),
    (tuning.KernelKind(3, "CASK_STATIC"), "Kernel: 3 CASK_STATIC"),
    (tuning.EngineGeneration(8.82294), "Engine generation completed in 8.82294 seconds."),
    (tuning.EngineDump(detailed=False), "Engine Layer Information:"),
    (tuning.EngineDump(detailed=True), "Layers:"),
    (
        tuning.EngineLayerNamesOnly(
            "CaskPooling",
            "p",
            ID,
            (LayerTensor("r", "Half", ("-1", "32:8", "28", "28")),),
            (LayerTensor("y", "Float", ("-1",)), LayerTensor("z", "Int32", ("-1",))),
        ),
        "Layer(CaskPooling): p, Tactic: 0x5b8bf1b8028629d9, r (Half[-1,32:8,28,28]) -> y (Float[-1]), z (Int32[-1])",
    ),
    (
        tuning.EngineLayerNamesOnly("Constant", "w", 0, (), (LayerTensor("c", "Half", ("1", "10")),)),
        "Layer(Constant): w, Tactic: 0x0000000000000000,  -> c (Half[1,10])",
    ),
    (
        tuning.TimingCacheDeleted(72, 3),
        "Deleting timing cache: 72 entries, served 3 hits since creation.",
    ),
    (tuning.TimingCacheOrigin("GPU-0", "a3ec"), "Serializing timing cache. UUID = GPU-0, commit ID = a3ec"),
    (tuning.TimingCacheSerialized(253), "Serialized 253 timing cache entries"),
)

DIFFERENT: tuple[tuple[Event, str, str], ...] = (
    (
        opening.Banner("RUNNING", "trtexec --onnx=m", 72),
        "&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=m",
        "&&&& RUNNING TensorRT.trtexec [TensorRT v101601] [b72] # trtexec --onnx=m",
    ),
    (
        tuning.NoValidTactics("CaskFlattenConvolution", "c"),
        "CaskFlattenConvolution has no valid tactics for this config, skipping",
        "Skipping CaskFlattenConvolution: No valid tactics for c",
    ),
    (
        tuning.ReformatCostsHeader(opening=True),
        "=============== Computing reformatting costs",
        "=============== Computing reformatting costs for available format set",
    ),
    (
        tuning.LayerMemory("c", 5536, 0, 66048),
        "Layer: c Host Persistent: 5536 Device Persistent: 0 Scratch Memory: 66048",
        "Layer: c Host Persistent: 5536 bytes Device Persistent: 0 bytes Scratch Memory: 66048 bytes",
    ),
    (
        tuning.TotalMemory("Total Activation", 2105856),
        "Total Activation Memory: 2105856",
        "Total Activation Memory: 2105856 bytes",
    ),
)

ONLY_NEW: tuple[tuple[Event, str], ...] = (
    (
        tuning.ForeignNodeMetadata("{ForeignNode[a...b]} [profile 1]", ("[ONNX Layer: a]", "[ONNX Layer: b]")),
        "ForeignNode {ForeignNode[a...b]} [profile 1] metadata: [ONNX Layer: a]\x1e[ONNX Layer: b]",
    ),
    (
        tuning.CachedResult("c [profile 1]", ("Float(10,1)",), ("Half(10,1)",), "CaskConvolution", ID, 0.00442582),
        (
            "c [profile 1] [Float(10,1) -> Half(10,1)] got cached result: CaskConvolution, tactic 0x5b8bf1b8028629d9, "
            "0.00442582 ms"
        ),
    ),
    (
        tuning.ForeignOp("a", ("[ONNX Layer: a]", "[ONNX Layer: b]")),
        " (foreignNode) Autotuning op a: [ONNX Layer: a]\x1f[ONNX Layer: b]",
    ),
    (
        tuning.ForeignOp("a", ("[ONNX Layer: a]",), "0x1814870c44ff0f8574df6e3dda04cbd7"),
        " (foreignNode) Autotuning op a(key: 0x1814870c44ff0f8574df6e3dda04cbd7): [ONNX Layer: a]",
    ),
    (tuning.ForeignTable(), " (foreignNode) Sorted table of all evaluated tactics:"),
    (
        tuning.ForeignColumns(("conv_w2c_input_fold",)),
        (
            " (foreignNode) tactic_id, cost(in ms), cost/fastest_cost, prediction_correlation, kernel_name, "
            "tactic_hash, tunable_parameter, conv_w2c_input_fold"
        ),
    ),
    (
        tuning.ForeignTactic(70, 0.0132384, 1.0, 1.45765, "sm80_k", 0x3CF17F0300AD1),
        " (foreignNode)   70, 0.0132384, 1.00000, 1.45765, sm80_k, 0x3cf17f0300ad1, ",
    ),
    (
        tuning.ForeignTactic(102, 0.0039936, 1.02564, 1.5, "sm80_k", 0x49175FA8B00A3, "", ("0",)),
        " (foreignNode)  102, 0.0039936, 1.02564, 1.50000, sm80_k, 0x49175fa8b00a3, , 0",
    ),
    (
        tuning.ForeignSelected(0x665DED9ABBF88, 0.011264),
        "The selected tactic is (tactic hash, cost(in ms)):0x665ded9abbf88,  0.011264",
    ),
    (tuning.ForeignStored(0x665DED9ABBF88), "Writing the best tactic (0x665ded9abbf88) to cache"),
    (
        tuning.EngineLayerDetailed(
            "p",
            "CaskPooling",
            (DetailedTensor("r", (-1, 32), "Half"),),
            (DetailedTensor("q", (-1,), "Half", None), DetailedTensor("s", (), "Float")),
            (("WindowSize", "[2,2]"), ("Weights", '{"Type": "Float", "Count": 8}')),
            "sm50_k",
            ID,
            0,
            ("[ONNX Layer: p]", "[ONNX Layer: q]"),
        ),
        (
            "Name: p, LayerType: CaskPooling, Inputs: [ { Name: r, Location: Device, Dimensions: [-1,32], "
            "Format/Datatype: Half }], Outputs: [ { Name: q, Dimensions: [-1], Format/Datatype: Half }, "
            "{ Name: s, Location: Device, Dimensions: [], Format/Datatype: Float }], WindowSize: [2,2], "
            'Weights: {"Type": "Float", "Count": 8}, TacticName: sm50_k, TacticValue: 0x5b8bf1b8028629d9, StreamId: 0, '
            "Metadata: [ONNX Layer: p]\x1e[ONNX Layer: q]"
        ),
    ),
    (
        tuning.EngineLayerDetailed("m", "shape_call", (), (), tactic_name="", stream=0, metadata=()),
        "Name: m, LayerType: shape_call, Inputs: [], Outputs: [], TacticName: , StreamId: 0, Metadata: ",
    ),
)

ALL_FORMS = (
    *((event, version, body) for event, body in SAME_IN_BOTH for version in (OLD, NEW)),
    *((event, OLD, body) for event, body, _ in DIFFERENT),
    *((event, NEW, body) for event, _, body in DIFFERENT),
    *((event, NEW, body) for event, body in ONLY_NEW),
)


@for_each(("event", "version", "body"), ALL_FORMS)
def test_an_event_renders_as_the_version_logs_it(event: Event, version: Version, body: str) -> None:
    assert render.render(event, version) == body


def test_every_kind_of_event_has_an_expected_line() -> None:
    assert set(render.EVENTS) == {type(event) for event, _, _ in ALL_FORMS}


@for_each(
    ("dialect", "tensorrt", "expected"),
    [
        ("trtexec", True, "[11/21/2026-07:52:04] [V] [TRT] body"),
        ("trtexec", False, "[11/21/2026-07:52:04] [V] body"),
        ("python", True, "[11/21/2026-07:52:04] [TRT] [V] body"),
        ("python", False, "body"),
        ("polygraphy", True, "[X] body"),
        ("polygraphy", False, "[V] body"),
    ],
)
def test_a_dialect_prefixes_its_lines(dialect: render.Dialect, tensorrt: bool, expected: str) -> None:  # noqa: FBT001
    assert render.prefixed("body", dialect, MOMENT, "V", tensorrt=tensorrt) == expected


@for_each(
    ("event", "old", "new"),
    [
        (opening.GraphOptimized(1.0), "I", "V"),
        (tuning.EngineGeneration(1.0), "V", "I"),
        (opening.Message("E", ""), "E", "E"),
        (tuning.Chose("Shuffle", 0), "V", "V"),
    ],
)
def test_severity_follows_the_version(event: Event, old: str, new: str) -> None:
    assert (render.severity(event, OLD), render.severity(event, NEW)) == (old, new)


def test_banners_and_engine_layers_have_no_prefix() -> None:
    layer = tuning.EngineLayerNamesOnly("NoOp", "n", 0, (), ())
    assert render.line(layer, NEW, "trtexec", MOMENT) == "Layer(NoOp): n, Tactic: 0x0000000000000000,  -> "
    assert render.line(opening.Banner("PASSED", "a", 1), OLD, "trtexec", MOMENT).startswith("&&&& PASSED")


def test_trtexecs_own_lines_carry_no_tag() -> None:
    message = opening.Message("W", "text", of_tensorrt=False)
    assert render.line(message, NEW, "trtexec", MOMENT) == "[11/21/2026-07:52:04] [W] text"
    assert render.line(opening.EngineBuilt(1.5), NEW, "trtexec", MOMENT).endswith("[I] Engine built in 1.5 sec.")
