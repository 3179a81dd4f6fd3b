"""Texts that are copied."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Any

from tests.support.screens import SIZE, log_app
from trtforensics.tui import user_files

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_copy_is_in_the_file_without_secrets_and_control_characters() -> None:
    copied = user_files.copy("a\x1b[31m\nhttps://me:hunter2@host/net")
    assert copied.through_terminal
    assert user_files.copied_file().read_text(encoding="utf-8") == "a␛[31m\nhttps://[secret]@host/net\n"
    assert copied.message.startswith("copied 2 lines to the terminal's clipboard; it is in ")
    assert str(user_files.copied_file()) in copied.message


def test_a_long_text_goes_to_the_file_only() -> None:
    copied = user_files.copy("x" * (user_files.LONGEST + 1))
    assert not copied.through_terminal
    assert "too long for a terminal's clipboard; it is in " in copied.message
    assert user_files.copied_file().stat().st_size == user_files.LONGEST + 2


def test_only_the_user_may_look_into_the_folder() -> None:
    user_files.copy("text")
    assert stat.S_IMODE(user_files.copied_file().parent.stat().st_mode) == 0o700


def test_it_says_when_the_file_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    copied = user_files.copy("text")
    assert copied.through_terminal
    assert "not written to " in copied.message


async def test_an_empty_text_is_not_copied(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        app.copy_to_clipboard("text")
        app.copy_to_clipboard("")
        assert app.clipboard == "text"


async def test_ctrl_c_copies_nothing_and_only_the_second_one_in_a_row_quits(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("ctrl+c", "j", "ctrl+c")
        assert not app.clipboard
        assert not app._exit
        await pilot.press("ctrl+c")
        assert app._exit


async def test_what_the_mouse_selects_is_copied(session: Any, parsed: Any, until: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        log = app.first._panes.log_view
        row = "".join(piece.text for piece in log.row(0, 60))
        await pilot.mouse_down(log, offset=(3, 0))
        await pilot.hover(log, offset=(9, 0))
        await pilot.mouse_up(log, offset=(9, 0))
        await until(pilot, lambda: bool(app.screen.selections))
        await pilot.press("ctrl+c")
        assert app.clipboard
        assert app.clipboard in row
        assert not app._exit
