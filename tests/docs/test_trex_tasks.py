"""The ten tasks of "Coming from trt-engine-explorer" run, in three lines each, one after the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.support.engine_files import DETAILED, PROFILE
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SHORTEST_PAGE = 40
LONGEST_REPR = 300


def test_each_task_runs_in_three_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    parts = (ROOT / "docs" / "trex.md").read_text(encoding="utf-8").split("## Ten tasks")[1].split("\n## ")
    for name in ("layers", "other"):
        text = DETAILED.replace('"Kernel": [3,3],', '"Kernel": [3,3], "OutMaps": 16, "Groups": 1,')
        (tmp_path / f"{name}.json").write_text(text.replace("{ForeignNode[a...b]}", "fc"))
    for name in ("profile", "other.profile"):
        (tmp_path / f"{name}.json").write_text(PROFILE)
    tasks, more = (re.findall(r"```python\n# (.+)\n((?:.*\n)+?)```", part) for part in parts[:2])
    assert (len(tasks), len(more)) == (10, 4)
    names: dict[str, Any] = {}
    for task, code in tasks:
        lines = [line for line in code.split("\n") if line]
        assert len(lines) <= 3, task
        exec(compile("\n".join(lines[:-1]), task, "exec"), names)  # noqa: S102 - our own page
        if " = " in lines[-1]:
            exec(compile(lines[-1], task, "exec"), names)  # noqa: S102 - as above
        else:
            value = eval(compile(lines[-1], task, "eval"), names)  # noqa: S307 - as above
            assert len(repr(value)) <= LONGEST_REPR, task
            for shown in value if isinstance(value, tuple) else [value]:
                assert not hasattr(shown, "_repr_html_") or len(shown._repr_html_()) > SHORTEST_PAGE
    assert len(names["build"].layers) == 2
    assert (tmp_path / "engine.csv").read_text().count("\n") == 3
    for task, code in more:
        exec(compile(code, task, "exec"), names)  # noqa: S102 - as above
    sums = [sum(times.values()) for times in names["side_by_side"].values()]
    assert sums == [sum(names["ring"].values())] * 2
    assert names["products"] == [("conv1 + relu1", 64, 16, 27, 1, "sm80_xmma_fprop")]
    assert not names["origins"]
