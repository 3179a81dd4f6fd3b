"""How many examples a property test draws: its own number, scaled by the profile that conftest.py loads."""

from __future__ import annotations

from hypothesis import settings

_USUAL = 100
"""The examples of a test that names no number, in the profile ``full``."""


def examples(count: int) -> settings:
    """Return the settings of a test that draws ``count`` examples in the profile ``full``, more or fewer in others."""
    return settings(max_examples=max(1, count * settings().max_examples // _USUAL))
