"""Secrets are masked, what looks like them in TensorRT's lines is not, and no text takes long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.secrets import SECRETS
from trtforensics.console.secrets import MASK, masked, masked_values, remembered, shown_secrets

if TYPE_CHECKING:
    from pathlib import Path


@for_each("name", SECRETS)
def test_a_secret_is_masked_and_the_mask_is_seen(name: str) -> None:
    line, secret = SECRETS[name]
    assert secret not in masked(line)
    assert MASK in masked(line)


@for_each("name", SECRETS)
def test_what_is_masked_stays_as_it_is(name: str) -> None:
    once = masked(SECRETS[name][0])
    assert masked(once) == once


@for_each("name", SECRETS)
def test_secrets_are_shown_where_that_is_wanted(name: str) -> None:
    with shown_secrets():
        assert masked(SECRETS[name][0]) == SECRETS[name][0]


def test_what_is_remembered_is_forgotten_where_secrets_begin_or_cease_to_be_shown() -> None:
    line, secret = next(iter(SECRETS.values()))
    quoted = remembered(lambda text: f"<{masked(text)}>")
    assert secret not in quoted(line)
    with shown_secrets():
        assert quoted(line) == f"<{line}>"
    assert secret not in quoted(line)


@for_each(
    ("line", "shown"),
    [
        ("https://bob:pw@h/x", "https://[secret]@h/x"),
        ("HF_TOKEN=abcdefgh next", "HF_TOKEN=[secret] next"),
        ("password='a b' next", "password='[secret]' next"),
        ('{"password": "x y"}', '{"password": "[secret]"}'),
        ("Authorization: Bearer abc", "Authorization: Bearer [secret]"),
        ("a?token=1&b=2", "a?token=[secret]&b=2"),
    ],
)
def test_only_the_secret_is_replaced(line: str, shown: str) -> None:
    assert masked(line) == shown


@for_each(
    "line",
    [
        "[V] [TRT] Added Input token: Float(1,2)",
        "--minShapes=token:1x128x1024x1024,input_ids:1x5",
        "Layer: /auth/MatMul: Half(150528,50176:2,224,1)",
        "max_num_tokens: 8192",
        "pad_token_id=0",
        "/attn/key: Half(1,1)",
        "ssh://git@github.com/x",
        "Tactic: 0x94119b4c514b211a Time: 0.01",
        "commit 763855cbe8f8799f9d3a763855cbe8f8799f9d3a763855cbe8f8799f",
        "/model/secret_layer/MatMul + /model/password_embedding/Gather",
    ],
)
def test_what_tensorrt_prints_is_no_secret(line: str) -> None:
    assert masked(line) == line


def test_no_sample_holds_a_secret(samples: list[Path]) -> None:
    for path in samples:
        for line in path.read_text("utf-8", "replace").split("\n"):
            assert masked(line) == line


@pytest.mark.slow
@pytest.mark.corpus
def test_no_line_of_a_real_log_is_taken_for_a_secret(corpus: Path) -> None:
    for path in sorted((corpus / "buildlog").iterdir()):
        for line in set(path.read_text("utf-8", "replace").split("\n")):
            assert masked(line) == line


def test_texts_of_a_document_are_masked_wherever_they_stand() -> None:
    document = {"a": ["password=x", 1, None], "token=abcdefghijklmnop1": ({"b": "https://u:p@h"},)}
    assert masked_values(document) == {
        "a": ["password=[secret]", 1, None],
        "token=[secret]": [{"b": "https://[secret]@h"}],
    }
