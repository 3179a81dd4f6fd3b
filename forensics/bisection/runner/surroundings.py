"""What a command line means where it runs: its folder, and the content of the files and variables that it names.

With another content of a script, a model or a golden file the same line is another command. So it is with what short
text files, such as scripts, name in turn, and with the external data of ONNX models.
"""

import errno
import glob
import hashlib
import mmap
import os
import re
import shlex
import shutil
import stat
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path, PurePath

from trtforensics.bisection.runner.placeholders import unknown
from trtforensics.console.own_files import file_digest

UNREADABLE = "unreadable"
"""Stands for a content that cannot be read."""

_BEFORE_COMMANDS = frozenset(
    {";", "&&", "||", "|", "&", "(", "{", "!", "then", "do", "else", "if", "while", "until", "exec", "time", "env"}
)
_WRITERS = frozenset({"tee", "touch", "rm", "mkdir"})
"""Programs that write what they name."""
_OUTPUT = re.compile(
    r"--?(?:o|out(?:put)?s?(?:-?(?:file|dir|path))?|(?:save|export)[\w-]+|log-?(?:file|dir|path)|timing-?cache\w*)",
    re.IGNORECASE,
)
"""Options that name what a command writes."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SEPARATOR = re.compile("[=:,]")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)")
_OF_A_RUN = re.compile(r"TRTFORENSICS_\w*|CUDA_VISIBLE_DEVICES|SLURM_\w*|(?:OLD)?PWD|TMPDIR|HOME")
"""Variables that differ from run to run, or stand for paths alone."""
_EXTERNAL = re.compile(rb"\x0a\x08location\x12([\x01-\x7f])")
"""Where an ONNX model says which file holds a tensor: the length of the name that follows."""

_IN_TURN = " (read by "
"""Stands behind the name of a file that another one names."""
_NAME = re.compile(r"[\w./~@+-]*\w")
_LONGEST_TEXT = 1 << 16
"""Bytes of a file that may be a script."""
_MOST_IN_TURN = 256

_NO_PATH = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL}
"""What the system says of a word that is no path."""
_MOST_FILES = 4096
"""Files of a folder that are looked at."""
_MOST_BYTES = 1 << 30
"""Bytes of a folder that are read; its other files are known by size and time."""
_SETTLED_NS = 2_000_000_000
"""A file that was written this short a time ago may change again and keep its time of change."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a command line means where it runs: the content of what it names, by word, and the files and folders."""

    cwd: str
    inputs: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, Sequence[Path]] = field(default_factory=dict, compare=False)


def surroundings_of(command: str, artifacts: Path) -> Surroundings:
    """Look at what a command names, in this process's working directory; probes write below ``artifacts``."""
    paths = _paths(command, artifacts.resolve())
    inputs = {word: _content_of(files) for word, files in paths.items()}
    for name in _VARIABLE.findall(command):
        if name in os.environ and not _OF_A_RUN.fullmatch(name):
            inputs[f"${name}"] = _joined([os.environ[name]])
    return Surroundings(os.getcwd(), inputs, paths)  # noqa: PTH109 - as the shell sees it


def differing(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """Return the names whose content differs, or that one side lacks; scripts write some of what they name, as new."""
    names = (name for name in {**before, **now} if before.get(name) != now.get(name))
    return [name for name in names if name in before or not is_read_in_turn(name)]


def is_read_in_turn(name: str) -> bool:
    """Whether a name is of a file that no command names, but a file that it names."""
    return _IN_TURN in name


def stamp_of(paths: Iterable[Path]) -> list[tuple[int, int]]:
    """Return sizes and times, by which a change shows without reading."""
    stamps = []
    for path in paths:
        for file in _files_below(path) if path.is_dir() else (path,):
            try:
                status = file.stat()
            except OSError:
                continue
            stamps.append((status.st_size, status.st_mtime_ns))
    return stamps


def content_of(path: Path) -> str:
    """Return the SHA-256 of a file; that of an ONNX model covers its external data."""
    external = _external_files(path) if path.suffix == ".onnx" else []
    return _joined([_sha256(path), *map(_readable, external)]) if external else _sha256(path)


def _sha256(path: Path) -> str:
    status = path.stat()
    key = (str(path), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    settled = time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _SETTLED_NS
    return _hashed(key) if settled else _hashed.__wrapped__(key)


@lru_cache(maxsize=_MOST_FILES)
def _hashed(key: tuple[str, int, int, int, int, int]) -> str:
    return file_digest(key[0])[1]


def _external_files(model: Path) -> list[Path]:
    with model.open("rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return []
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            names = {data[match.end() : match.end() + match[1][0]] for match in _EXTERNAL.finditer(data)}
    return [model.parent / os.fsdecode(name) for name in sorted(names) if b"\0" not in name]


def _readable(path: Path) -> str:
    try:
        return content_of(path)
    except OSError:
        return UNREADABLE


def _content_of(paths: Sequence[Path]) -> str:
    contents = [_of_folder(path) if _kind(path) == "folder" else _readable(path) for path in paths]
    if len(paths) == 1:
        return contents[0]
    return _joined(f"{path} {content}" for path, content in zip(paths, contents, strict=True))


def _of_folder(folder: Path) -> str:
    left, parts = _MOST_BYTES, []
    for path in _files_below(folder):
        (stamp,) = stamp_of([path]) or [(0, 0)]
        left -= stamp[0]
        parts.append(f"{path.relative_to(folder)} {_readable(path) if left >= 0 else stamp}")
    return _joined(parts)


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the first files below a folder, by name; no links to folders are followed, nor artifacts directories."""
    left = _MOST_FILES
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        if {"job.json", "journal.jsonl"} <= set(names):
            folders.clear()
            continue
        for path in (Path(place, name) for name in sorted(names)):
            if not _kind(path):
                continue
            yield path
            left -= 1
            if not left:
                return


def _kind(path: Path) -> str:
    """Return whether there is a file, a folder, or something that cannot be looked at; "" for nothing of these."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return "" if error.errno in _NO_PATH else UNREADABLE
    except ValueError:
        return ""
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else ""


def _joined(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode(errors="surrogateescape")).hexdigest()


def _paths(command: str, artifacts: Path) -> dict[str, list[Path]]:
    """Return what exists of the files that a command names and does not write, by word."""
    bases, named, written = [""], dict[str, list[Path]](), set[str]()
    for word, use in _uses(command):
        for name in dict.fromkeys((word, word.partition("=")[2], *_SEPARATOR.split(word))):
            name = os.path.expanduser(os.path.expandvars(name))  # noqa: PTH111, PLW2901 - as the shell does
            places = [os.path.join(base, name) for base in bases if name and not unknown(name, frozenset())]  # noqa: PTH118
            if use == "written":
                written.update(places)
            elif use == "folder":
                bases += places
            else:
                named |= {place: paths for place in places if (paths := _existing(place, artifacts))}
    read = {place: paths for place, paths in named.items() if place not in written}
    return {**read, **_in_turn([path for paths in read.values() for path in paths], artifacts)}


def _in_turn(paths: Sequence[Path], artifacts: Path) -> dict[str, list[Path]]:
    """Return the files that short texts among some files name, and those that these name, modules of Python too."""
    known, named = {path.resolve() for path in paths}, dict[str, list[Path]]()
    queue = deque(paths)
    while queue and len(named) < _MOST_IN_TURN:
        script = queue.popleft()
        for path in _named_in(script):
            if _kind(path) == "file" and path.resolve() not in known and _existing(str(path), artifacts):
                known.add(path.resolve())
                queue.append(path)
                named[f"{path}{_IN_TURN}{script})"] = [path]
    return named


def _named_in(script: Path) -> Iterator[Path]:
    """Yield paths that a short text may mean: from here or from its own folder, whatever variable stands before."""
    try:
        text = script.read_text() if _kind(script) == "file" and script.stat().st_size <= _LONGEST_TEXT else ""
    except (OSError, UnicodeDecodeError):
        return
    for name in dict.fromkeys(_NAME.findall(re.sub(r"\A#!.*", "", text))) if "\0" not in text else ():
        module = name.replace(".", "/")
        for end in (os.path.expanduser(name), PurePath(name).name, f"{module}.py", f"{module}/__init__.py"):  # noqa: PTH111 - may stay
            yield from (Path(end), script.parent / end)


def _existing(place: str, artifacts: Path) -> list[Path]:
    """Return the files or the folder at a place, or that a pattern matches; no folder in which the command runs."""
    paths = [Path(place)]
    if glob.has_magic(place) and re.search(r"\w", place):
        paths = sorted(map(Path, islice(glob.iglob(place), _MOST_FILES)))  # noqa: PTH207 - a pattern of any kind
    kinds = ((path, _kind(path)) for path in paths)
    present = ((path, kind, path.resolve()) for path, kind in kinds if kind)
    return [
        path
        for path, kind, resolved in present
        if not (resolved.is_relative_to(artifacts) or (kind == "folder" and Path.cwd().is_relative_to(resolved)))
    ]


def _uses(command: str) -> Iterator[tuple[str, str]]:
    """Yield the words of a command that may be paths, with their use: read, written, or the folder that it enters."""
    before, program, starts = "", "", True
    for word in _words(command):
        option, equals, _ = word.partition("=")
        opens = starts and not _ASSIGNMENT.match(word)
        if opens:
            program = word
        if ">" in before or program in _WRITERS or _OUTPUT.fullmatch(option if equals else before):
            yield word, "written"
        elif before == "cd":
            yield word, "folder"
        elif not opens or "/" in word:
            yield word, "read"
        elif (script := shutil.which(word)) is not None and _begins_as_script(Path(script)):
            yield script, "read"
        if " " in word:  # such as what `sh -c` runs
            yield from _uses(word)
        if opens or not starts:
            before, starts = word, word in _BEFORE_COMMANDS


def _words(command: str) -> list[str]:
    """Return the words of a shell command, as far as they are known without running it."""
    text = command.replace("\n", " ; ").replace("`", " ; ")
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # a quote without its other half
        return text.split()


def _begins_as_script(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False
