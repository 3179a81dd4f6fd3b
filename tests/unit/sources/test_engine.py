"""Files of engine layers and of profiles that belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.engine_files import DETAILED, PROFILE
from trtforensics.errors import UsageError
from trtforensics.sources.engine import load_engine_files

if TYPE_CHECKING:
    from pathlib import Path


def test_a_profile_of_another_engine_lends_no_times(tmp_path: Path) -> None:
    (tmp_path / "l.json").write_text(DETAILED)
    (tmp_path / "p.json").write_text(PROFILE.replace("conv1 + relu1", "other"))
    paths = [str(tmp_path / "l.json"), str(tmp_path / "p.json")]
    files = load_engine_files(paths, kind=None, max_bytes=1 << 20)
    assert files.times(files.layers[0].engines[0]) == (None, None)
    with pytest.raises(UsageError, match="of kind build-log"):
        load_engine_files([paths[0], __file__], kind=None, max_bytes=1 << 20)
