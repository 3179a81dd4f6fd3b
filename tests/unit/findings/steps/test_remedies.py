"""The remedy of an operator stands first among the fixes of what is refused at its node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path

_FAILED = """[03/14/2025-09:26:00] [E] Error[4]: x (broadcast dimensions must be conformable)
[03/14/2025-09:26:01] [E] [TRT] ModelImporter.cpp:773: While parsing node number 4 [{op} -> "y"]:
"""


def _first_fix(text: str, folder: Path) -> str:
    (folder / "b.log").write_text(text, encoding="utf-8")
    log = read_log(str(folder / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    return judge(Inputs([log]), Suppression()).findings[0].fixes[0]


def test_the_operator_that_is_parsed_decides(tmp_path: Path) -> None:
    assert "slope" in _first_fix(_FAILED.format(op="PRelu"), tmp_path)
    assert "slope" not in _first_fix(_FAILED.format(op="Add"), tmp_path)


def test_the_dump_of_a_node_names_its_operator_too(tmp_path: Path) -> None:
    dump = '[03/14/2025-09:26:00] [E] [TRT] ModelImporter.cpp:770: op_type: "Resize"\n' + "  i: 0\n" * 20
    error = "[03/14/2025-09:26:01] [E] [TRT] ERROR: a.cpp:1 In function importResize:\n[8] Assertion failed: {}\n"
    assert "nearest_mode" in _first_fix(dump + error.format('m && "only support nearest mode floor!"'), tmp_path)
