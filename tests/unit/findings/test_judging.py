"""Judging bounds what a report quotes, and what it keeps."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.for_each import for_each
from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import report_on
from trtforensics.findings import judging
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Severity
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.findings.tree import MAX_EVIDENCE
from trtforensics.sources.quoting import LONGEST_QUOTE, read_log

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_long_evidence_is_cut_and_counted(tmp_path: Path) -> None:
    names = ("t" * 2000 + str(number) for number in range(30))
    said = "Missing scale and zero-point for tensor {}, expect fall back to non-int8 implementation for it"
    text = marked("\n".join(f"W {said.format(name)}" for name in names)).text
    (tmp_path / "b.log").write_text(text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    (found,) = [one for one in judge(Inputs([log]), Suppression()).findings if one.code == "TF211"]
    assert len(found.evidence) == MAX_EVIDENCE
    assert found.evidence_total == 30
    assert {len(e.text) for e in found.evidence} == {LONGEST_QUOTE + 1}


def test_a_command_that_would_hold_a_secret_is_left_out(tmp_path: Path) -> None:
    text = marked("&& 10.16.1 --fp16 --plugins=https://me:abcdefgh12345@host/p.so\nV Original: 1 layers\n&&.").text
    (tmp_path / "b.log").write_text(text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    steps = [step for finding in judge(Inputs([log]), Suppression()).findings for step in finding.next_steps]
    secret = [step for step in steps if "its command holds a secret" in step.what]
    assert secret
    assert not any(step.command for step in secret)
    assert not any("abcdefgh12345" in step.command for step in steps)


def test_the_root_of_each_run_stands_in_its_own_lines(tmp_path: Path) -> None:
    run = (
        "&& 10.16.1 --best # {0}\nE 2: [a.cpp::b::1] Error Code 2: Internal Error (Assertion fits(conv) failed. )\n&&!"
    )
    (tmp_path / "b.log").write_text(marked("\n".join(map(run.format, "ab"))).text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    (source,) = judge(Inputs([log]), Suppression()).sources
    assert [headline.at.split()[-1] for headline in source.headlines] == ["2", "5"]


def test_what_a_program_says_and_survives_is_no_root(tmp_path: Path) -> None:
    missing = "ERROR: Could not find a version that satisfies the requirement abc (from versions: none)"
    built = "[TRT] [I] Engine generation completed in 2 seconds."
    for number, lines in enumerate(([missing, built, "Export complete (3s)"], [built, missing])):
        (tmp_path / "b.log").write_text("\n".join(lines), encoding="utf-8")
        log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
        report = judge(Inputs([log]), Suppression())
        (found,) = [finding for finding in report.findings if finding.code == "TF940"]
        assert found.severity is (Severity.ERROR if number else Severity.WARNING)
        assert ("went on to its end" in found.title) is not bool(number)
        assert report.sources[0].headlines[0].root == ("TF940" if number else "")


@for_each(
    ("said", "is_error"),
    [
        ("Cannot find the birch archive. External users ignore this. Others run `make birches`.", False),
        ("Failed to find birch.json: you can safely ignore this", False),
        ("Cannot find the birch archive. Users should not ignore this.", True),
    ],
)
def test_what_its_own_words_let_one_ignore_is_no_error(said: str, *, is_error: bool, tmp_path: Path) -> None:
    (tmp_path / "b.log").write_text(f"[TRT] [I] Loaded engine size: 13 MiB\n{said}", encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    assert ("TF940" in {finding.code for finding in judge(Inputs([log]), Suppression()).findings}) is is_error


def test_what_tensorrt_only_warns_of_is_no_error_of_a_run_that_ended_well(tmp_path: Path) -> None:
    warned = (
        "[TRT] [W] IShuffleLayer a: reshaping failed for tensor: tensor reshape would change volume 60 to 1 In x at y"
    )
    asked = "[TRT] [E] ICudaEngine::getBudget: Error Code 3: API Usage Error (The engine was not built with it.)"
    (tmp_path / "b.log").write_text(f"{warned}\n{asked}\n[TRT] [I] Engine generation completed in 2 seconds.\nFinish")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    report = judge(Inputs([log]), Suppression())
    assert report.sources[0].headlines[0].passed
    assert all(finding.severity < Severity.ERROR for finding in report.findings)


def test_what_the_rules_worked_out_is_not_kept_for_other_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b.log").write_text(marked("W Skipping tactic 0x3\n" * 3).text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    cases: list[weakref.ref[Case]] = []
    quotes = judging._quotes

    class Noted(Case):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            cases.append(weakref.ref(self))

    def quoted(seen: Any, logs: Any, model: Any) -> Any:
        gc.collect()
        assert cases
        assert not any(case() for case in cases[:-3]), "a case of an earlier build is alive"
        return quotes(seen, logs, model)

    monkeypatch.setattr(judging, "Case", Noted)
    monkeypatch.setattr(judging, "_quotes", quoted)
    judge(Inputs([log, log]), Suppression())


def test_a_setting_that_is_refused_is_no_root_of_the_error_that_ended_the_build(tmp_path: Path) -> None:
    report = report_on(
        "[E] Error[3]: [builderConfig.cpp::setFlag::65] Error Code 3: API Usage Error (kPREFER_PRECISION_CONSTRAINTS "
        "cannot be set if kOBEY_PRECISION_CONSTRAINTS is set.)\n"
        "[E] 10: Could not find any implementation for node mauve.\n[E] Engine set up failed\n",
        tmp_path,
    )
    assert {each.code: each.severity for each in report.findings if each.consequence_of is None} == {
        "TF301": Severity.ERROR,
        "TF423": Severity.WARNING,
    }


@for_each(
    ("prefix", "severity"),
    [
        ("", Severity.ERROR),
        ("[TensorRT-LLM][ERROR] ", Severity.ERROR),
        ("E0512 08:01:02.000003 77 loader.cc:41] ", Severity.ERROR),
        ("the log level INFO is why it failed: ", Severity.ERROR),
        ("[TensorRT-LLM][INFO] ", None),
        ("[TRT-LLM] [I] ", None),
        ("[I] ", None),
        ("I0512 08:01:02.000003 77 loader.cc:41] ", None),
        ("2025-05-12 08:01:02,003 - root - INFO - ", None),
        ("INFO:loader:", None),
        ("[2025-05-12 08:01:02] DEBUG    ", None),
        ("[TensorRT-LLM][WARNING] ", Severity.WARNING),
        ("loader.py:41: UserWarning: ", Severity.WARNING),
        ("(player:81): GStreamer-CRITICAL **: 08:01:02.3: ", Severity.WARNING),
        ("[TRT] ", Severity.ERROR),
    ],
)
def test_a_line_makes_nothing_worse_than_its_level(tmp_path: Path, prefix: str, severity: Severity | None) -> None:
    said = "libnvinfer_plugin.so.10: cannot open shared object file: No such file or directory"
    findings = report_on(f"[TRT-LLM] [I] Loading\n{prefix}{said}", tmp_path).findings
    assert [each.severity for each in findings if each.code == "TF410"] == ([severity] if severity else [])
