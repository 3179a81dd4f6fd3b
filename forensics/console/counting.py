"""Numbers of things, for people."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return ``1 layer``, ``3 layers``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
