"""The placeholders of ``--build`` and ``--check``, and the environment variables with the same values.

Only the names here are replaced; every other brace stays, so that commands may use the shell's and JSON's own.
"""

import re
import shlex
from collections.abc import Mapping

INPUTS = ("replay", "cache", "model", "twin", "outputs", "route", "items", "inputs")
"""The placeholders of the modes: a mode gives values to its own."""

ALWAYS = ("engine", "log", "dir", "probe")
"""The placeholders that every probe has."""

_ANY = re.compile("{(" + "|".join(INPUTS + ALWAYS) + ")}")


def variable(name: str) -> str:
    """Return the environment variable that carries a placeholder's value."""
    return f"TRTFORENSICS_{name.upper()}"


def fill(command: str, values: Mapping[str, str]) -> str:
    """Replace the placeholders that have a value, each quoted for the shell."""
    return _ANY.sub(
        lambda placeholder: shlex.quote(values[placeholder[1]]) if placeholder[1] in values else placeholder[0], command
    )


def mentions(command: str, name: str) -> bool:
    """Whether a command uses a placeholder, or the variable that carries its value."""
    return f"{{{name}}}" in command or re.search(rf"\b{variable(name)}\b", command) is not None


def unknown(command: str, known: Mapping[str, str] | frozenset[str]) -> list[str]:
    """Return the placeholders of other modes that a command uses: the shell would get them as they stand."""
    return [name for name in dict.fromkeys(_ANY.findall(command)) if name not in known]
