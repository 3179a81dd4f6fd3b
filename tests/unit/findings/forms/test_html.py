"""The page for a browser: it loads nothing, runs nothing, and says what the document says."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

from tests.unit.findings.forms.hostile import NOTHING_TOLD
from trtforensics.cli import main
from trtforensics.findings.finding import Report, ReportSource
from trtforensics.findings.forms.rendering import Look, render
from trtforensics.plots.figure import Canvas

if TYPE_CHECKING:
    import pytest


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


def test_every_class_of_a_page_has_a_style(seed: Path) -> None:
    for names in ([seed.name], [seed.name, seed.name]):
        assert main(["report", *names, "--format", "html", "-o", "out.html"]) == 0
        page = Page(Path("out.html").read_text("utf-8"))
        css = next(text for text in page.texts if ":root" in text)
        used = {word for name, value in page.attributes if name == "class" for word in (value or "").split()}
        assert {word for word in used if f".{word}" not in css} <= {"steps"}


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
    assert f"Rules that need another file: {len(found['not_judged'])}" in told


def test_a_page_of_nothing_found_says_so() -> None:
    report = Report((ReportSource("build.log", 1, 1, "0" * 64, 1, NOTHING_TOLD),), ())
    texts = Page(render(report, "html", Look())).texts
    assert "Nothing found in what the log tells." in texts
    assert (
        "The log tells nothing of the engine; not: verdict, engine layers, tactics, layer times, options, model."
        in texts
    )


def test_figures_stand_at_the_end_with_their_data() -> None:
    figure = Canvas().figure("layers", "Time <by> layer", "alt", ("layer",), [("conv",)])
    report = Report((ReportSource("x.log", 1, 1, "0", 1, NOTHING_TOLD),), ())
    page = Page(render(report, "html", Look(figures=(figure,))))
    assert [page.tags.count(tag) for tag in ("figure", "svg", "table", "script")] == [1, 1, 1, 0]
    assert "Time <by> layer" in page.texts
    assert "figure" not in Page(render(report, "html", Look())).tags


def test_many_logs_begin_with_a_table_that_one_named_script_may_sort(seed: Path) -> None:
    logs = [f"{number}.log" for number in range(12)]
    for name in logs:
        Path(name).write_bytes(seed.read_bytes())
    assert main(["report", *logs, "-o", "out.html", "--quiet"]) == 0
    text = Path("out.html").read_text("utf-8")
    page = Page(text)
    assert page.tags.count("script") == 1
    script = text.partition("<script>")[2].partition("</script>")[0]
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert (
        "content",
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
    ) in page.attributes
    assert all(f"{name}:1" in page.texts for name in logs)
    anchors = {value for name, value in page.attributes if name == "id"}
    assert {(value or "")[1:] for name, value in page.attributes if name == "href"} <= anchors
    assert page.tags.count("article") < 2 * page.texts.count("in 12 logs")
    assert main(["report", *logs, "-v", "-o", "all.html", "--quiet"]) == 0
    assert len(Path("all.html").read_text("utf-8")) > 5 * len(text)
