"""The rules of the house that no linter keeps.

Functions and modules are short, handlers narrow, names of classes unique, and no text names a machine's path.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from fnmatch import fnmatch
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.import_graph import statements, tree_of
from tests.support.repository import PRODUCT, ROOT, files_of, label

if TYPE_CHECKING:
    from pathlib import Path

MAX_FUNCTION_LINES = 60
MAX_MODULE_LINES = 500
BROAD = {"Exception", "BaseException"}
CATCH_WHATEVER_COMES = {"forensics/cli.py": 1, "tests/unit/reduce/conftest.py": 1}
"""How often a module may: once, where a bug becomes a sentence, and where ONNX Runtime raises a plain Exception."""
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:(?:root|work)|home/[\w.-]+)/")
JSON_FOR_PROGRAMS = (
    "parsers/*",
    "forensics/bisection/*",
    "forensics/trt/*",
    "forensics/replay/writing.py",
    "forensics/sources/editable_cache.py",
    "forensics/findings/explaining.py",
    "forensics/graphs/export.py",
    "forensics/render/json_text.py",
)
"""Who may write JSON by itself: what a child process or TensorRT reads, what holds nothing of a source, what masks."""
UNIT = ROOT / "tests" / "unit"
OF_TESTS_THEMSELVES = {("emulator",), ("support",)}
"""Folders of unit tests whose subject is a part of `tests`."""
NAMES_PATHS_ON_PURPOSE = ("tests/*redact*", "testdata/*redact*")
"""Redaction replaces the paths of people's machines, so its tests must spell some."""


@cache
def product() -> list[Path]:
    """Return every Python file of the product."""
    return [path for folder in PRODUCT.values() for path in files_of(folder) if path.suffix == ".py"]


@cache
def of_tests() -> list[Path]:
    """Return every Python file of the tests; that they keep to the rules too is looked at with the slow tests."""
    return [path for path in files_of(ROOT / "tests") if path.suffix == ".py"]


def nodes(path: Path, *words: str) -> tuple[ast.AST, ...]:
    """Return the whole syntax tree of a file, flat; nothing where the text has none of the words looked for."""
    text = path.read_text(encoding="utf-8")
    return tuple(ast.walk(tree_of(text))) if any(word in text for word in words) else ()


def long_functions(tree: tuple[ast.AST, ...]) -> list[str]:
    """Name the functions with more lines than a reader takes in at a glance."""
    functions = [node for node in tree if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [node.name for node in functions if (node.end_lineno or 0) - node.lineno >= MAX_FUNCTION_LINES]


def json_calls(tree: tuple[ast.AST, ...]) -> list[int]:
    """Return the lines that render JSON with the standard library."""
    calls = [node for node in tree if isinstance(node, ast.Call)]
    return [call.lineno for call in calls if ast.unparse(call.func) in {"json.dumps", "json.dump"}]


def broad_handlers(tree: tuple[ast.AST, ...]) -> list[int]:
    """Return the lines that catch, or suppress, whatever comes."""
    caught: list[tuple[int, ast.expr | None]] = [(n.lineno, n.type) for n in tree if isinstance(n, ast.ExceptHandler)]
    for call in tree:
        if isinstance(call, ast.Call) and ast.unparse(call.func).split(".")[-1] == "suppress":
            caught += [(call.lineno, argument) for argument in call.args]
    return [line for line, kind in caught if kind is None or names(kind) & BROAD]


def names(kind: ast.expr) -> set[str]:
    """Return the last parts of the names in an ``except`` clause."""
    return set(re.findall(r"\w+", ast.unparse(kind)))


def public_classes(tree: ast.Module) -> list[str]:
    """Name the classes that other modules may import."""
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


def constants_set_again(tree: ast.Module) -> list[str]:
    """Name the constants of a module that it assigns twice: the second value holds for what stands above it too."""
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    parts = [part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
    given = Counter(name.id for name in parts if isinstance(name.ctx, ast.Store))
    return [name for name, count in given.items() if count > 1 and name.isupper()]


def machine_paths(text: str) -> list[str]:
    """Return the paths that exist on one machine only."""
    return MACHINE_PATH.findall(text)


@for_each("path", product(), ids=label)
def test_no_function_is_too_long_to_read_at_a_glance(path: Path) -> None:
    assert long_functions(tuple(statements(tree_of(path.read_text(encoding="utf-8"))))) == []


@pytest.mark.slow
@for_each("path", of_tests(), ids=label)
def test_no_function_of_a_test_is_too_long_to_read_at_a_glance(path: Path) -> None:
    assert long_functions(tuple(statements(tree_of(path.read_text(encoding="utf-8"))))) == []


@for_each("path", product(), ids=label)
def test_no_module_is_too_long(path: Path) -> None:
    assert path.read_text(encoding="utf-8").count("\n") <= MAX_MODULE_LINES


@for_each("path", product(), ids=label)
def test_a_constant_has_one_value(path: Path) -> None:
    assert constants_set_again(tree_of(path.read_text(encoding="utf-8"))) == []


def test_no_two_public_classes_share_a_name() -> None:
    modules: dict[str, list[str]] = {}
    for path in product():
        for name in public_classes(tree_of(path.read_text(encoding="utf-8"))):
            modules.setdefault(name, []).append(label(path))
    assert len(modules) > 200
    assert {name: paths for name, paths in modules.items() if len(paths) > 1} == {}


@for_each("path", list(files_of(UNIT)), ids=label)
def test_a_unit_test_lies_where_the_product_has_the_code(path: Path) -> None:
    place = path.parent.relative_to(UNIT)
    if place.parts[:1] not in OF_TESTS_THEMSELVES and "__snapshots__" not in place.parts:
        root = ROOT if place.parts[:1] in {("parsers",), ("tui",)} else ROOT / "forensics"
        assert (root / place).is_dir()


@for_each("path", product(), ids=label)
def test_no_handler_catches_whatever_comes(path: Path) -> None:
    assert len(broad_handlers(nodes(path, "except", "suppress"))) == CATCH_WHATEVER_COMES.get(label(path), 0)


@pytest.mark.slow
@for_each("path", of_tests(), ids=label)
def test_no_handler_of_a_test_catches_whatever_comes(path: Path) -> None:
    assert len(broad_handlers(nodes(path, "except", "suppress"))) == CATCH_WHATEVER_COMES.get(label(path), 0)


@pytest.mark.slow
def test_no_text_names_a_path_of_one_machine() -> None:
    found = {}
    for path in files_of(ROOT):
        data = path.read_bytes()
        text = "" if b"\0" in data else data.decode("utf-8", errors="replace")
        if not any(fnmatch(label(path), pattern) for pattern in NAMES_PATHS_ON_PURPOSE):
            found[label(path)] = machine_paths(text)
    assert "pyproject.toml" in found
    assert {path: paths for path, paths in found.items() if paths} == {}


@for_each(
    ("line", "broad"),
    [
        ("try: f()\nexcept: pass", True),
        ("try: f()\nexcept Exception: pass", True),
        ("try: f()\nexcept (OSError, builtins.BaseException) as e: pass", True),
        ("with contextlib.suppress(Exception): f()", True),
        ("try: f()\nexcept (OSError, ValueError): pass", False),
        ("with suppress(OSError): f()", False),
    ],
)
def test_broad_handlers_are_recognised(line: str, broad: bool) -> None:  # noqa: FBT001 - a column of the table
    assert bool(broad_handlers(tuple(ast.walk(ast.parse(line))))) is broad


@for_each(("body_lines", "too_long"), [(59, []), (60, ["f"])])
def test_the_line_of_the_def_counts_towards_a_function(body_lines: int, too_long: list[str]) -> None:
    assert long_functions(tuple(ast.walk(ast.parse("def f():\n" + "    g()\n" * body_lines)))) == too_long


@for_each(
    ("text", "named"),
    [
        ("'|root|x'", True),
        ("file:///work|x", True),
        ("see |home|someone|x", True),
        ("a|work|b ../work|b https:||host|root|x |workspace|x |home|", False),
    ],
)
def test_machine_paths_are_recognised(text: str, named: bool) -> None:  # noqa: FBT001 - a column of the table
    assert bool(machine_paths(text.replace("|", "/"))) is named


@for_each("path", product(), ids=label)
def test_json_that_goes_out_is_rendered_where_secrets_are_masked(path: Path) -> None:
    if not any(fnmatch(label(path), pattern) for pattern in JSON_FOR_PROGRAMS):
        assert json_calls(nodes(path, "json.dump")) == []


def test_a_call_that_renders_json_is_seen() -> None:
    assert json_calls(tuple(ast.walk(ast.parse("import json\nprint(json.dumps({}))")))) == [2]
