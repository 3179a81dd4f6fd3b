"""The members of ForeignNodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.emulator.engine.foreign import Transformer
from trtforensics.engines.membership import foreign_members

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog


@pytest.mark.parametrize(("version", "listed"), [((10, 12, 0), True), ((8, 6, 1), False)])
def test_members_of_a_foreign_node_are_listed_or_inferred(
    version: tuple[int, int, int],
    listed: bool,  # noqa: FBT001 - a column
    load: Callable[[str], BuildLog],
) -> None:
    transformer = Transformer(version)
    held = foreign_members(load(transformer.log().text()).builds[0])
    assert list(held) == list(transformer.inside)
    assert {(one.name, one.listed) for one in held.values()} == {(transformer.foreign, listed)}
