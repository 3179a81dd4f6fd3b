"""JUnit: a test for each rule, and a failure for what fails."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.support.marked_logs import marked
from tests.unit.findings.forms.hostile import evil_report
from trtforensics.cli import main
from trtforensics.findings.finding import Report
from trtforensics.findings.forms.rendering import Look, render
from trtforensics.findings.registry import rules

FAILED = marked(
    """&& 10.16.1 --fp16
    E IBuilder::buildSerializedNetwork: Error Code 10: Internal Error (Could not find any implementation for node c.)
    I Local timing cache in use. Profiling results in this builder pass will not be stored.
    &&! end"""
).text


@pytest.mark.parametrize(
    ("level", "failures"),
    [(None, ["TF301", "TF717"]), ("note", ["TF301", "TF502", "TF717"]), ("error", ["TF301", "TF717"])],
)
def test_junit_has_a_test_for_each_rule_and_a_failure_for_what_fails(
    level: str | None, failures: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("failed.log").write_text(FAILED)
    words = ["--fail-on", level] if level else []
    code = main(["report", "failed.log", "--format", "junit", "-o", "out.xml", *words])
    assert code == (1 if level else 0)
    root = ET.parse("out.xml").getroot()  # noqa: S314 - our own file
    (suite,) = root
    assert (root.tag, suite.tag, suite.get("name")) == ("testsuites", "testsuite", "failed.log")
    cases = {str(case.get("name")).partition(" ")[0]: case for case in suite.findall("testcase")}
    assert list(cases) == [rule.code for rule in rules()]
    assert [code for code, case in cases.items() if case.find("failure") is not None] == failures
    for element in (root, suite):
        assert int(element.get("tests", "")) == len(rules())
        assert int(element.get("failures", "")) == len(failures)
        assert int(element.get("skipped", "")) == len(suite.findall("testcase/skipped")) > 0
    first = cases["TF301"].find("failure")
    assert first is not None
    assert (cases["TF301"].get("file"), cases["TF301"].get("line")) == ("failed.log", "2")
    assert first.get("type") == "error"
    assert first.get("message") == "There is no implementation for c"
    assert f"failed.log:2: {FAILED.split(chr(10))[1]}" in (first.text or "")
    if "TF502" not in failures:
        assert "TF502" in (cases["TF502"].findtext("system-out") or "")


def test_a_level_of_junit_leaves_lesser_findings_as_output() -> None:
    (source,), (finding, *_) = evil_report("build.log").sources, evil_report("build.log").findings
    text = render(Report((source,), (finding, finding)), "junit", Look())
    (failure,) = ET.fromstring(text).iter("failure")  # noqa: S314 - our own text
    assert str(failure.get("message")).endswith("(and 1 more)")
