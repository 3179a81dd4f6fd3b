"""The timing cache that a log states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trtforensics.errors import UsageError
from trtforensics.render import cache as cache_export
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from pathlib import Path


def test_a_log_without_keys_is_refused_with_what_to_do(samples: list[Path]) -> None:
    other = next(path for path in samples if "8.6" in path.name)
    with pytest.raises(UsageError, match="prints no keys of an editable timing cache") as caught:
        cache_export.of_log(load_build_log([str(other)]))
    assert "EDITABLE_TIMING_CACHE" in caught.value.next_step
