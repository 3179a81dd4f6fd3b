"""What is not known is replaced, the same by the same; what is known stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtforensics.redaction.pseudonyms import Pseudonyms
from trtforensics.redaction.vocabulary import WORD, vocabulary


@pytest.mark.parametrize(
    "text",
    [
        "Input(s)s format: fp32:CHW",
        "CaffeParser of Caffe, polygraphy run --save-tactics",
        "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage4_warpsize2x2x1_g1_t1r3s3",
        "__myl_MulAddSiluCastMaxr_myl0_12",
        "Tactic: 0x94119b4c514b211a Time: 0.0123",
        "TensorRT version: 8.6.1.6",
        "Half(150528,50176:2,224,1) -> Float(1,1)",
        "(Unnamed Layer* 5) [Shuffle] + PWN({ForeignNode[a...b]})",
        "[runner.cpp::execute::42] Error Code 1",
        "NVIDIA GeForce RTX 3080 Laptop GPU",
        "bias1x256 conv2d_3x3",
    ],
)
def test_what_tensorrt_prints_stays(text: str) -> None:
    assert Pseudonyms(vocabulary()).rewrite(text) == text


@pytest.mark.parametrize(
    "name",
    ["zebrafish", "Zebrafish", "ZebrafishPlugin", "zebra_fish", "ÄÖÜäöü", "斑马鱼", "a1b2c3zebra", "fishConv"],
)
def test_a_name_goes(name: str) -> None:
    written = Pseudonyms(vocabulary()).rewrite(f"node /{name}/Conv [{name}]")
    assert not set(WORD.findall(name)) & set(WORD.findall(written)) - vocabulary()
    assert written.startswith("node /")
    assert "/Conv [" in written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("10.1.2.3", "0.0.0.0"),  # noqa: S104 - stands for an address
        ("2001:db8::ff00:42:8329", "::"),
        ("::1", "::"),
        ("aa:bb:cc:dd:ee:ff", "00:00:00:00:00:00"),
        ("GPU-0f9c1d2e-1111-2222-3333-444455556666", "GPU-00000000-0000-0000-0000-000000000000"),
        ("commit ID = 763855cbe8f8799f", "commit ID = 0000000000000001"),
        ("10:00:01", "10:00:01"),
        ("0000:01:00.0", "0000:01:00.0"),
    ],
)
def test_addresses_serial_numbers_and_hashes(text: str, written: str) -> None:
    assert Pseudonyms(vocabulary()).rewrite(text) == written


def test_a_key_of_letters_and_digits_goes_as_a_whole() -> None:
    written = Pseudonyms(vocabulary()).rewrite("a key 16C7e42F292c6912E7 b")
    assert written.startswith("a key x")
    assert not any(character.isdigit() for character in written)


def test_a_made_up_word_has_the_case_of_the_word() -> None:
    names = Pseudonyms(frozenset())
    assert [names.rewrite(word) for word in ("quagga", "Zebra", "EMU")] == ["xbaba", "Xbabe", "XBABI"]


def test_different_names_stay_different() -> None:
    names = Pseudonyms(frozenset())
    written = [names.rewrite(text) for text in ("resnet50", "resnet5", "resnet", "Resnet", "RESNET")]
    assert len(set(written)) == len(written)


def test_a_made_up_word_is_never_a_known_one() -> None:
    assert Pseudonyms(frozenset({"xbaba", "XBABE"})).rewrite("zebra") == "xbabi"


TOKENS = st.lists(st.text("aZ_é9x:.-/ 0", max_size=6) | st.sampled_from(["Conv", "Tactic", "0xab", "::"]), max_size=12)


@given(TOKENS)
def test_no_unknown_word_is_left(parts: list[str]) -> None:
    text = "".join(parts)
    written = Pseudonyms(vocabulary()).rewrite(text)
    left = set(WORD.findall(written)) & set(WORD.findall(text)) - vocabulary()
    assert {word for word in left if f"0{word}" not in text} == set()


@given(TOKENS)
def test_names_are_replaced_the_same_wherever_they_stand(parts: list[str]) -> None:
    names = Pseudonyms(vocabulary())
    assert names.rewrite(" | ".join(parts)) == " | ".join(map(names.rewrite, parts))
