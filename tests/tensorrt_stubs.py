"""NVIDIA's types for mypy: ``python -m tests.tensorrt_stubs FOLDER`` writes a stub package ``tensorrt`` into a folder.

They are those of the package ``tensorrt-stubs`` (10.13.0.35), which pybind11-stubgen made. As it is mypy cannot read
it: it has no ``py.typed``, some lines are no Python, and ``bool`` means a TensorRT data type in it. The module is a
command that developers and CI run before any test, so it stands at the top of `tests`, not among the helpers of tests.
"""

from __future__ import annotations

import ast
import importlib.metadata
import sys
from pathlib import Path
from typing import cast

PACKAGE = "tensorrt-stubs"
HOW = f"pip install --no-deps {PACKAGE}"
"""Without ``--no-deps`` it asks for TensorRT itself."""

OPENING = "import builtins\nimport typing\nimport typing_extensions\n__version__: str\n"
"""What the stubs use without an import; the real module also has a version, which their ``__all__`` would hide."""

NONE_IF_REFUSED = {
    "Builder.build_engine_with_config": "the network cannot be built",
    "Builder.build_serialized_network": "the network cannot be built",
    "IBuilderConfig.create_timing_cache": "bytes that TensorRT does not take; trtexec's source asks for null",
    "IBuilderConfig.get_timing_cache": "docstring: or `None` if no timing cache is set",
    "Runtime.deserialize_cuda_engine": "a plan of another version, GPU or file",
    "ILayer.get_input": "docstring: or None if the index is out of range; an optional input too",
    "ILayer.get_output": "docstring: or None if the index is out of range",
}
"""Functions that return None, and when: C++ returns a null pointer, which a signature of pybind11 does not show."""

UNNAMED = {"OnnxParser.get_error": "ParserError"}
"""What functions return where the generator wrote an ellipsis."""

CONVERTED = {"Dims": "typing.Sequence[builtins.int]"}
"""Classes for which the bindings take other values too; the docstring of Dims says that tuples and lists are such."""

ITERATED = {"Dims": "def __iter__(self) -> typing.Iterator[builtins.int]: ..."}
"""Classes that Python iterates by ``__getitem__``, which mypy does not do."""


def is_installed() -> bool:
    """Whether the stubs can be read."""
    try:
        return bool(importlib.metadata.files(PACKAGE))
    except importlib.metadata.PackageNotFoundError:
        return False


def mended() -> str:
    """Return the stubs as a module that mypy reads.

    Raises:
        PackageNotFoundError: they are not installed.
    """
    tree = ast.parse(python(source()))
    tree.body = [node for node in tree.body if not isinstance(node, ast.Assign)]
    return OPENING + ast.unparse(ast.fix_missing_locations(_Mender().visit(tree)))


def source() -> str:
    """Return the stubs as they are."""
    path = next(file for file in importlib.metadata.files(PACKAGE) or [] if file.name == "tensorrt.pyi")
    return Path(str(path.locate())).read_text("utf-8")


def python(text: str) -> str:
    """Return a text in which lines that are no Python, functions that nothing here uses, are left out."""
    lines = text.split("\n")
    for _ in range(20):
        try:
            ast.parse("\n".join(lines))
        except SyntaxError as error:
            number = (error.lineno or 1) - 1
            line = lines[number]
            lines[number] = line[: len(line) - len(line.lstrip())] + "def _no_python(self) -> None:"
        else:
            return "\n".join(lines)
    raise AssertionError("the stubs are no Python")


class _Mender(ast.NodeTransformer):
    """Makes annotations mean what they say, and leaves out docstrings of functions."""

    def __init__(self) -> None:
        self._owner = ""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Mend the functions and attributes of a class."""
        outer, self._owner = self._owner, node.name
        self.generic_visit(node)
        self._owner = outer
        if node.name in ITERATED:
            node.body += ast.parse(ITERATED[node.name]).body
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Mend a signature; a parameter that is None unless given may be None."""
        given = node.args.args[len(node.args.args) - len(node.args.defaults) :]
        absent = [arg for arg, default in zip(given, node.args.defaults, strict=True) if _is(default, None)]
        for arg in node.args.args:
            if arg.annotation is not None:
                arg.annotation = _taken(_meant(arg.annotation), optional=arg in absent)
        if node.returns is not None:
            name = f"{self._owner}.{node.name}"
            node.returns = _expression(UNNAMED[name]) if name in UNNAMED else _meant(node.returns)
            if name in NONE_IF_REFUSED:
                node.returns = _union(node.returns, ast.Constant(None))
        node.body = [ast.Expr(ast.Constant(...))]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        """Mend an attribute."""
        node.annotation = _meant(node.annotation)
        return node


def _meant(annotation: ast.expr) -> ast.expr:
    return cast("ast.expr", _Words().visit(annotation))


class _Words(ast.NodeTransformer):
    """``bool`` is Python's, and what the generator could not name may be anything."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace a name."""
        meant = {"bool": "builtins.bool", "capsule": "typing.Any"}.get(node.id)
        return _expression(meant) if meant else node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Replace an ellipsis."""
        return _expression("typing.Any") if node.value is ... else node


def _taken(annotation: ast.expr, *, optional: bool) -> ast.expr:
    """Return what a parameter takes."""
    word = annotation.attr if isinstance(annotation, ast.Attribute) else getattr(annotation, "id", "")
    if word in CONVERTED:
        annotation = _union(annotation, _expression(CONVERTED[word]))
    return _union(annotation, ast.Constant(None)) if optional else annotation


def _union(one: ast.expr, other: ast.expr) -> ast.expr:
    return ast.BinOp(one, ast.BitOr(), other)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _is(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def write(folder: Path) -> None:
    """Write the stub package."""
    package = folder / "tensorrt"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.pyi").write_text(mended(), encoding="utf-8")


if __name__ == "__main__":
    if not is_installed():
        sys.exit(f"{PACKAGE} is not installed: {HOW}")
    write(Path(sys.argv[1]))
