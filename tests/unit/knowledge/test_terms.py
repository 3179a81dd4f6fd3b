"""Names of logs are explained: layer types, error codes, kernels, words."""

from __future__ import annotations

import json

import pytest

from tests.support.for_each import for_each
from tests.support.repository import LOGS
from trtforensics.cli import main
from trtforensics.engines.joining import load_joined
from trtforensics.findings.explaining import meanings
from trtforensics.knowledge.terms import terms, terms_of
from trtforensics.model.layer_types import COMPUTES_NOTHING, CONVOLUTIONS, OPAQUE

KERNEL = "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f16_nhwckrsc_nhwc_tilesize128x64x32_stage5_g1_tensor16x8x16"


def test_each_type_that_the_product_tells_apart_is_explained() -> None:
    known = COMPUTES_NOTHING | OPAQUE | CONVOLUTIONS
    assert [name for name in sorted(known) if not any(term.kind == "layer type" for term in terms_of(name))] == []


def test_each_type_of_layers_in_the_bundled_logs_is_explained() -> None:
    logs = [load_joined([str(path)], model=None).log for path in sorted(LOGS.glob("*.log"))]
    types = {layer.type for log in logs for build in log.builds for layer in build.engine_layers if layer.type}
    assert [name for name in sorted(types) if not meanings(name)] == []


def test_a_row_has_names_of_its_own_and_a_source() -> None:
    names = [(term.kind, name.casefold()) for term in terms() for name in term.names]
    assert sorted(set(names)) == sorted(names)
    assert all(term.meaning and term.source for term in terms())
    assert {term.kind for term in terms()} == {"layer type", "word", "kernel word"}


@for_each(
    ("name", "kind", "words"),
    [
        ("kgen", "layer type", "Myelin wrote itself"),
        ("reformatting copynode for Input Tensor 0 to conv1", "layer type", "another layout or type"),
        ("{ForeignNode[a...b]}", "layer type", "compiles as a whole"),
        ("209", "CUDA error", "no kernel of the program"),
        ("kINTERNAL_ERROR", "error code of the builder", "invalid state"),
        ("near tie", "word", "within 2 %"),
        ("--bf16", "option of trtexec", "a switch; for build, since TensorRT 9.1, refused from 11 on"),
        ("useSpinWait", "option of trtexec", "a switch; for run"),
        ("acquire_plugin_resource", "name of the Python interface", "from TensorRT 10.0 to the newest"),
    ],
)
def test_a_name_has_its_meaning(name: str, kind: str, words: str) -> None:
    assert any(meaning.kind == kind and words in meaning.text for meaning in meanings(name))


def test_a_kernel_is_read_aloud() -> None:
    whole, *parts = meanings(KERNEL)
    assert (whole.kind, whole.text.split(";")[0]) == ("kernel of xmma", "multiplies Half, sums in Float, writes Half")
    assert {"fprop", "implicit", "nhwc", "tensor16x8x16"} <= {part.name for part in parts}
    assert meanings("my_own_kernel_fprop") == []


def test_what_a_kernel_is_not_by_convention_is_not_said_to_be() -> None:
    text = next(meaning.text for meaning in meanings(KERNEL))
    assert text.endswith("(by convention: not sparse)")


def test_of_a_kernel_of_no_known_family_the_known_words_are_told() -> None:
    whole, word = meanings("ampere_first_layer_filter3x3_imma_fwd")
    assert (whole.kind, whole.text) == ("kernel", "names of this form are not read whole here")
    assert (word.name, word.text) == ("imma", "tensor cores; numbers are the shape of the instruction")
    assert meanings("Reformatter") == []


def test_the_command_prints_meanings_and_codes_that_speak_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "209"]) == 0
    text = capsys.readouterr().out
    assert "cudaErrorNoKernelImageForDevice" in text
    assert "Codes that speak of it\nTF622 " in text
    assert main(["explain", "kgen", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [meaning["kind"] for meaning in document["meanings"]] == ["layer type"]
    assert main(["explain", "nan", "layernorm"]) == 0
    assert capsys.readouterr().out.startswith("TF202 ")
