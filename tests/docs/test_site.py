"""The site's generated parts: every command, option, rule and public name is there, and every page is in the menu."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import onnx
import pytest

from docs.build import DOCS, stage
from docs.generated import CODE_PAGES, api_page, command_pages, findings_page, usage, usages
from testdata.make_chain import TARGET, chain
from tests.support.repository import ROOT
from trtforensics import __version__
from trtforensics.cli import COMMANDS
from trtforensics.findings.registry import rules
from trtforensics.knowledge.table import records
from trtforensics.knowledge.terms import ErrorCode, terms
from trtforensics.model.run import Program

if TYPE_CHECKING:
    from pathlib import Path

PASTED = {
    "[E] Error[10]: Could not find any implementation for node {ForeignNode[/norm/ReduceMean.../Add]}.": "TF301",
    "[V] [TRT] Skipping tactic 0x0000000000000005 due to insufficient memory on requested size of 483183": "TF303",
    "[E] Engine set up failed": "TF717",
    "Error Code 2: OutOfMemory (Requested size was 3541041152 bytes.)": "TF314",
    "The engine plan file is generated on an incompatible device, expecting compute 8.6 got compute 7.5": "TF602",
    "[E] FAILED | Runtime: 9.1s | Command: polygraphy run net.onnx --trt --trt-outputs mark all": "TF717",
    "[graphShapeAnalyzer.cpp::check::1916] Error Code 2: Internal Error (Assertion !isInFlight(p) failed. )": "TF164",
    "[E] Error Code 4: Internal Error (conv7: the zero points of a block must be alike)": "TF924",
    "[8] Assertion failed: convertDtype(onnxDtype.elem_type(), &trtDtype)": "TF927",
}
"""Lines and the code that is among the first three; the last two are of classes, which no message shows."""


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that Zensical builds from."""
    folder = tmp_path_factory.mktemp("site")
    stage(folder)
    return folder


def test_the_page_of_parse_names_every_program() -> None:
    named = re.findall(r"[\w-]+", (ROOT / "docs/reference/commands/parse.md").read_text(encoding="utf-8"))
    assert {str(program) for program in Program} <= {*named}


def test_every_command_has_a_page_with_its_options(staged: Path) -> None:
    folder = staged / "pages" / "reference" / "commands"
    for command in COMMANDS:
        text = "".join(path.read_text(encoding="utf-8") for path in folder.glob(f"{command}*.md"))
        assert "<!-- generated" not in text
        for parser in usages(command):
            assert usage(parser) in text
            for option in parser._option_string_actions:
                hidden = parser._option_string_actions[option].help == argparse.SUPPRESS
                assert hidden or option in text, f"{parser.prog} {option}"


def test_code_in_help_stays_code_and_all_else_is_shown_as_it_stands() -> None:
    parser = argparse.ArgumentParser(prog="trtforensics x", description="Text.")
    parser.add_argument("--a", metavar="X|Y", help="with `a|b_c` or x|<*_*>")
    assert r"| `--a X|Y` | with `a|b_c` or x\|&lt;\*\_\*> |" in usage(parser)


def test_every_page_is_in_the_menu(staged: Path) -> None:
    named = set(re.findall(r'"([\w/-]+\.md)"', (staged / "zensical.toml").read_text(encoding="utf-8")))
    pages = staged / "pages"
    written = {path.relative_to(pages).as_posix() for path in pages.rglob("*.md")}
    listed = (f"{CODE_PAGES}/", "reference/json/")
    assert named == {page for page in written if not page.startswith(listed)}, "findings.md and json.md list the others"
    assert set(command_pages(pages)) <= named


def test_lists_in_lists_are_indented_by_four(staged: Path) -> None:
    """Markdown of the site shows an item that is indented by less as one of the outer list."""
    for page in (staged / "pages").rglob("*.md"):
        prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        assert not re.findall(r"^ {1,3}[-*] .*", prose, re.MULTILINE), page


def test_every_finding_code_has_a_page_with_its_messages_as_titles(staged: Path) -> None:
    listed = findings_page()
    assert "of other packages" not in listed
    for rule in rules():
        name = f"{rule.code.lower()}.md"
        page = (staged / "pages" / CODE_PAGES / name).read_text(encoding="utf-8")
        assert f"[{rule.code}](findings/{name}): " in listed
        assert f"\n# {rule.code}: " in page
        assert bool(rule.messages) == ("\n### `" in page), rule.code
        assert "…" not in rule.messages, f"{rule.code}: any text is no message"
        assert page.split("\n")[1].count('"') == 2, f"{rule.code}: a quote ends the site's attribute"
        plain = re.sub(r"(`+).*?\1|^description: .*", "", page, flags=re.MULTILINE)
        assert not re.search(r"[^\w-]--[A-Za-z]", plain), f"{rule.code}: an option is shown as code"


def test_every_layer_type_error_code_and_schema_has_its_place(staged: Path) -> None:
    words = (staged / "pages" / "reference" / "words.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in words for term in terms() for name in term.names)
    assert all(f"| {entry.code} `{entry.name}` |" in words for entry in records("error_codes", ErrorCode))
    assert "| `--bf16` | a switch; for build, since TensorRT 9.1, refused from 11 on |" in words
    listed = (staged / "pages" / "reference" / "json.md").read_text(encoding="utf-8")
    names = [path.name.removesuffix(".schema.json") for path in (ROOT / "forensics/render/schemas").glob("*.json")]
    assert names
    for name in names:
        assert f"(json/{name}.md)" in listed
        assert f"# {name}.schema.json" in (staged / "pages" / "reference" / "json" / f"{name}.md").read_text("utf-8")


@pytest.mark.slow
def test_a_site_knows_its_address_its_sources_and_its_version(tmp_path: Path) -> None:
    stage(tmp_path, "https://site.example/", "https://code.example/it")
    head = (tmp_path / "zensical.toml").read_text(encoding="utf-8").split("nav = ")[0]
    assert 'site_url = "https://site.example/"\nrepo_url = "https://code.example/it"' in head
    assert f'copyright = "trtforensics {__version__}"' in head


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js, which runs the page's script")
def test_a_pasted_line_finds_its_code(staged: Path) -> None:
    folder = staged / "pages" / "reference"
    script = (folder / "find-data.js").read_text(encoding="utf-8") + (
        f"const {{ index, find }} = require({str(folder / 'find.js')!r});\n"
        "const all = index(CODES, CLASSES);\n"
        "const hits = (line) => find(all, line, 3).flatMap((hit) => hit.codes.map((each) => each.code));\n"
        f"console.log(JSON.stringify({json.dumps(list(PASTED))}.map(hits)));"
    )
    line = [str(shutil.which("node")), "-"]
    done = subprocess.run(line, input=script, capture_output=True, text=True, check=True)
    for code, hits in zip(PASTED.values(), json.loads(done.stdout), strict=True):
        assert code in hits


def test_the_python_api_is_documented() -> None:
    page = api_page()
    assert "## load\n" in page
    assert "\ngraph(build: LoadedBuild) -> nx.MultiDiGraph\n" in page, "a package that can be called is a function"
    assert "\nlayers: tuple[LoadedLayer, ...]\n" in page, "an attribute is not called"
    assert "*args" not in page


def test_a_page_of_a_command_that_lacks_the_mark_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "docs" / "reference" / "commands"
    folder.mkdir(parents=True)
    (folder / "tui.md").write_text("# tui\n")
    (tmp_path / "docs" / "zensical.toml").write_text((DOCS / "zensical.toml").read_text())
    monkeypatch.setattr("docs.build.DOCS", tmp_path / "docs")
    with pytest.raises(ValueError, match=r"tui\.md lacks the line"):
        stage(tmp_path / "site")


def test_the_bundled_chain_is_what_its_script_makes() -> None:
    assert onnx.load(TARGET) == chain()
