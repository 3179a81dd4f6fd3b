"""The views of different sources of one build agree."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from trtforensics.comparison.compare import compare
from trtforensics.comparison.differences import DifferenceType
from trtforensics.comparison.loading import load_side

if TYPE_CHECKING:
    from pathlib import Path


def test_mixed_kinds_tell_of_the_same_build(samples: list[Path], tmp_path: Path) -> None:
    log = next(path for path in samples if "two-profiles" in path.name)
    side = load_side(str(log), "good")
    export = tmp_path / "export.json"
    from trtforensics.cli import main  # noqa: PLC0415 - as a user would

    assert main(["cache", "export", str(log), "-o", str(export), "--quiet"]) == 0
    found = compare(side, load_side(str(export), "bad"))
    assert found.differences == ()
    assert sum(found.matched.values()) == len(json.loads(export.read_text())["keys"])


def test_what_myelin_chose_inside_a_foreign_node_is_compared_without_keys_too(
    samples: list[Path], tmp_path: Path
) -> None:
    log = next(path for path in samples if "three-passes" in path.name)
    lines = log.read_text().split("\n")
    table = next(n for n, line in enumerate(lines) if "Autotuning op node_conv2d:" in line and n > 1100)
    first, second = (lines[table + n].split(", ")[5] for n in (3, 4))
    bad = tmp_path / "bad.log"
    swapped = {table + 3: (first, second), table + 4: (second, first)}
    bad.write_text("\n".join(line.replace(*swapped.get(n, ("", ""))) for n, line in enumerate(lines)))
    found = compare(load_side(str(log), "good"), load_side(str(bad), "bad"))
    assert [(one.type, one.layer) for one in found.differences] == [(DifferenceType.TACTIC, "node_conv2d")]


NAMES_ONLY = ("it holds names only: built without detailed profiling",)


@pytest.mark.parametrize(
    ("layer", "notes"),
    [("conv", NAMES_ONLY), ({"Name": "conv", "LayerType": "Convolution", "Inputs": [], "Outputs": []}, ())],
    ids=["names", "records"],
)
def test_an_engine_file_of_names_says_that_it_holds_no_more(layer: Any, notes: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "layers.json"
    path.write_text(json.dumps({"Layers": [layer], "Bindings": []}))
    assert [build.notes for build in load_side(str(path), "good").builds] == [notes]
