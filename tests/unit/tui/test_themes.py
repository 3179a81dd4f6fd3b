"""The themes and where the choice is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rich.style import Style

from tests.support.screens import SIZE, log_app
from trtforensics.tui import user_files
from trtforensics.tui.rows.pieces import Piece, Role
from trtforensics.tui.widgets.virtual_list import paint

if TYPE_CHECKING:
    from tests.support.screens import LogApp


def test_the_choice_is_kept() -> None:
    assert user_files.kept_theme() == "dark"
    assert user_files.keep_theme("colour-blind") == ""
    assert user_files.kept_theme() == "colour-blind"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"theme": 3}', '{"theme": "no such"}', "\xff", "[" * 100_000])
def test_settings_that_say_nothing_are_no_error(text: str) -> None:
    path = user_files.settings_path()
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="latin-1")
    assert user_files.kept_theme() == "dark"


def test_it_says_why_a_choice_is_not_kept(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    assert "tui.json" in user_files.keep_theme("light")


async def test_t_goes_through_the_themes_and_the_next_session_begins_with_the_last(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        seen, colours = [app.theme], [_title_colour(app)]
        for _ in user_files.THEMES[1:]:
            await pilot.press("T")
            seen.append(app.theme)
            colours.append(_title_colour(app))
    assert len(set(colours)) == len(colours)
    assert seen == [theme.name for theme in user_files.THEMES]
    assert log_app(session).theme == seen[-1]


def _title_colour(app: LogApp) -> object:
    (segment,) = paint(app.first.title_bar, (Piece("x", Role.TITLE),), Style(), Style(bgcolor="black"))
    return segment.style and segment.style.color


def test_good_and_bad_differ_in_blue_where_red_and_green_look_alike() -> None:
    theme = next(theme for theme in user_files.THEMES if theme.name == "colour-blind")
    blues = [int((colour or "")[5:], 16) for colour in (theme.success, theme.error)]
    assert blues[0] - blues[1] > 128
