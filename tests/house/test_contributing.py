"""Every path and module that CONTRIBUTING names is there, so that a newcomer who follows it finds the file."""

from __future__ import annotations

import re
from fnmatch import fnmatch

from tests.support.for_each import for_each
from tests.support.repository import PRODUCT, ROOT, files_of

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FOLDERS = (ROOT, ROOT / "parsers", ROOT / "forensics", ROOT / "tests")
"""The folders that paths in CONTRIBUTING start from."""

PACKAGES = {**PRODUCT, "tests": ROOT / "tests"}
NAMES = {path.name for path in files_of(ROOT)}
STANDS_FOR_ANY = "TOPIC"
"""A word in a path for whatever folder it is."""

GENERATED = ("build/",)
"""Folders that the commands in CONTRIBUTING make."""

CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
SUFFIX = re.compile(r"\.(?:py|lark|json|md|toml|tsv|tcss)$")
PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)*/?")
MODULE = re.compile(r"\b(?:trtforensics|tests)(?:\.\w+)+")


def paths(text: str) -> list[str]:
    """Return the paths in a text's code: words with a slash, and names of files."""
    words = [word.strip(",;:…()'\"") for code in CODE.findall(text) for word in code.strip("`").split()]
    whole = [word for word in words if PATH.fullmatch(word) and not word.startswith(GENERATED)]
    return sorted({word for word in whole if "/" in word or SUFFIX.search(word)})


def modules(text: str) -> list[str]:
    """Return the modules in a text's code by their dotted names."""
    return sorted({name for code in CODE.findall(text) for name in MODULE.findall(code)})


def exists(path: str) -> bool:
    """Whether a path is there from one of the folders; a file that is named alone may lie anywhere."""
    pattern = path.replace(STANDS_FOR_ANY, "*").rstrip("/")
    if "/" not in pattern and SUFFIX.search(pattern):
        return any(fnmatch(name, pattern) for name in NAMES)
    return any(any(folder.glob(pattern)) for folder in FOLDERS)


def is_module(name: str) -> bool:
    """Whether a module or a package has this name."""
    package = max((known for known in PACKAGES if f"{name}.".startswith(f"{known}.")), key=len, default="")
    if not package:
        return name == "trtforensics"
    place = PACKAGES[package].joinpath(*name.removeprefix(package).strip(".").split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


@for_each("path", paths(CONTRIBUTING))
def test_a_path_that_contributing_names_is_there(path: str) -> None:
    assert exists(path)


@for_each("name", modules(CONTRIBUTING))
def test_a_module_that_contributing_names_is_there(name: str) -> None:
    assert is_module(name)


def test_paths_and_modules_are_looked_for_in_spans_and_in_blocks() -> None:
    text = (
        "a/b `c/d.py`, `e.lark`\n\n```\nf/g.py  what\n   h/i/   k.py: why\n```\n`python -m tests.fuzz n/x`, `.[dev]`\n"
    )
    assert paths(text) == ["c/d.py", "e.lark", "f/g.py", "h/i/", "k.py", "n/x"]
    assert modules(text) == ["tests.fuzz"]


@for_each(
    ("path", "there"),
    [
        ("grammar/*.lark", True),
        ("forensics/findings/rules/TOPIC.py", True),
        ("assembler.py", True),
        ("builds/assembler.py", True),
        ("builds/nothing.py", False),
        ("nothing.py", False),
        ("tests/nothing/", False),
    ],
)
def test_a_path_that_is_not_there_is_seen(path: str, *, there: bool) -> None:
    assert exists(path) is there


@for_each(
    ("name", "there"),
    [
        ("trtforensics.parsers.grammar.generate", True),
        ("trtforensics.tui", True),
        ("tests.benchmarks", True),
        ("trtforensics.parsers.nothing", False),
        ("tests.nothing", False),
    ],
)
def test_a_module_that_is_not_there_is_seen(name: str, *, there: bool) -> None:
    assert is_module(name) is there
