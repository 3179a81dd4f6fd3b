"""A redacted log says the same of builds, layers and tactics, and none of the user's words."""

from __future__ import annotations

import functools
import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.support.dialect_forms import FORMS as DIALECTS
from tests.support.dialect_forms import reprefixed
from tests.support.documents import document
from trtforensics.errors import SourceError
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.redaction import rewriting
from trtforensics.redaction.rewriting import redact
from trtforensics.redaction.vocabulary import WORD, vocabulary
from trtforensics.sources.build_log import load_build_log
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., subprocess.CompletedProcess[str]]
    Refuse = Callable[..., str]

FORMS: dict[str, Callable[[str], str]] = {
    **{name: functools.partial(reprefixed, form=form) for name, form in DIALECTS.items()},
    **{
        name: functools.partial(re.compile("^", re.MULTILINE).sub, front)
        for name, front in {
            "journal": "Nov 21 10:00:00 acme-node7 quagga[4711]: ",
            "Docker Compose": "quagga-1  | ",
            "container": "2026-11-21T10:00:00.123456789Z stdout F ",
            "Kubernetes": "[pod/quagga-5f7d8/main] ",
        }.items()
    },
}
"""A log as each logger writes it, and behind what other programs put before it."""

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
    assert "to 0.0.0.1 as" in re.sub("x[a-z]+ to", "to", redacted)


def test_a_name_is_replaced_by_the_same_word_wherever_it_stands(redacted: str) -> None:
    layer = re.search(r"Parsing node: (\S+) ", redacted)
    assert layer is not None
    assert f"Computing costs for {layer[1]} + x" in redacted
    models = set(re.findall(r"/home/\w+/\w+\.onnx", redacted))
    assert len(models) == 1


@pytest.mark.parametrize(
    "name",
    [
        "emulated-trtexec-10.16-three-passes.log",
        pytest.param("rtx-transformer.log", marks=pytest.mark.slow),
    ],
)
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


@pytest.mark.slow
@pytest.mark.corpus
def test_real_texts_are_read_as_before_and_hold_no_word_that_is_not_known(corpus: Path, tmp_path: Path) -> None:
    """Logs, documents and lists are taken and stay what they are; only binary files are refused."""
    out = tmp_path / "out"
    logs = 0
    for path in sorted(path for path in corpus.rglob("*") if path.is_file()):
        head = path.read_bytes()[:HEAD]
        if b"\0" in head[:4096]:
            with pytest.raises(SourceError, match="binary file"):
                redact(str(path), str(out), max_bytes=1 << 30, on_progress=lambda _: None)
            continue
        text = tmp_path / path.name
        text.write_bytes(head)
        assert redact(str(text), str(out), max_bytes=1 << 30, on_progress=lambda _: None).differs_in == "", path.name
        assert _is_json(out) == _is_json(text), path.name
        if path.parent.name == "buildlog" and b"[TRT]" in head:
            logs += 1
            assert _unknown(text) & _words(out) == set(), path.name
            assert _said(text) == _said(out), path.name
    assert logs > 20


HEAD = 80_000
"""Bytes of a real file: what comes later in the large ones is of the same kinds."""


def _is_json(path: Path) -> bool:
    try:
        return json.loads(path.read_text("utf-8", "replace")) is not None
    except ValueError:
        return False


_GENERATED = re.compile(r"__my(?:l|ln|e|elin)_\w+|0x[0-9a-fA-F]+")
"""Names that Myelin makes of operations, and numbers."""


def _words(log: Path) -> set[str]:
    return set(WORD.findall(_GENERATED.sub("", log.read_text("utf-8", "replace"))))


def _unknown(log: Path) -> set[str]:
    return _words(log) - vocabulary()


def _said(log: Path) -> list[tuple[str, int, list[int]]]:
    """Return the findings of a log without their words."""
    read = read_log(str(log), max_bytes=1 << 30, on_progress=lambda _: None)
    found = judge(Inputs([read]), Suppression()).findings
    return sorted((one.code, one.build, sorted(e.span.line for e in one.evidence)) for one in found)


def test_a_log_that_reads_differently_is_written_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    (tmp_path / "build.log").write_text(LOG)
    monkeypatch.setattr(rewriting, "vocabulary", lambda: vocabulary() - {"Tactic"})
    done = run("redact", "build.log", "-o", "out.log", "--quiet", cwd=tmp_path)
    assert done.returncode == 0
    assert "out.log: its lines read differently from those of build.log" in done.stderr
    assert "ebrafish" not in (tmp_path / "out.log").read_text()


OTHERS = {
    "no log": "Traceback (most recent call last):\nRuntimeError: zebrafish is out of memory\n",
    "a document": '{"Layers": [{"Name": "zebra\\nfish \\u6591", "TacticValue": "0x1"}], "serial": 1322621031234}\n',
    "nothing": "",
    "bytes that are no UTF-8": "the zebr\u00e4 is out of memory, again\n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_every_text_is_taken(name: str, tmp_path: Path, run: Run) -> None:
    (tmp_path / "some.txt").write_text(OTHERS[name], encoding="latin-1")
    done = run("redact", "some.txt", "-o", "out.txt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "out.txt").read_text()
    assert "zebr" not in written
    assert "u6591" not in written
    assert written.count("out of memory") == OTHERS[name].count("out of memory")
    if name == "a document":
        assert list(json.loads(written)["Layers"][0]) == ["Name", "TacticValue"]


def test_a_binary_file_is_refused(tmp_path: Path, refuse: Refuse) -> None:
    (tmp_path / "net.engine").write_bytes(bytes(range(256)) * 64)
    assert "is a binary file, not a text" in refuse("redact", str(tmp_path / "net.engine"), "-o", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", FORMS)
def test_a_log_of_any_logger_keeps_its_structure(form: str, samples: list[Path], tmp_path: Path) -> None:
    """The words of its prefix stay, and so do those of months and programs in front of it."""
    log = next(path for path in samples if path.name == "emulated-trtexec-8.6.log")
    lines = "\n".join(log.read_text("utf-8").split("\n")[:120])
    (tmp_path / "build.log").write_text(FORMS[form](lines), "utf-8")
    done = redact(str(tmp_path / "build.log"), str(tmp_path / "out"), max_bytes=1 << 30, on_progress=lambda _: None)
    assert done.words
    assert done.differs_in == ""


def test_an_unknown_type_of_layer_is_renamed(tmp_path: Path) -> None:
    (tmp_path / "build.log").write_text("[V] [TRT] Layer(Zebrafish): a, Tactic: 0x1, x (Half[4]) -> y (Half[4])\n")
    redact(str(tmp_path / "build.log"), str(tmp_path / "out.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    assert "Zebrafish" not in (tmp_path / "out.log").read_text()


@pytest.mark.slow
def test_a_word_of_a_megabyte(tmp_path: Path, run: Run) -> None:
    word = "zebrafish" * 120_000
    (tmp_path / "build.log").write_text(f"[V] [TRT] Original: 2 layers\n[I] {word}\n[I] {'a.b@' * 250_000}\n")
    done = run("redact", str(tmp_path / "build.log"), "-o", str(tmp_path / "out.log"))
    assert done.returncode == 0, done.stderr
    assert "zebra" not in (tmp_path / "out.log").read_text()


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
