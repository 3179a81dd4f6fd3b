"""Files about one engine on the log's screen: their lines count on behind the log's, and what did not join is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.engine_files import DETAILED, PROFILE
from tests.support.onnx_model import model
from tests.support.repository import LOGS
from tests.support.screens import log_app
from trtforensics.errors import UsageError
from trtforensics.parsers.text.source import open_source
from trtforensics.sources.build_log import load_build_log
from trtforensics.tui.sessions import LogSession

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.screens import ScreenText

LOG = str(LOGS / "emulated-trtexec-8.6.log")


def joined(*paths: str, has_log: bool) -> LogSession:
    return LogSession(open_source(paths[0]), paths[1:], has_log=has_log)


def parse(session: LogSession) -> Any:
    return session.parse(lambda _: None, lambda _: None, lambda: False)


@pytest.fixture
def profile(tmp_path: Path) -> str:
    """Return a profile of the log's engine that lacks a layer and times one that the engine does not have."""
    names = [layer.name for layer in load_build_log([LOG]).builds[-1].engine_layers if layer.type != "NoOp"]
    rows = [f'{{ "name" : "{name}", "timeMs" : 4, "averageMs" : 0.5, "percentage" : 10 }}' for name in names[1:]]
    rows.append('{ "name" : "stranger", "timeMs" : 1, "averageMs" : 0.125, "percentage" : 5 }')
    path = tmp_path / "profile.json"
    path.write_text("[\n" + ",\n".join(('{ "count" : 8 }', *rows)) + "\n]\n")
    return str(path)


def test_every_fact_stands_in_the_text_at_its_line(profile: str) -> None:
    session = joined(LOG, profile, has_log=True)
    build = parse(session).builds[-1]
    for row in build.profile:
        assert row.name in session.text.line(row.span.line)
        assert session.place(row.span.line) == (profile, row.span.line_in_file)
    choice = build.choices[0]
    assert session.place(choice.span.line) == (LOG, choice.span.line)
    first = session.files[0].first_line
    assert first is not None
    assert len(session.text) == first + session.files[0].lines - 1


def test_files_without_a_log_are_one_text_too(tmp_path: Path) -> None:
    texts = {"layers.json": DETAILED, "profile.json": PROFILE.replace('"fc"', '"{ForeignNode[a...b]}"')}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    paths = [str(tmp_path / name) for name in texts]
    session = joined(*reversed(paths), has_log=False)
    (build,) = parse(session).builds
    for fact in (*build.engine_layers, *build.profile):
        assert fact.name in session.text.line(fact.span.line)
        assert session.place(fact.span.line) == (fact.span.file, fact.span.line_in_file)
    assert {file.path for file in session.files} == set(paths)


async def test_the_overview_lists_the_files_and_what_did_not_join(
    profile: str, parsed: Any, screen_text: ScreenText
) -> None:
    app = log_app(joined(LOG, profile, has_log=True))
    async with app.run_test(size=(160, 90)) as pilot:
        await parsed(pilot)
        shown = screen_text(app)
        assert "Files of this engine" in shown
        assert "names no layer of the engine in 1 row (stranger)" in shown
        assert "lacks 1 layer" in shown
        assert "measured" in shown


@pytest.mark.slow
async def test_the_models_operators_stand_in_rows_and_details_and_filter_layers(
    tmp_path: Path, parsed: Any, screen_text: ScreenText
) -> None:
    names = {"conv1 + relu1": "first + last", "[ONNX Layer: conv1]\\u001e[ONNX Layer: relu1]": ""}
    text = DETAILED
    for before, after in names.items():
        text = text.replace(before, after)
    layers = tmp_path / "layers.json"
    layers.write_text(text)
    app = log_app(joined(str(layers), model(tmp_path), has_log=False))
    async with app.run_test(size=(150, 50)) as pilot:
        await parsed(pilot)
        await pilot.press("2")
        await pilot.pause()
        assert "first + last  Relu, Add" in screen_text(app)
        await pilot.press("f", *"op=add", "enter")
        await pilot.pause()
        assert "first + last" in screen_text(app)
        assert "{ForeignNode" not in screen_text(app)
        await pilot.press("enter")
        await pilot.pause()
        assert "first  Relu, by the ONNX model" in screen_text(app)
        await pilot.press("escape", "escape", "f", *"op=conv", "enter")
        await pilot.pause()
        assert "first + last  Relu" not in screen_text(app)


def test_a_file_of_another_engine_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    path.write_text(PROFILE)
    with pytest.raises(UsageError, match="Give the profile that was exported from this build's engine"):
        parse(joined(LOG, str(path), has_log=True))
