"""``report`` and ``explain`` as a user runs them: exit codes, forms, suppression, settings, bad input."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.support.marked_logs import marked
from tests.support.repository import ROOT
from tests.support.sources import posix
from trtforensics.cli import main

if TYPE_CHECKING:
    from pathlib import Path

LOG = ROOT / "testdata" / "logs" / "emulated-trtexec-10.16-three-passes.log"
FAILED = marked(
    """&& 10.16.1 --fp16
    E IBuilder::buildSerializedNetwork: Error Code 10: Internal Error (Could not find any implementation for node c.)
    I Local timing cache in use. Profiling results in this builder pass will not be stored.
    &&! end"""
).text


PYPROJECT = """[tool.trtforensics.report]
suppress = ["TF5*"]
fail-on = "error"
"""


class Done(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]
Document = Callable[..., dict[str, Any]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return what runs a command line in a folder."""
    monkeypatch.setenv("NO_COLOR", "1")

    def in_folder(*words: str, cwd: Path) -> Done:
        monkeypatch.chdir(cwd)
        code = main(words)
        return Done(code, *capsys.readouterr())

    return in_folder


@pytest.fixture
def document(run: Run) -> Document:
    """Return what gives the JSON document of a report."""

    def parsed(*words: str, cwd: Path) -> dict[str, Any]:
        return dict(json.loads(run("report", *words, "--json", cwd=cwd).out))

    return parsed


@pytest.fixture
def failed(tmp_path: Path) -> Path:
    """A small log of a build that failed."""
    path = tmp_path / "failed.log"
    path.write_text(FAILED, encoding="utf-8", newline="\n")
    return path


@pytest.mark.parametrize(("level", "code"), [(None, 0), ("error", 1), ("warning", 1), ("note", 1)])
def test_fail_on_makes_the_exit_code(level: str | None, code: int, failed: Path, run: Run) -> None:
    words = ["--fail-on", level] if level else []
    assert run("report", failed.name, *words, cwd=failed.parent).code == code


def test_a_level_that_no_finding_reaches_is_no_failure(failed: Path, run: Run) -> None:
    words = ("--suppress", "TF301", "--suppress", "TF717", "--fail-on", "error")
    assert run("report", failed.name, *words, cwd=failed.parent).code == 0


def test_the_text_is_short_and_grows_with_v(failed: Path, run: Run) -> None:
    short = run("report", failed.name, cwd=failed.parent).out
    long = run("report", failed.name, "-v", cwd=failed.parent).out
    assert "error TF301 There is no implementation for c, line 2\n" in short
    assert "why: " not in short
    assert "why: " in long
    assert "      2: [11/21/2026-10:00:00] [E] [TRT] IBuilder" in long


def test_no_control_character_of_a_log_reaches_the_text(tmp_path: Path, run: Run) -> None:
    evil = FAILED.replace("node c.", "node c\x9b31m\x07\u202e.")
    (tmp_path / "evil.log").write_text(evil, encoding="utf-8", newline="\n")
    text = run("report", "evil.log", "-v", cwd=tmp_path).out
    assert {c for c in text if not c.isprintable()} == {"\n"}


def test_the_document_holds_what_it_promises(failed: Path, document: Document) -> None:
    found = document(failed.name, cwd=failed.parent)
    assert (found["schema"], found["kind"]) == (2, "report")
    assert found["summary"] == {"error": 2, "warning": 0, "note": 1}
    assert [(one["code"], one["consequence_of"]) for one in found["findings"]] == [
        ("TF301", None),
        ("TF502", None),
        ("TF717", 0),
    ]
    first = found["findings"][0]
    (evidence,) = first["evidence"]
    line = FAILED.split("\n")[1]
    assert evidence == {"file": failed.name, "line": 2, "byte": FAILED.index(line), "text": line}
    assert found["sources"][0]["lines"] == 4
    assert {tuple(one["needs"]) for one in found["not_judged"]} == {("onnx",), ("other-log",), ("replay",)}


@pytest.mark.parametrize("form", ["gzip", "utf-16", "crlf"])
def test_every_way_in_gives_the_same_findings(form: str, failed: Path, document: Document) -> None:
    content = FAILED.encode()
    if form == "gzip":
        content = gzip.compress(content)
    elif form == "utf-16":
        content = FAILED.encode("utf-16")
    elif form == "crlf":
        content = content.replace(b"\n", b"\r\n")
    (failed.parent / "same.log").write_bytes(content)
    found = document("same.log", cwd=failed.parent)
    expected = document(failed.name, cwd=failed.parent)
    texts = [[(e["line"], e["text"]) for e in one["evidence"]] for one in found["findings"]]
    assert texts == [[(e["line"], e["text"]) for e in one["evidence"]] for one in expected["findings"]]


def test_standard_input_is_quoted_too() -> None:
    command = [sys.executable, "-m", "trtforensics", "report", "-", "--json"]
    printed = subprocess.run(command, input=FAILED.encode(), capture_output=True, check=True).stdout
    found = json.loads(printed)["findings"]
    assert [(one["code"], one["evidence"][0]["text"]) for one in found] == [
        ("TF301", FAILED.split("\n")[1]),
        ("TF502", FAILED.split("\n")[2]),
        ("TF717", FAILED.split("\n")[3]),
    ]


def test_a_layer_can_be_suppressed_alone(failed: Path, document: Document) -> None:
    of_c = document(failed.name, "--suppress", "TF301:c", cwd=failed.parent)
    of_d = document(failed.name, "--suppress", "TF301:d*", cwd=failed.parent)
    assert [one["code"] for one in of_c["suppressed"]] == ["TF301"]
    assert of_d["suppressed"] == []


def test_settings_of_a_project_are_found_from_its_folders(failed: Path, run: Run) -> None:
    inner = failed.parent / "inner"
    inner.mkdir()
    (failed.parent / "pyproject.toml").write_text(
        '[tool.trtforensics.report]\nsuppress = ["TF5*"]\nfail-on = "error"\n'
    )
    done = run("report", "../failed.log", "--json", cwd=inner)
    assert done.code == 1
    assert [one["code"] for one in json.loads(done.out)["suppressed"]] == ["TF502"]
    (inner / "trtforensics.toml").write_text('[report]\nsuppress = ["TF301"]\n')
    done = run("report", "../failed.log", "--json", cwd=inner)
    assert done.code == 0
    assert [one["code"] for one in json.loads(done.out)["suppressed"]] == ["TF301"]


def test_the_settings_that_suppress_something_are_named_in_each_form(failed: Path, run: Run) -> None:
    inner = failed.parent / "inner"
    inner.mkdir()
    settings = failed.parent / "trtforensics.toml"
    settings.write_text('[report]\nsuppress = ["TF301"]\n')
    for form in ("text", "json", "html", "sarif"):
        assert str(settings) in run("report", "../failed.log", "--format", form, cwd=inner).out
        settings.write_text('[report]\nsuppress = ["TF201"]\n')
        assert (
            str(settings) not in run("report", "../failed.log", "--suppress", "TF301", "--format", form, cwd=inner).out
        )
        settings.write_text('[report]\nsuppress = ["TF301"]\n')


@posix
@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "long", "deep"])
def test_settings_that_are_no_file_are_refused_at_once(kind: str, failed: Path, run: Run) -> None:
    path = failed.parent / "trtforensics.toml"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text("a" * (2 << 20) if kind == "long" else f"a = {'[' * 5000}{']' * 5000}\n")
    done = run("report", failed.name, cwd=failed.parent)
    assert (done.code, done.out) == (2, "")
    assert "trtforensics.toml: cannot be read: " in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "settings", "what"),
    [
        (("--suppress", "TF999"), "", "TF999: there is no such code"),
        ((), "[report]\nsupress = []\n", "there is no setting 'supress'"),
        ((), "[report]\nsuppress = 3\n", "suppress is not a list"),
        ((), "[report]\nfail-on = 'bad'\n", "fail-on is 'bad'"),
        ((), "[report\n", "cannot be read"),
        (("--onnx", "missing.onnx"), "", "missing.onnx: cannot be read"),
        (("--onnx", "failed.log"), "", "failed.log: is no ONNX model"),
        (("--replay", "failed.log"), "", "failed.log"),
        (("--layer-info", "failed.log"), "", "failed.log"),
        (("missing.log", "--strict"), "", "missing.log: there is no such file"),
        (("-o", "failed.log"), "", "is the source itself"),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_code_2(
    words: tuple[str, ...], settings: str, what: str, failed: Path, run: Run
) -> None:
    if settings:
        (failed.parent / "trtforensics.toml").write_text(settings)
    done = run("report", failed.name, *words, cwd=failed.parent)
    assert done.code == 2
    assert done.out == ""
    assert what in done.err
    assert done.err.count("\n") == 1


def test_an_output_file_gets_what_stdout_would(failed: Path, run: Run) -> None:
    printed = run("report", failed.name, "--json", cwd=failed.parent).out
    assert run("report", failed.name, "--json", "-o", "out.json", cwd=failed.parent).out == ""
    assert (failed.parent / "out.json").read_text() == printed


def test_several_logs_are_grouped_with_what_is_common(failed: Path, run: Run, document: Document) -> None:
    (failed.parent / "other.log").write_text(FAILED, encoding="utf-8")
    found = document("failed.log", "other.log", cwd=failed.parent)
    assert [(one["code"], one["sources"]) for one in found["common"]] == [
        ("TF301", [0, 1]),
        ("TF717", [0, 1]),
        ("TF502", [0, 1]),
    ]
    text = run("report", "failed.log", "other.log", cwd=failed.parent).out
    assert "In several logs:\n    TF301 in 2 of 2: There is no implementation for c\n" in text


def test_many_logs_begin_with_their_runs_and_tell_each_finding_once(failed: Path, run: Run) -> None:
    names = [f"{number:02}.log" for number in range(12)]
    for name in names:
        (failed.parent / name).write_text(FAILED, encoding="utf-8")
    text = run("report", *names[:3], cwd=failed.parent).out
    assert text.startswith("3 runs: 3 FAILED\n    00.log:1: FAILED, root ")
    assert text.count("TF301 There is no implementation for c") == 3
    text = run("report", *names, cwd=failed.parent).out
    assert text.startswith("12 runs: 12 FAILED\n")
    assert text.count("TF301 There is no implementation for c") == 1
    assert "in 12: 00.log:" in text
    assert text.count("\n") < 40
    assert run("report", *names, "-v", cwd=failed.parent).out.count("TF301 There is no implementation for c") == 12
    page = run("report", *names, "--format", "html", cwd=failed.parent).out
    assert page.count(">11.log:1</th>") == 1
    assert page.count("<li>11.log:2</li>") == 1


def test_a_baseline_leaves_what_is_new(failed: Path, tmp_path: Path, run: Run, document: Document) -> None:
    pytest.importorskip("pyarrow", reason="a dataset needs the extra `table`")
    run("report", failed.name, "-o", "before.json", cwd=failed.parent)
    again = document(failed.name, "--baseline", "before.json", cwd=failed.parent)
    assert (again["findings"], again["settings"]) == ([], "before.json")
    assert again["suppressed"]
    other = failed.parent / "other.log"
    other.write_text(FAILED.replace("node c.", "node d."), encoding="utf-8")
    new = document("other.log", "--baseline", "before.json", cwd=failed.parent)["findings"]
    assert [(each["code"], each["title"]) for each in new] == [("TF301", "There is no implementation for d")]
    assert run("report", failed.name, "--baseline", "before.json", "--fail-on", "note", cwd=tmp_path).code == 0
    run("ingest", failed.name, "--into", "set", cwd=failed.parent)
    assert document(failed.name, "--baseline", "set", cwd=failed.parent)["findings"] == []
    (tmp_path / "broken.json").write_text("{}", encoding="utf-8")
    assert run("report", failed.name, "--baseline", "broken.json", cwd=failed.parent).code == 2


def test_explain_tells_cause_confirmation_fix_by_version_and_sources(tmp_path: Path, run: Run) -> None:
    told = run("explain", "tf201", cwd=tmp_path).out
    for part in ("TF201 (error)", "\nCause\n", "\nHow to confirm\n", "\nFix\n", "TensorRT before 11: ", "\nSources\n"):
        assert part in told
    listed = run("explain", cwd=tmp_path).out.split("\n")
    assert len(listed) > 90
    assert json.loads(run("explain", "TF201", "--json", cwd=tmp_path).out)["codes"][0]["code"] == "TF201"
    assert run("explain", "TF000", cwd=tmp_path).code == 2


def test_the_report_of_a_build_of_a_model_says_that_the_model_tells_more(tmp_path: Path, run: Run) -> None:
    assert run("report", str(LOG), cwd=tmp_path).out.endswith("\n\nMore with: --onnx MODEL\n")


def test_a_report_of_many_logs_goes_on_after_one_that_cannot_be_read(
    failed: Path, run: Run, document: Document
) -> None:
    (failed.parent / "notes.txt").write_text("no log\n")
    words = ("notes.txt", failed.name, "missing.log")
    assert run("report", *words, cwd=failed.parent).code == 0
    found = document(*words, cwd=failed.parent)
    assert [source["path"] for source in found["sources"]] == [failed.name]
    assert [(one["path"], bool(one["why"])) for one in found["unreadable"]] == [
        ("notes.txt", True),
        ("missing.log", True),
    ]
    text = run("report", *words, cwd=failed.parent).out
    assert (
        "Not read:\n    notes.txt: no line carries a TensorRT or trtexec prefix\n    missing.log: there is no" in text
    )


@pytest.mark.parametrize("words", [("notes.txt", "missing.log"), ("notes.txt", "failed.log", "--strict")])
def test_it_stops_where_nothing_can_be_read_or_where_it_is_to_be_strict(
    words: tuple[str, ...], failed: Path, run: Run
) -> None:
    (failed.parent / "notes.txt").write_text("no log\n")
    done = run("report", *words, "-o", "out.html", cwd=failed.parent)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "notes.txt" in done.err
    assert not (failed.parent / "out.html").exists()


@pytest.mark.parametrize(
    ("name", "begin"),
    [
        ("o.json", '{\n "schema": 2'),
        ("o.sarif", '{\n "$schema"'),
        ("o.html", "<!DOCTYPE html>"),
        ("o.xml", "<?xml"),
        ("o.txt", "FAILED, root TF301 in line 2 · trtexec 10.16.1 · FP16+FP32 allowed\n"),
    ],
)
def test_the_ending_of_the_output_picks_the_form(name: str, begin: str, failed: Path, run: Run) -> None:
    run("report", failed.name, "-o", name, cwd=failed.parent)
    assert (failed.parent / name).read_text().startswith(begin)
    run("report", failed.name, "-o", name, "--format", "text", cwd=failed.parent)
    assert (failed.parent / name).read_text().startswith("FAILED, root TF301 in line 2 · ")


def test_the_text_answers_what_is_wrong_and_puts_consequences_below_their_root(failed: Path, run: Run) -> None:
    lines = run("report", failed.name, cwd=failed.parent).out.split("\n")
    assert lines[0] == "FAILED, root TF301 in line 2 · trtexec 10.16.1 · FP16+FP32 allowed"
    below = lines.index("    so: The build gave no engine (TF717, line 4)")
    root = next(number for number, line in enumerate(lines) if line.startswith("error TF301 "))
    assert [line.split(":")[0].strip() for line in lines[root:below] if line.startswith("    do: ")] == ["do"]
    assert not any("the log tells" in line for line in lines)
    verbose = run("report", failed.name, "-v", cwd=failed.parent).out
    assert "    the log tells: verdict, options, model; not: engine layers, tactics, layer times\n" in verbose
    assert "    so: error TF717 The build gave no engine, line 4\n" in verbose


def test_nothing_found_is_not_said_alone(tmp_path: Path, run: Run) -> None:
    (tmp_path / "bare.log").write_text(marked("I Parsing").text)
    text = run("report", "bare.log", cwd=tmp_path).out
    assert "warning TF705 The log does not show how the build ended, the engine's layers, the tactics" in text
    assert run("report", "bare.log", "--fail-on", "warning", cwd=tmp_path).code == 1
    quiet = run("report", "bare.log", "--suppress", "TF*", cwd=tmp_path).out
    assert "nothing found in what the log tells\n    the log tells nothing of the engine; not: verdict" in quiet


def test_fixes_that_tensorrt_rtx_lacks_are_not_proposed_for_its_logs(tmp_path: Path, document: Document) -> None:
    lacking = re.compile("timing cache|trtforensics (?:pin|bisect (?:cache|tactics))|setBuildRoute", re.IGNORECASE)
    gone = "[E] Algorithm selectors (TacticRecorder/TacticReplayer) is not available on TensorRT version 11.0\n"
    codes = set()
    for log in sorted((ROOT / "testdata" / "logs").glob("rtx-*.log")):
        copy = tmp_path / log.name
        copy.write_text(log.read_text() + gone)
        for finding in document(log.name, cwd=tmp_path)["findings"]:
            codes.add(finding["code"])
            assert not lacking.search(json.dumps([finding["fixes"], finding.get("next_steps")])), finding["code"]
    assert {"TF320", "TF507"} <= codes
