"""How a logger opens its lines, and how trtexec numbers versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from datetime import datetime

Dialect: TypeAlias = Literal["trtexec", "python", "polygraphy"]

POLYGRAPHY_LETTERS = {"V": "X", "I": "V"}
"""Polygraphy shows TensorRT's verbose lines at its extra-verbose level and its information at verbose."""


def prefixed(body: str, dialect: Dialect, timestamp: datetime, letter: str, *, tensorrt: bool = True) -> str:
    """Return the line as the logger of a dialect writes it; ``tensorrt`` False: the message is the tool's own."""
    moment = f"[{timestamp:%m/%d/%Y-%H:%M:%S}]"
    if dialect == "trtexec":
        return f"{moment} [{letter}] [TRT] {body}" if tensorrt else f"{moment} [{letter}] {body}"
    if dialect == "python":
        return f"{moment} [TRT] [{letter}] {body}" if tensorrt else body
    return f"[{POLYGRAPHY_LETTERS.get(letter, letter) if tensorrt else letter}] {body}"


def version_code(version: tuple[int, int, int]) -> int:
    """Return the number that trtexec's banner prints: 8601 for 8.6.1, 101601 for 10.16.1."""
    major, minor, patch = version
    return major * 10_000 + minor * 100 + patch if major >= 10 else major * 1_000 + minor * 100 + patch


def polygraphy(letter: str, text: str) -> str:
    """Return a message of Polygraphy itself: further lines are indented as far as the prefix reaches."""
    return f"[{letter}] " + text.replace("\n", "\n    ")
