"""Panes at any size."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.screens import SIZE, ScreenText, log_app

FIRST_ROWS = {
    "1": ("1 ▸ run 1       PASSED · trtexec 8.5.1", "▸ ██████████  76.6%  0.04120 tuned    ?    conv1 + relu1"),
    "2": ("#▲ layer                        in→out      compute   ms tuned     %   margin", "▸  1 conv1 + relu1"),
    "3": ("✔ in the engine  0.04120 ms  next +31.8 %", "✔ ███            0.04120  fastest    Half:2→Half:8"),
    "4": ("4 Raw log", "37 >>>>>>>>>>>>>>> Chose Runner Type: CaskConvolution Tactic: 0x94119b4c514b21"),
    "5": ("E TF900  pool1 took a tactic of another format (likely)", "N TF901  Weights were clipped"),
}
"""What the pane that a key leads to shows at 80x24."""


@pytest.mark.slow
async def test_each_pane_shows_its_first_rows_at_80x24_in_the_light_theme(
    session: Any, screen_text: ScreenText, parsed: Any, settled: Any
) -> None:
    app = log_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        app.theme = "light"
        await parsed(pilot)
        for key, rows in FIRST_ROWS.items():
            await pilot.press(key)
            await settled(pilot)
            shown = screen_text(app)
            lines = shown.split("\n")
            assert lines[0].strip().startswith("trtforensics  build.log  build 1 of 2 [ ] PASSED · trtexec 8.5.1")
            assert "q Quit  ? Help  / Search" in lines[-1]
            assert [row for row in rows if row not in shown] == [], f"pane {key}:\n{shown}"


@pytest.mark.slow
async def test_z_gives_a_pane_the_whole_screen_and_takes_it_back(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("4", "z")
        await pilot.pause()
        assert "1 Time  2 Layers" not in screen_text(app)
        await pilot.press("z")
        await pilot.pause()
        assert "1 Time  2 Layers" in screen_text(app)


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize(
    "size", [(80, 24), *(pytest.param(size, marks=pytest.mark.slow) for size in ((40, 10), (160, 45)))]
)
@pytest.mark.slow
async def test_every_pane_works_at_any_size(session: Any, parsed: Any, size: tuple[int, int]) -> None:
    app = log_app(session)
    async with app.run_test(size=size) as pilot:
        await parsed(pilot)
        for key in (
            "1",
            "2",
            "right",
            "end",
            "3",
            "end",
            "4",
            "pagedown",
            "right",
            "5",
            "space",
            "end",
            "6",
            "z",
            "question_mark",
            "q",
        ):
            await pilot.press(key)
        await pilot.resize_terminal(100, 30)
        await pilot.press("2", "home", "q")
    assert app.return_code == 0
