"""What CI servers take: fingerprints that stay, GitHub's commands and summary, GitLab's code quality, the action."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.repository import LOGS, ROOT
from tests.unit.findings.forms.hostile import evil_report
from trtforensics.cli import main
from trtforensics.datasets.judged_sources import JudgedSource
from trtforensics.engines.joining import load_joined
from trtforensics.findings.forms.rendering import FORMS, Look, fingerprints, render

if TYPE_CHECKING:
    from pathlib import Path

LOG = LOGS / "emulated-trtexec-8.6.log"


def shifted(text: str) -> str:
    """Return a log of the next night: 37 lines more, other times of day, all measured times 1.7 % longer."""
    text = re.sub(r"-(\d\d):(?=\d\d:\d\d\])", lambda hour: f"-{(int(hour[1]) + 3) % 24:02}:", text)
    longer = re.compile(r"(?<![\w.])\d+\.(\d{3,})(?![\w.])")
    text = longer.sub(lambda time: f"{float(time[0]) * 1.017:.{len(time[1])}f}", text)
    return "starting\n" * 37 + text


def judged(path: Path) -> dict[str, int]:
    findings = JudgedSource.of(load_joined([str(path)], model=None)).report.findings
    return {mark: finding.line for mark, finding in zip(fingerprints(findings), findings, strict=True)}


@pytest.mark.parametrize("log", sorted(LOGS.glob("*.log")), ids=lambda log: log.name)
def test_fingerprints_stay_when_times_and_lines_change(log: Path, tmp_path: Path) -> None:
    later = tmp_path / "later.log"
    later.write_text(shifted(log.read_text()))
    before, after = judged(log), judged(later)
    assert before.keys() == after.keys()
    assert before.values() != after.values()
    assert any(line + 37 == after[mark] for mark, line in before.items())


def test_findings_that_are_alike_are_numbered_by_their_lines() -> None:
    finding = next(finding for finding in evil_report().findings if not finding.of_model)
    (first, second) = fingerprints([finding, finding])
    assert (first[:-1], first[-2:], second[-2:]) == (second[:-1], ":1", ":2")


def test_sarif_has_the_fingerprint_that_github_reads(tmp_path: Path) -> None:
    out = tmp_path / "a.sarif"
    assert main(["report", str(LOG), "--quiet", "-o", str(out)]) == 0
    results = json.loads(out.read_text())["runs"][0]["results"]
    marks = [result["partialFingerprints"]["primaryLocationLineHash"] for result in results]
    assert len(set(marks)) == len(results)
    assert {*marks} == judged(LOG).keys()


def test_an_annotation_is_one_line_whatever_a_log_says() -> None:
    lines = render(evil_report(), "github", Look(verbose=True)).splitlines()
    assert lines
    for line in lines:
        assert re.fullmatch(r"::(error|warning|notice) file=[^:,\n]*(,line=\d+,title=TF\d+)?::.*", line), line


def test_a_job_gets_its_summary_once_more_for_each_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "summary"
    path.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    assert main(["report", str(LOG), "--quiet", "--format", "github"]) == 0
    assert capsys.readouterr().out.startswith("::warning file=")
    first, second = path.read_text().splitlines()
    assert first == "before"
    assert "<summary>warning TF202 " in second
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "none" / "a"))
    assert main(["report", str(LOG), "--quiet", "--format", "github"]) == 2
    assert "its folder does not exist" in capsys.readouterr().err


def test_gitlab_finds_the_fields_that_it_asks_for() -> None:
    rows = json.loads(render(evil_report(), "codequality", Look()))
    assert rows
    for row in rows:
        assert row.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert row["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert row["location"]["lines"]["begin"] >= 1


def action() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads action.yml")
    return dict(yaml.safe_load((ROOT / "action.yml").read_text()))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32" or shutil.which("bash") is None, reason="the steps are of bash")
@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("", 0), ("warning", 1)])
def test_the_report_step_of_the_action_runs_in_a_shell(fail_on: str, code: int, tmp_path: Path) -> None:
    document = action()
    _, step = document["runs"]["steps"]
    programs = tmp_path / "trtforensics" / "bin"
    programs.mkdir(parents=True)
    (programs / "trtforensics").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m trtforensics "$@"\n')
    (programs / "trtforensics").chmod(0o755)
    given = {"sources": f"{LOG} {LOGS / 'rtx-convnet.log'}", "fail-on": fail_on, "sarif": str(tmp_path / "out.sarif")}
    assert given.keys() == document["inputs"].keys()
    names = {name: given[re.fullmatch(r"\$\{\{ inputs\.(.+) \}\}", value)[1]] for name, value in step["env"].items()}  # type: ignore[index]  # each is one
    summary = tmp_path / "summary"
    environment = {**os.environ, **names, "RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(summary)}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert done.stdout.startswith("::warning ")
    assert len(json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["artifacts"]) == 2
    assert summary.exists()


def test_the_hook_runs_a_command_that_there_is() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads hooks")
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    command = hook["entry"].split()
    assert command[0] == "trtforensics"
    model = ROOT / "testdata" / "models" / "norm-chain.onnx"
    assert main([*command[1:], "--target", "10.3", str(model)]) in {0, 1}


def test_every_form_is_one_that_the_page_names() -> None:
    page = (ROOT / "docs" / "reference" / "commands" / "report.md").read_text()
    assert [form for form in FORMS if f"--format {form}" not in page and form not in {"text", "json"}] == []
