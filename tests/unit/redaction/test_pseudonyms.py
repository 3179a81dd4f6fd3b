"""What is not known is replaced, the same by the same; what is known stays as it is."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from tests.support.for_each import for_each
from trtforensics.redaction.pseudonyms import Pseudonyms
from trtforensics.redaction.vocabulary import WORD, vocabulary


@for_each(
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


@for_each(
    "name",
    ["zebrafish", "Zebrafish", "ZebrafishPlugin", "zebra_fish", "ÄÖÜäöü", "斑马鱼", "a1b2c3zebra", "fishConv"],
)
def test_a_name_goes(name: str) -> None:
    written = Pseudonyms(vocabulary()).rewrite(f"node /{name}/Conv [{name}]")
    assert not set(WORD.findall(name)) & set(WORD.findall(written)) - vocabulary()
    assert written.startswith("node /")
    assert "/Conv [" in written


@for_each(
    ("text", "written"),
    [
        ("10.1.2.3", "0.0.0.1"),
        ("2001:db8::ff00:42:8329", "2001:db8::1"),
        ("::ffff:10.1.2.3", "2001:db8::1"),
        ("::1", "::1"),
        ("aa:bb:cc:dd:ee:ff", "00:00:00:00:00:01"),
        ("GPU-0f9c1d2e-1111-2222-3333-444455556666", "GPU-00000000-0000-0000-0000-000000000001"),
        ("commit ID = 763855cbe8f8799f", "commit ID = 0000000000000001"),
        ("10:00:01", "10:00:01"),
        ("0000:01:00.0", "0000:01:00.0"),
    ],
)
def test_addresses_serial_numbers_and_hashes(text: str, written: str) -> None:
    assert Pseudonyms(vocabulary()).rewrite(text) == written


LEAKS = {
    "a mark in a name": ("node ze\u0301brafish", "\u0301"),
    "marks between single letters": ("node \u092e\u0949\u0921\u0932", "\u0949"),
    "one letter of Chinese": ("node \u6591_1", "\u6591"),
    "one accented letter": ("node /\u00e9/Conv", "\u00e9"),
    "an escaped letter in JSON": (r'{"name": "\u6591\u9a6c"}', r"\u6591"),
    "bytes that are no UTF-8": ("node \ufffd\u00f3_z\ufffdb", "\u00f3"),
    "a serial number": ("    Serial Number                 : 1322621031234", "1322621031234"),
    "a serial number in a table": ("0, NVIDIA A10, 1322621031234, 81920 MiB", "1322621031234"),
    "a serial number in XML": ("<serial>132262</serial>", "132262"),
    "a short serial number": ("SN: 7X5", "7X5"),
    "a board": ("    Board ID                      : 0x1301", "0x1301"),
    "a GUID of InfiniBand": ("Node GUID: 0x506b4b0300c2b5c6", "506b4b"),
    "a bus": ("Bus Id : 00000000:3B:00.0", "3B"),
    "an address in a host's name": ("at ip-10-0-3-7.ec2.internal", "10-0-3-7"),
    "an address in a host's name with a digit": ("at ec2-54-12-3-7.compute-1.amazonaws.com", "54-12-3-7"),
    "an address between dots": ("at static.33.14.201.195.example.org", "33.14.201"),
    "an address that ends a sentence": ("bound to 10.0.3.7.", "10.0.3.7"),
    "a MAC with dashes": ("mac 5e-51-22-33-44-1f", "51-22-33"),
    "a MAC with dots": ("mac 5e51.2233.441f", "2233"),
    "a token of digits": ("token: 847392017463", "847392017463"),
    "an account": ("arn:aws:iam::123456789012:role/x", "123456789012"),
    "an account in JSON": ('{"account_id": 48291}', "48291"),
    "a long number": ("granted 738291045", "738291045"),
    "a user with a number": ("in /home/u482913/net", "482913"),
    "a user whose name is a word": ("in /home/max/net", "/max"),
    "a user on Windows": (r"C:\Users\max\net", "max"),
    "a user at a host": ("max@node7:~$ ls", "max@node7"),
    "a user in an environment": ("USER=max", "max"),
    "a user in YAML": ("user: graph7", "graph7"),
    "a host in JSON": ('{"HostName": "node417"}', "417"),
}


@for_each("name", LEAKS)
def test_what_names_somebody_goes(name: str) -> None:
    text, leak = LEAKS[name]
    assert leak not in Pseudonyms(vocabulary()).rewrite(text)


def test_who_is_named_once_goes_everywhere() -> None:
    names = Pseudonyms(vocabulary())
    text = "built by u48291 on node417\nUSER=u48291\nHOSTNAME=node417\nnode 417\n"
    names.learn(text)
    written = names.rewrite(text).split("\n")
    assert not {"u48291", "node417"} & set(re.findall(r"\w+", "\n".join(written)))
    assert written[1].removeprefix("USER=") in written[0]
    assert written[3] == "node 417"


@for_each(
    "text",
    [
        "Tactic: -4212345678901234567 Time: 0.0123",
        "Chose 0 (1234567890123)",
        "    algorithm 0:implementation[ 2147483657],tactic[ 1]",
        "requested: 4831838307, available: 1234567891",
        "Total Activation Memory: 1234567891",
        "[1700000000.123456] 2345678912 bytes, 1234567891KiB, 0.123456789012",
        "Float(1234567891,0,0)",
        "--workspace 1073741824",
        "nvidia-cudnn-cu12==8.9.2.26, cudnn   8.9.2.26, libnvinfer.so.8.6.1.6, libcudnn8 8.9.2.26-1+cuda12.1",
        "VBIOS Version : 94.02.71.40.0F",
        "Serial Number : N/A",
        "listening on 127.0.0.1, 0.0.0.0, ::1 and localhost",
        "max_tokens: 8192, Added Input token: Float(1,2), user 0m1.234s",
        "\x1b[38;5;104m[V]\x1b[0mRUNNING",
        r'"one\ntwo\tthree"',
        "Nov 21 10:00:00, GPU\u00a0\u2026 45 \u00b5s \u2192 50 \u00b0C \u2713",
    ],
)
def test_quantities_versions_and_signs_stay(text: str) -> None:
    assert Pseudonyms(vocabulary()).rewrite(text) == text


def test_words_stay_that_stand_among_letters_of_chinese() -> None:
    assert Pseudonyms(vocabulary()).rewrite("\u6a21\u578bTensorRT\u6a21\u578b") == "xbabaTensorRTxbaba"


def test_devices_and_addresses_that_differ_stay_different() -> None:
    names = Pseudonyms(vocabulary())
    buses = names.rewrite("00000000:3B:00.0 0000:3b:00.0 PCI:0000:3b:00 0000:5e:00.1")
    assert buses == "00000000:01:00.0 0000:01:00.0 PCI:0000:01:00 0000:02:00.1"
    assert names.rewrite("10.0.3.7 ip-10-0-3-7 10.0.3.8") == "0.0.0.1 ip-0-0-0-1 0.0.0.2"


def test_a_number_in_json_stays_one() -> None:
    written = json.loads(Pseudonyms(vocabulary()).rewrite('{"serial": 1322621031234, "account_id": 17}'))
    assert all(isinstance(value, int) for value in written.values())
    assert written != {"serial": 1322621031234, "account_id": 17}


def test_a_path_of_windows_is_no_escape() -> None:
    assert Pseudonyms(vocabulary()).rewrite(r"D:\nzebra") == r"D:\xbaba"


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
