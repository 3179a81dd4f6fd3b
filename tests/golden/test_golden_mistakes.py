"""What a newcomer's mistakes print, byte for byte; ``--update-golden`` writes it anew. Read it as one who made them."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.folders import working_in
from trtforensics.cli import main

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).resolve().parent / "mistakes" / "mistakes.txt"
PLAN = b"ftrt" + bytes(20) + bytes((10, 16, 1, 11)) + bytes(200)
FILES = {
    "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(60),
    "model.plan": PLAN,
    "timing.cache": b"ptrt" + bytes(60),
    "checkpoint.pt": b"PK\x03\x04" + bytes(60),
    "page.html": b"<!DOCTYPE html><html><body>[TRT]</body></html>",
    "pointer.onnx": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    "noise.bin": bytes(range(1, 256)) * 8,
    "empty.log": b"",
    "notes.txt": b"remember the milk\n",
    "settings.json": b'{"a": 1}',
}
MISTAKES = (
    "prase build.log",
    "reprot build.log",
    "bisec tactics",
    "frobnicate",
    "biuld.log",
    "missing.log",
    "report missing.log",
    "-q report build.log",
    "report",
    "report --jsn build.log",
    "report build.log --format jsn",
    "report build.log --fail-on worst",
    "report .",
    "report empty.log",
    "report notes.txt",
    "report picture.png",
    "parse model.onnx",
    "parse pointer.onnx",
    "parse model.plan",
    "parse noise.bin",
    "parse checkpoint.pt",
    "parse page.html",
    "parse settings.json",
    "parse build.log --build 7",
    "parse timing.cache",
    "explain TF999",
    "diff build.log",
    "diff build.log missing.log",
    "replay lint build.log",
    "replay lint model.plan",
    "replay convert edited.json",
    "graph build.log",
    "graph build.log -o graph.bmp",
    "graph edited.json -o graph.json",
    "bisect",
    "bisect tactics --good a.json",
    "bisect precision model.plan --artifacts-dir out",
    "bisect items --items edited.json --artifacts-dir out",
    "pin build.log",
    "cache apply build.log",
    "redact build.log -o build.log",
    "tui missing.log",
    *(
        f"repair model.onnx --fold -o out.onnx {words}"
        for words in (
            "--inputs edited.json --val-range 0,1",
            "--inputs edited.json --shapes x:2x16",
            "--inputs edited.json --samples 3",
            "--data-loader-script load.py --shapes x:2x16",
            "--val-range 3,1",
            "--shapes x:-1",
        )
    ),
    *(
        f"bisect {words} --artifacts-dir out"
        for words in (
            "precision model.onnx --confidence 0.9",
            "precision model.onnx --samples 0",
            "route model.onnx --build make",
            "outputs --build make",
            "tactics --good edited.json --bad edited.json --repeat 3 --confidence 0.9",
            "tactics --good edited.json --bad edited.json --confidence 1.5",
            "tactics --good edited.json --bad edited.json --jobs 0",
            "tactics --good edited.json --bad missing.json --build make",
            "tactics --good edited.json --bad edited.json --timeout -1",
            "items --items settings.json --build make --executor nowhere",
        )
    ),
    "check model.onnx --jetpack 6.0 --target 10.3",
    "check model.onnx --jetpack 1.0",
    "graph build.log -o graph.dot --hops 2",
    "graph build.log -o graph.dot --around nothing",
    "graph build.log -o graph.dot --around node_conv2d --top 3",
    "replay convert build.log --json",
    "pin build.log --verify edited.json -o pinned.json",
    "pin build.log -o pinned.json --within 3",
    "pin build.log -o pinned.json --to timing.cache",
    "plot build.log -o plot.svg --of roofline",
    "plot build.log -o plot.pdf",
    "table build.log --columns layer,colour",
    "table build.log --sort colour",
    "table build.log --filter colour:red",
    "table build.log --filter 'time>fast'",
    "table build.log --of colours",
    "reduce model.onnx --artifacts-dir out --build make --keep-functions --anonymous",
    "collect --artifacts-dir out",
    "record model.onnx --release 3.1",
    "completions tcsh",
    "report build.log --max-bytes 1K",
    "report build.log --baseline edited.json",
    "diff edited.json model.onnx",
)
LONG = 12
"""Lines of an answer that are kept: a list of all codes is no mistake's answer."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    shutil.copy(ROOT / "testdata" / "logs" / "emulated-trtexec-8.6.log", tmp_path / "build.log")
    shutil.copy(ROOT / "testdata" / "models" / "convnet.onnx", tmp_path / "model.onnx")
    shutil.copy(ROOT / "testdata" / "replays" / "edited.json", tmp_path / "edited.json")
    return tmp_path


class Answer(NamedTuple):
    """What a command came to."""

    line: str
    code: int
    out: str
    err: str

    def text(self) -> str:
        """Return it as a terminal shows it."""
        said = (self.out + self.err).splitlines()
        shown = [*said[:LONG], f"… ({len(said) - LONG} more lines)"] if len(said) > LONG else said
        return "\n".join([f"$ trtforensics {self.line}", *shown, f"exit {self.code}", ""])


def answer(line: str, capsys: pytest.CaptureFixture[str]) -> Answer:
    code = main(shlex.split(line))
    captured = capsys.readouterr()
    return Answer(line, code, captured.out, captured.err)


def test_mistakes_print_the_golden_text_which_is_one_sentence_and_exit_code_2(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    update_golden: bool,  # noqa: FBT001 - a fixture
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with working_in(folder):
        answers = [answer(line, capsys) for line in MISTAKES]
    printed = "\n".join(each.text() for each in answers)
    if update_golden:
        GOLDEN.write_text(printed, encoding="utf-8")
    assert printed == GOLDEN.read_text(encoding="utf-8"), f"{GOLDEN.name} differs: look at the change first"
    answered = {"replay convert edited.json"}
    refused = [each for each in answers if each.line not in answered]
    assert [each for each in refused if each.code != 2 or each.out or each.err.count("\n") != 1] == []
