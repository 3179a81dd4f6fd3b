"""Whether a file is there: only its absence is a no."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from trtforensics.console.own_files import is_there

if TYPE_CHECKING:
    from pathlib import Path


def test_only_what_is_absent_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "broken").symlink_to(tmp_path / "nothing")
    assert is_there(tmp_path)
    assert not is_there(tmp_path / "broken")
    assert not is_there(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("name", "error"),
    [("loop", errno.ELOOP), ("file/below", errno.ENOTDIR), ("n" * 300, errno.ENAMETOOLONG)],
    ids=["loop", "below a file", "long"],
)
def test_a_refusal_is_no_absence(tmp_path: Path, name: str, error: int) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=os.strerror(error)):
        is_there(tmp_path / name)
