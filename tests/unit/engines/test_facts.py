"""Facts of layers, derived from a build."""

from __future__ import annotations

from dataclasses import replace

from tests.support.engine_builds import build_of, layer, tuned
from tests.support.for_each import for_each
from tests.support.sample_session import Scribe
from trtforensics.engines.facts import EngineFacts
from trtforensics.engines.onnx_nodes import block_of
from trtforensics.engines.quantities import alignment_of
from trtforensics.model.data_types import ComputePrecision, PrecisionSource
from trtforensics.model.timings import TimeSource


def test_sums_shares_and_reformats_follow_from_the_layers() -> None:
    scribe = Scribe()
    layers = (
        layer(scribe, "r", "Reformat", reads=("x",), writes=("y",)),
        layer(scribe, "c", "CaskConvolution", "Half", reads=("y",), writes=("z",)),
        layer(scribe, "n", "NoOp", reads=("z",), writes=("u",)),
    )
    timed = [replace(one, time_ms=ms, time_is=TimeSource.TUNED) for one, ms in zip(layers, (1.0, 3.0), strict=False)]
    engine = EngineFacts(build_of(scribe, (), *timed, layers[2]), "build")
    assert [facts.share for facts in engine.layers] == [0.25, 0.75, None]
    assert [(facts.reformats_before, facts.reformats_after) for facts in engine.layers] == [(0, 0), (1, 0), (0, 0)]
    assert [facts.name for facts in engine.running] == ["r", "c"]
    assert engine.whole.time_ms == 4.0
    assert engine.whole.activation_bytes == 2 * 256 + 2 * 128
    assert [(group.name, group.time_ms) for group in engine.by_kind()] == [("Convolution", 3.0), ("Reformat", 1.0)]


def test_strides_of_the_choice_count_as_stored() -> None:
    scribe = Scribe()
    choices = tuned(scribe, "c", {"Half": (0.1,)}, "Half")
    engine = EngineFacts(build_of(scribe, choices, layer(scribe, "c", dtype="Half", choice=0)), "build")
    (facts,) = engine.layers
    assert facts.choice is choices[0]
    assert (facts.inputs[0].bytes, facts.inputs[0].stored_bytes) == (128, 128)


def test_a_layer_of_which_only_the_name_is_known_has_no_bytes() -> None:
    scribe = Scribe()
    bare = replace(layer(scribe, "a", ""), inputs=(), outputs=())
    (facts,) = EngineFacts(build_of(scribe, (), bare), "build").layers
    assert (facts.activation_bytes, facts.weights_bytes, facts.intensity) == (None, None, None)


@for_each(
    ("precision", "groups", "aligned"),
    [("Half", "1", True), ("Int8", "1", False), ("Half", "8", None), ("Float", "1", None), ("Half", None, None)],
)
def test_alignment_is_judged_for_convolutions_that_tensor_cores_could_run(
    precision: str, groups: str | None, *, aligned: bool | None
) -> None:
    convolution = layer(Scribe(), "c")
    tensors = [replace(tensor, dims=(1, 24, 8, 8)) for tensor in (*convolution.inputs, *convolution.outputs)]
    fields = {"Kernel": "[3,3]"} | ({} if groups is None else {"Groups": groups})
    known = ComputePrecision(precision, PrecisionSource.KERNEL)
    judged = replace(convolution, inputs=(tensors[0],), outputs=(tensors[1],), fields=fields, compute_precision=known)
    found = alignment_of(judged, "Convolution")
    assert (None if found is None else found.aligned) is aligned


@for_each(
    ("names", "block"),
    [
        (("/layer1/0/conv/Conv", "/layer1/0/relu/Relu"), "/layer1/0"),
        (("/a/Conv",), "/a"),
        (("/a/Conv", "/b/Conv"), ""),
        (("layer1.0.conv1",), "/layer1/0"),
        (("Conv_1",), ""),
        (("Conv_1", "/a/Conv", "QuantizeLinear_2"), "/a"),
        ((), ""),
    ],
)
def test_a_block_is_the_path_that_all_nodes_share(names: tuple[str, ...], block: str) -> None:
    assert block_of(names) == block
