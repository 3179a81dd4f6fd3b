"""The programs that a command names, by their content: with another one, the same line is another command.

They are scripts, and executable files that are named by a path. What they read in turn is not looked at.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ENDINGS = frozenset({".sh", ".bash", ".py", ".pl", ".rb", ".js", ".lua", ".awk", ".sed"})
_READS_SCRIPTS = re.compile(r"\.|source|(?:ba|da|z|k)?sh|python[\d.]*|perl|ruby|node|lua|awk|sed")
_BEFORE_COMMANDS = frozenset(
    {";", "&&", "||", "|", "&", "(", "{", "!", "then", "do", "else", "if", "while", "until", "exec", "time", "env"}
)
_READ_AT_ONCE = 1 << 20
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a command line means where it runs: its working directory, and the SHA-256 of each program it names."""

    cwd: str
    programs: Mapping[str, str] = field(default_factory=dict)


def surroundings_of(command: str) -> Surroundings:
    """Look at the programs of a command in this process's working directory."""
    cwd = os.getcwd()  # noqa: PTH109 - as the shell sees it
    programs = {}
    for word, path in _programs(command):
        with suppress(OSError):  # what cannot be read, the command cannot run either
            programs[word] = sha256_of(path)
    return Surroundings(cwd, programs)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes in hexadecimal.

    Raises:
        OSError: the file cannot be read.
    """
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_READ_AT_ONCE):
            digest.update(chunk)
    return digest.hexdigest()


def _programs(command: str) -> Iterator[tuple[str, Path]]:
    before, starts = "", True
    for word in _words(command):
        if ">" not in before:  # a command writes there
            yield from _named(word, before, starts=starts)
        if " " in word:  # such as what `sh -c` runs
            yield from _programs(word)
        if not (starts and _ASSIGNMENT.match(word)) and not (word.startswith("-") and _reads_scripts(before)):
            before, starts = word, word in _BEFORE_COMMANDS


def _words(command: str) -> list[str]:
    """Return the words of a shell command, as far as they are known without running it."""
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # a quote without its other half
        return command.split()


def _named(word: str, before: str, *, starts: bool) -> Iterator[tuple[str, Path]]:
    for name in dict.fromkeys((word, word.partition("=")[2])):
        if starts and "/" not in name:  # the shell looks on its path
            found = shutil.which(name) if name else None
            if found is not None and _begins_as_script(Path(found)):
                yield name, Path(found)
        elif name and not name.startswith("{") and _is_program(Path(name), before):
            yield name, Path(name)


def _is_program(path: Path, before: str) -> bool:
    try:
        if not path.is_file():
            return False
    except OSError:  # a word that is too long for a name
        return False
    return _reads_scripts(before) or path.suffix in _ENDINGS or os.access(path, os.X_OK) or _begins_as_script(path)


def _reads_scripts(word: str) -> bool:
    return _READS_SCRIPTS.fullmatch(Path(word).name) is not None


def _begins_as_script(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False
