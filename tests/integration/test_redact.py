"""A redacted log says the same of builds, layers and tactics, and none of the user's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.documents import document
from trtforensics.redaction import rewriting
from trtforensics.redaction.rewriting import Pseudonyms, RedactionError, redact
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., subprocess.CompletedProcess[str]]
    Refuse = Callable[..., str]

SECRETS = ("zebrafish", "Zebrafish", "quagga", "jane", "acme")

LOG = """\
jane@acme-build7:~$ ./make_engine.sh zebrafish
&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=/home/jane/zebrafish.onnx --fp16 --verbose
[11/21/2026-10:00:00] [I] === Model Options ===
[11/21/2026-10:00:00] [I] Format: ONNX
[11/21/2026-10:00:00] [I] Model: /home/jane/zebrafish.onnx
[11/21/2026-10:00:00] [I] === Device Information ===
[11/21/2026-10:00:00] [I] Device 0: "NVIDIA A10" (UUID: GPU-0f9c1d2e-1111-2222-3333-444455556666)
[11/21/2026-10:00:00] [I] TensorRT version: 8.6.1.6
[11/21/2026-10:00:00] [V] [TRT] Parsing node: /Zebrafish.0/conv [Conv]
[11/21/2026-10:00:00] [V] [TRT] Original: 2 layers
connected to 192.168.7.12 as jane
[11/21/2026-10:00:01] [V] [TRT] =============== Computing costs for /Zebrafish.0/conv + quagga_relu
[11/21/2026-10:00:01] [V] [TRT] *************** Autotuning format combination: Half(4,1) -> Half(4,1) ***************
[11/21/2026-10:00:01] [V] [TRT] --------------- Timing Runner: /Zebrafish.0/conv + quagga_relu (CaskConvolution[0x9])
[11/21/2026-10:00:01] [V] [TRT] Tactic Name: ampere_sgemm_nn Tactic: 0xdeadbeefdeadbeef Time: 0.0119
[11/21/2026-10:00:01] [V] [TRT] >>>>>>>>>>>>>>> Chose Runner Type: CaskConvolution Tactic: 0xdeadbeefdeadbeef
[11/21/2026-10:00:01] [W] [TRT] no luck with /srv/acme/zebrafish_plugin.so
[11/21/2026-10:00:01] [E] Error[1]: [runner.cpp::execute::42] Error Code 1: Myelin (quagga_relu)
&&&& PASSED TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=/home/jane/zebrafish.onnx --fp16 --verbose
"""


@pytest.fixture
def redacted(tmp_path: Path) -> str:
    (tmp_path / "build.log").write_text(LOG)
    redact(str(tmp_path / "build.log"), str(tmp_path / "public.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    return (tmp_path / "public.log").read_text()


def test_no_word_of_the_users_is_left(redacted: str) -> None:
    found = [secret for secret in SECRETS if secret in redacted]
    assert found == []


def test_what_tensorrt_says_is_left(redacted: str) -> None:
    for text in (
        "# trtexec --onnx=/home/",
        "[I] Format: ONNX",
        'Device 0: "NVIDIA A10"',
        "TensorRT version: 8.6.1.6",
        "conv [Conv]",
        "_relu (CaskConvolution[0x9])",
        "Tactic Name: ampere_sgemm_nn Tactic: 0xdeadbeefdeadbeef Time: 0.0119",
        "[runner.cpp::execute::42] Error Code 1: Myelin (",
    ):
        assert text in redacted


def test_addresses_and_serial_numbers_are_gone(redacted: str) -> None:
    assert "192.168" not in redacted
    assert "0f9c1d2e" not in redacted
    assert "to 0.0.0.0 as" in re.sub("x[a-z]+ to", "to", redacted)


def test_a_name_is_replaced_by_the_same_word_wherever_it_stands(redacted: str) -> None:
    layer = re.search(r"Parsing node: (\S+) ", redacted)
    assert layer is not None
    assert f"Computing costs for {layer[1]} + x" in redacted
    models = set(re.findall(r"/home/\w+/\w+\.onnx", redacted))
    assert len(models) == 1


def test_different_names_stay_different() -> None:
    names = Pseudonyms(frozenset())
    for text in ("resnet50", "resnet5", "resnet", "Resnet"):
        names.add(text)
    written = [names.rewrite(text) for text in ("resnet50", "resnet5", "resnet", "Resnet")]
    assert len(set(written)) == len(written)


@pytest.mark.parametrize("name", ["emulated-trtexec-10.16-three-passes.log", "rtx-transformer.log"])
def test_a_log_of_ours_keeps_its_structure(name: str, samples: list[Path], tmp_path: Path, run: Run) -> None:
    log = next(path for path in samples if path.name == name)
    done = run("redact", str(log), "-o", str(tmp_path / "public.log"))
    assert (done.returncode, done.stdout) == (0, "")
    assert "words replaced" in done.stderr
    one, two = load_build_log([str(log)]), load_build_log([str(tmp_path / "public.log")])
    assert one.lines == two.lines
    assert _nameless(document(one)) == _nameless(document(two))


def _nameless(value: object) -> object:
    """Reduce a document to what names take no part in."""
    if isinstance(value, dict):
        return {k: _nameless(v) for k, v in value.items() if k not in {"source", "command", "options"}}
    if isinstance(value, list):
        return [_nameless(one) for one in value]
    return type(value) if isinstance(value, str) else value


@pytest.mark.corpus
def test_every_real_log_keeps_its_structure(corpus: Path, tmp_path: Path) -> None:
    for log in sorted((corpus / "buildlog").glob("hack-*.log")):
        if log.stat().st_size < 400_000 and _is_a_build_log(log):
            redact(str(log), str(tmp_path / "out.log"), max_bytes=1 << 30, on_progress=lambda _: None)


def _is_a_build_log(path: Path) -> bool:
    return b"[TRT]" in path.read_bytes()


def test_a_log_that_would_change_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "build.log").write_text(LOG)
    monkeypatch.setattr(rewriting, "vocabulary", lambda _: frozenset[str]())
    monkeypatch.setattr(rewriting, "named", lambda _: ["Tactic Time"])
    with pytest.raises(RedactionError, match="no longer have the same lines"):
        redact(str(tmp_path / "build.log"), str(tmp_path / "out.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    assert not (tmp_path / "out.log").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("missing.log", "-o", "out.log"), "missing.log: there is no such file"),
        (("-", "-o", "out.log"), "standard input cannot be"),
    ],
)
def test_bad_input_is_one_sentence(arguments: tuple[str, ...], sentence: str, refuse: Refuse) -> None:
    assert sentence in refuse("redact", *arguments)


def test_the_log_itself_is_not_overwritten(tmp_path: Path, refuse: Refuse) -> None:
    (tmp_path / "build.log").write_text(LOG)
    assert "is the source itself" in refuse("redact", str(tmp_path / "build.log"), "-o", str(tmp_path / "build.log"))
    assert (tmp_path / "build.log").read_text() == LOG
