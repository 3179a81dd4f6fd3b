"""Where a log pauses: named with the line behind the pause, found without reading all lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.render.pauses import pauses
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path


def test_the_longest_pauses_are_named_with_the_line_behind_them(tmp_path: Path) -> None:
    lines = [f"[11/21/2026-10:00:{10 + (number > 400) * 30:02}] [TRT] [I] line {number}" for number in range(1, 801)]
    (tmp_path / "b.log").write_text("\n".join([*lines, "[11/21/2026-10:00:44] [TRT] [I] end"]))
    read = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    (row,) = pauses(read)
    first, *named = row.text.split("; ")
    assert first == "from 10:00:10 to 10:00:44, 34 s"
    assert [each.partition(":")[0] for each in named] == ["30 s before line 401", "4 s before line 801"]
    assert named[1].endswith("[TRT] [I] end")


def test_days_count_and_a_log_of_two_clocks_tells_nothing(tmp_path: Path) -> None:
    said = "2026-01-0{} {}:00:00 INFO a\n[TRT] [I] Hello\n"
    for times, expected in (((1, 23), (2, "01")), ["from 23:00:00 to 01:00:00, 7200 s"]), (((1, 10), (1, "03")), []):
        (tmp_path / "b.log").write_text("".join(said.format(*each) for each in times))
        read = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
        assert [row.text.partition(";")[0] for row in pauses(read)] == expected


def test_a_log_of_one_second_or_without_stamps_has_none(tmp_path: Path) -> None:
    for text in ("[11/21/2026-10:00:10] [TRT] [I] a\n[11/21/2026-10:00:11] [TRT] [I] b", "[TRT] [I] a", ""):
        (tmp_path / "b.log").write_text(text or "[TRT] [I] x")
        read = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
        assert [*pauses(read)] == []


def test_the_timed_inferences_are_no_pause(tmp_path: Path) -> None:
    text = (
        "[11/21/2026-10:00:10] [I] Starting inference\n[11/21/2026-10:00:13] [I] Warmup completed 10 queries over 2 ms"
    )
    (tmp_path / "b.log").write_text(text)
    read = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    assert [row.text for row in pauses(read)] == ["from 10:00:10 to 10:00:13, 3 s"]
