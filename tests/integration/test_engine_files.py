"""Real engines told by several files: the figures that the deleted trt-engine-explorer computes, and what differs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from trtforensics.engines.joining import load_joined

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.engines.facts import EngineFacts

pytestmark = pytest.mark.corpus

POOLED = 9408
"""Weights of a convolution that a pooling is fused into (``ConvWeights``), which trt-engine-explorer does not count."""
FIGURES = {
    "engines/pt-resnet-fp16-A100": (25, 23_357_824, 441_870_336, 1.016832),
    "engines/pt-resnet-qat-A100": (35, 11_678_912, 589_493_248, 1.095680),
    "engines/pt-resnet-qat-residual-A100": (25, 11_669_504 + POOLED, 190_559_232, 0.731136),
    "engines/mobilenet-qat": (72, 3_469_760, 16_629_344, 0.470389),
    "engines/tf-resnet-fp32-RTX3090": (72, 102_011_648, 3_958_168_576, 12.399744),
    "engines/tf-resnet-qat-RTX3090": (62, 25_502_912, 1_004_463_616, 2.380608),
    "layerinfo/kalfazed-resnet50-int8.engine": (57, 25_493_504 + POOLED, 27_562_720, 0.452655),
    "layerinfo/fuzzylabs-mobilenet_v2_fp16": (55, 4_379_520, 30_617_512, 0.410249),
}
"""Layers that run a kernel, bytes of weights and activations, ms."""
KINDS = {
    "engines/pt-resnet-qat-A100": {
        "Convolution": (21, 0.710656, 304_411_648),
        "Pooling": (2, 0.106496, 130_088_960),
        "Reformat": (12, 0.278528, 154_992_640),
    },
    "engines/tf-resnet-qat-RTX3090": {
        "Convolution": (54, 2.040832, 840_200_576),
        "Pooling": (2, 0.061376, 36_315_136),
        "Reformat": (2, 0.038912, 25_648_000),
        "Shuffle": (1, 0.075776, 10_156_800),
        "Slice": (2, 0.158592, 91_887_104),
        "SoftMax": (1, 0.005120, 256_000),
    },
}


def engine(corpus: Path, name: str) -> EngineFacts:
    return load_joined([str(corpus / f"{name}.{part}.json") for part in ("graph", "profile")]).engine()


@pytest.mark.parametrize("name", FIGURES)
def test_layers_bytes_and_ms_are_those_of_trt_engine_explorer(corpus: Path, name: str) -> None:
    whole = engine(corpus, name).whole
    layers, weights, activations, ms = FIGURES[name]
    running = [layer for layer in whole.layers if layer.number and layer.runs_kernel]
    assert (len(running), whole.weights_bytes, whole.activation_bytes) == (layers, weights, activations)
    assert sum(layer.time_ms or 0.0 for layer in running) == pytest.approx(ms, abs=1e-6)


@pytest.mark.parametrize("name", KINDS)
def test_sums_by_kind_are_too(corpus: Path, name: str) -> None:
    found = {
        group.name: (len(group.layers), round(group.time_ms or 0.0, 6), group.activation_bytes)
        for group in engine(corpus, name).by_kind()
    }
    assert found == KINDS[name]


def test_precision_is_what_a_layer_computes_in_not_the_type_of_its_first_input(corpus: Path) -> None:
    types = Counter(layer.precision for layer in engine(corpus, "engines/pt-resnet-qat-A100").accounts)
    assert types == {"Int8": 21, "unknown": 12, "Float": 1, "Half": 1}
    types = Counter(layer.precision for layer in engine(corpus, "engines/tf-resnet-fp32-RTX3090").accounts)
    assert types == {"TF32": 40, "Float": 17, "unknown": 15}


@pytest.mark.parametrize("name", ["engines/pt-resnet-fp16-A100", "engines/pt-resnet-qat-residual-A100"])
def test_both_builds_of_a_network_do_the_same_work_also_where_a_pooling_is_fused(corpus: Path, name: str) -> None:
    assert engine(corpus, name).whole.macs == 58_050_347_008


def test_a_convolution_has_the_macs_and_intensity_of_its_tensors(corpus: Path) -> None:
    facts = next(one for one in engine(corpus, "engines/pt-resnet-qat-A100").running if one.kind == "Convolution")
    assert facts.macs == 3_776_446_464
    assert facts.moved_bytes is not None
    assert facts.intensity == pytest.approx(2 * 3_776_446_464 / facts.moved_bytes)
    assert facts.bandwidth_gb_s == pytest.approx(facts.moved_bytes / (facts.time_ms or 0.0) / 1e6)


def test_names_only_dumps_boolean_tensors_and_foreign_nodes_are_told_honestly(corpus: Path) -> None:
    names = load_joined(
        [str(corpus / "layerinfo" / f"detr-{part}.json") for part in ("layer-info", "profile")]
    ).engine()
    assert (len(names.layers), names.whole.weights_bytes, names.whole.activation_bytes) == (840, None, None)
    assert names.whole.time_ms == pytest.approx(4.161607, abs=1e-6)
    masks = load_joined([str(corpus / "layerinfo" / "lix-as-layers.json")]).engine()
    assert masks.whole.activation_bytes == 1_024_359_046 + 2
    foreign = next(one for one in masks.layers if one.kind == "Myelin")
    assert (foreign.precision, foreign.weights_bytes, foreign.macs) == ("unknown", None, None)
