"""The counter that the parsers are held against is itself held against lines small enough to count by eye."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.for_each import for_each
from tests.support.independent_counts import COUNTS, count, main

TIME = "[03/25/2023-07:13:17]"
TIMED = "Tactic: 0x00000000000003e8 Time: 0.00193877"

SAID = {
    "choices": [
        ">>>>>>>>>>>>>>> Chose Runner Type: CudaMLP Tactic: 0",
        "--------------- Chose 14 (-414176431451436080)",
        "--------------- Chose 2 (107)",
    ],
    "tactics_timed": [
        TIMED,
        "Tactic: 1002 Time: 0.00452",
        "Tactic: -3360065831133338131 Time: 3.40282e+38",
        "Tactic: 0xd15ea5edd15ea5ed Time: inf",
        "Tactic: 8190451076631534509 time 0.028288",
        "Tactic -7101724362005010716 time 0.123392",
        "Tactic Name: sm80_xmma_nn_v1 Tactic: 0xf067e6205da31c2e Time: 0.0129196",
        "Tactic Name: k -> k numSplitK: 1 numBuffers: 0 numKernels: 1 Tactic: 0x00000000000003e8 Time: 1",
    ],
    "tactics_skipped": [
        "Tactic: 0x0000000000000004 skipped. Scratch requested: 7527202816, available: 1073741824",
        "Tactic: 0 skipped. Scratch requested: 672, available: 0",
        "Tactic 4 scratch requested: 7378575360, available: 1048576",
    ],
    "runner_blocks": [
        "--------------- Timing Runner: a + b (CaskConvolution[0x80000009])",
        "--------------- Timing Runner: 2-layer MLP: a -> b (CudaMLP)",
        "--------------- Timing Runner: <reformat> (Reformat)",
    ],
    "cached": [
        "a [profile 1] [Float(784,1) -> Half(784:2,1)] got cached result: Cask, tactic 0x40a12e3938221818, 0.008 ms",
        "Optimizer Reformat(x -> <out>) [Float(4,1) -> Half(4,1)] got cached result: Reformat, tactic 0x0, 0.1 ms",
    ],
    "stages": ["Original: 105 layers", "After dead-layer removal: 1 layers", "After reformat layers: 7 layers"],
    "engine_layers": [
        "Layer(CaskConvolution): a + b, Tactic: 0x98e92db98836b738, x (Half[-1,1:2,28,28]) -> y (Half[-1,32:2,28,28])",
        "Layer(TrainStation): [trainStation1], Tactic: 0x0000000000000000,  -> ",
        "Name: Layer: b, LayerType: CaskConvolution, Inputs: [ { Name: x }], Outputs: []",
    ],
    "fusions": [
        "ConvReluFusion: Fusing a with b",
        "ConstShuffleFusion: Fusing b3/read:0 with (Unnamed Layer* 21) [Shuffle]",
        "Merging layers: a || b || c",
        "Fusing convolution weights from conv1 with scale bn1",
    ],
    "reformats": ["Adding reformat layer: Reformatted Input Tensor 0 to a (x) from Float(4,1) to Half(4,1)"],
    "builds_running": ["&&&& RUNNING TensorRT.trtexec [TensorRT v101601] [b11] # trtexec --onnx=a.onnx"],
}

NOTHING = [
    "",
    "Fastest Tactic: 0x00000000000003e8 Time: 0.00193877",
    "a (Cask[0x80000009]) profiling completed in 0.1 seconds. Fastest Tactic: 0x5b8bf1b8028629d9 Time: 0.0056",
    "a (caskFullyConnectedFP32) Set Tactic Name: volta_sgemm_128x32_relu_nn_v1",
    "a Set Tactic Name: k Tactic: 0x5b8bf1b8028629d9 numSplitK: 1 numBuffers: 0 numKernels: 1",
    "Tactic Name: k",
    "Tactic Name: k Tactic: 0x5b8bf1b8028629d9",
    "Tactic sources: Using default tactic sources",
    "Tactic 0 is the only option, timing skipped",
    "Setting workspace to 7527202816enables more tactics for profiling",
    "UNSUPPORTED_STATE: Skipping tactic 0 due to insufficient memory on requested size of 4 detected for tactic 0x04.",
    "Skipping CaskFlattenConvolution: No valid tactics for a",
    "Layer: a Host Persistent: 1664 Device Persistent: 0 Scratch Memory: 0",
    "Layers:",
    "Engine Layer Information:",
    "Name: x, IOMode: Input, DataType: Float, Dimensions: [1,3]",
    '"Name": "a", "LayerType": "Reformat"',
    "Graph construction completed in 0.01 seconds.",
    "Skipped printing memory information for 9 layers with 0 memory size",
    "(Sparsity) Chose 9 layer(s) using sparse tactics:",
    "Chose this engine with backend strategy 3 since its estimated inference time (0.3) is faster",
    "Running: ConvReluFusion on a",
    "QuantizeDoubleInputNodes: fusing a into b",
    "After tensor merging",
    "Original: 3 layers of which 2 are left",
    "&&&& PASSED TensorRT.trtexec [TensorRT v8600] # trtexec",
    "[I] RUNNING | Command: polygraphy run a.onnx",
    f"> {TIME} [V] [TRT] {TIMED}",
    f"`{TIMED}`",
    f'"[V] {TIMED}"',
    f"Registering layer: {TIMED} for ONNX node: a",
]

PREFIXES = [
    "",
    f"{TIME} [V] [TRT] ",
    f"{TIME} [I] ",
    "[00/15/2020-10:38:48] [V] [TRT] ",
    f"{TIME} {TIME} [V] [TRT] ",
    f"{TIME} [TRT] [V] ",
    "[TensorRT] VERBOSE: ",
    "[V] ",
    "[X]     ",
    "[I] [TRT] ",
    "[V] (08:15:57) [backend/trt/util.py:72] ",
    "[INFO] ",
    "My Logger: Severity.VERBOSE ",
    "\x1b[38;5;104m[X] ",
    "\x1b[2K\x1b[0G",
]

WARNINGS = [
    f"{TIME} [W] [TRT] a",
    f"{TIME} [W] a",
    f"{TIME} [TRT] [W] ",
    "[TensorRT] WARNING: a",
    "[W] a",
    "My Logger: Severity.WARNING a",
]
ERRORS = [
    f"{TIME} [E] Error[10]: a",
    f"{TIME} [F] [TRT] a",
    f"{TIME} [TRT] [E] a",
    "[TensorRT] ERROR: a",
    "[TensorRT] INTERNAL_ERROR: a",
    "[E]     a",
    "[!] a",
]
NO_LEVEL = [
    "WARNING:tensorflow:a",
    "a [W] b",
    f"{TIME} [I] [E] a",
    "[Warning] a",
    "[E]rror",
    "E",
    f"{TIME} [I] ERROR: a",
]


def counted(text: str) -> dict[str, int]:
    """Return the counts that are not nought, without the lines."""
    return {name: n for name, n in count(text.encode()).items() if n and name != "lines"}


@for_each(("name", "body"), [(name, body) for name, bodies in SAID.items() for body in bodies])
def test_a_line_counts_for_what_it_says(name: str, body: str) -> None:
    assert counted(body) == {name: 1}


@for_each("body", NOTHING)
def test_a_look_alike_counts_for_nothing(body: str) -> None:
    assert counted(body) == {}
    assert counted(f"{TIME} [V] [TRT] {body}") == {}


@for_each("prefix", PREFIXES)
def test_a_prefix_changes_no_count(prefix: str) -> None:
    bodies = [bodies[0] for name, bodies in SAID.items() if name != "builds_running"]
    expected = dict.fromkeys(SAID.keys() - {"builds_running"}, 1)
    assert counted("\n".join(prefix + body for body in bodies)) == expected


@pytest.mark.parametrize(("name", "lines"), [("warnings", WARNINGS), ("errors", ERRORS)])
def test_levels_are_counted_by_prefix(name: str, lines: list[str]) -> None:
    for line in lines:
        assert counted(line) == {name: 1}, line


@for_each("line", NO_LEVEL)
def test_a_level_outside_a_prefix_is_no_level(line: str) -> None:
    assert counted(line) == {}


def test_a_line_counts_for_its_level_and_for_what_it_says() -> None:
    assert counted(f"[W] {TIMED}") == {"warnings": 1, "tactics_timed": 1}


@for_each(
    ("data", "lines"),
    [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\n", 1), (b"a\r\nb\r\n", 2), (b"a\rb\x1ec\x85d\x0ce\n\nf", 3)],
)
def test_only_a_line_feed_ends_a_line(data: bytes, lines: int) -> None:
    assert count(data)["lines"] == lines


@for_each("codec", ["utf-8", "utf-8-sig", "utf-16"])
@for_each("ending", ["\n", "\r\n"])
def test_the_encoding_and_the_line_ending_change_no_count(codec: str, ending: str) -> None:
    text = f"[V] {TIMED}{ending}[V] Original: 3 layers{ending}"
    got = count(text.encode(codec))
    assert (got["lines"], got["tactics_timed"], got["stages"]) == (2, 1, 1)


def test_a_level_with_no_text_counts_before_either_line_ending() -> None:
    assert count(b"[W]\r\n[W] \r\n[W]\n[W] ")["warnings"] == 4


def test_big_endian_utf16_is_decoded() -> None:
    assert count(b"\xfe\xff" + TIMED.encode("utf-16-be"))["tactics_timed"] == 1


def test_a_byte_that_is_no_text_hides_nothing_else() -> None:
    assert count(b"\xff Fusion\n[V] Original: 3 layers\n")["stages"] == 1


def test_the_table_has_a_row_a_file_and_their_sum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.log", "b.log"):
        Path(name).write_text("[V] Original: 3 layers\n", encoding="utf-8")
    assert main(["a.log", "b.log"]) == 0
    header, first, _, total = capsys.readouterr().out.splitlines()
    assert tuple(header.split()) == COUNTS
    stages = 1 + COUNTS.index("stages")
    assert (first.split()[0], first.split()[stages]) == ("a.log", "1")
    assert (total.split()[0], total.split()[stages]) == ("total", "2")
