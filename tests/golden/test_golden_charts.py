"""What readers of notebooks draw of each figure, and lines of objects; ``--update-golden`` renews it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import trtforensics as tf
from tests.support.engine_pair import write_pair
from tests.support.folders import working_in
from tests.support.repository import ROOT
from tests.support.rounding import rounded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GOLDEN = ROOT / "tests" / "golden" / "notebooks" / "charts.txt"
FIGURES = ("layers", "types", "blocks", "memory", "roofline")
_PICTURE = re.compile(r"data:image/svg\+xml;base64,[^\"]*")


def shown(folder: Path) -> Iterator[str]:
    """Give figures as charts, and the objects of two engines as consoles and notebooks show them."""
    write_pair(folder)
    fast, slow = (
        tf.load(*(f"{name}.{kind}.json" for kind in ("layers", "profile", "times"))) for name in ("fast", "slow")
    )
    (engine,), (other,) = fast.builds, slow.builds
    figures = [tf.plot(engine, of=name) for name in FIGURES]
    figures += [tf.plot(engine, other, of=name) for name in ("waterfall", "compare")]
    for figure in figures:
        page = figure.interactive()._repr_mimebundle_()
        yield json.dumps(page, indent=1, default=str, ensure_ascii=False)
    comparison = tf.diff("fast.layers.json", "slow.layers.json")
    values: tuple[Any, ...] = (fast, engine, engine.layers, engine.layers[2], engine.table(), comparison, *figures)
    for value in values:
        yield repr(value)
        yield _PICTURE.sub("PICTURE", value._repr_html_()).replace("><", ">\n<")


def test_charts_and_pages_are_the_golden_ones(
    tmp_path: Path,
    update_golden: bool,  # noqa: FBT001 - a fixture
) -> None:
    with working_in(tmp_path):
        text = rounded("".join(f"{part}\n" for part in shown(tmp_path)))
    if update_golden:
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8"), f"{GOLDEN.name} differs: look at the change first"
