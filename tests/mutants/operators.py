"""Small changes of a module's code, of the kinds that mutmut and cosmic-ray have."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_TYPING_CALLS = {"cast", "TypeVar", "NewType", "TypeAlias"}


class Mutant(NamedTuple):
    """One change: a text of the source, between two offsets in bytes, and what stands there instead."""

    line: int
    start: int
    end: int
    before: str
    after: str

    def applied_to(self, source: bytes) -> bytes:
        """Return the source with the change."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutants(source: bytes, line: int) -> list[Mutant]:
    """Return the changes of the code that begins in a line: no documentation, no types, no list of exported names."""
    offsets = _offsets(source)
    unchanged = ast.dump(ast.parse(source))
    found = []
    for parent in _nodes(ast.parse(source)):
        for node, changed in [*((parent, other) for other in _changed(parent)), *_negated(parent)]:
            if node.lineno != line:
                continue
            start = offsets[node.lineno - 1] + node.col_offset
            end = offsets[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
            text = ast.unparse(changed)
            after = f"({text})" if isinstance(changed, ast.expr) else text
            mutant = Mutant(node.lineno, start, end, source[start:end].decode(), after)
            try:
                differs = ast.dump(ast.parse(mutant.applied_to(source))) != unchanged
            except SyntaxError:  # a pattern or a literal where Python takes no expression in parentheses
                continue
            if differs:
                found.append(mutant)
    return found


def _offsets(source: bytes) -> list[int]:
    offsets = [0]
    for line in source.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    return offsets


def _nodes(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Give the expressions and statements that do something when the module runs."""
    for node in _parts(tree):
        if isinstance(node, ast.JoinedStr):  # Python 3.11 does not tell where its parts stand
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            continue
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _TYPING_CALLS:
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a documentation string
            continue
        if isinstance(node, ast.expr | ast.stmt):
            yield node
        yield from _nodes(node)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Give the parts of a node besides its types."""
    for name, value in ast.iter_fields(node):
        if name not in {"annotation", "returns", "bases", "keywords"} or isinstance(node, ast.Call):
            yield from (part for part in (value if isinstance(value, list) else [value]) if isinstance(part, ast.AST))


def _changed(node: ast.expr | ast.stmt) -> Iterator[ast.expr | ast.stmt]:
    """Give a node in other words that mean something else."""
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            compared = copy.deepcopy(node)
            compared.ops[place] = _COMPARED[type(operator)]()
            yield compared
    elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        yield ast.BinOp(node.left, _COMPUTED[type(node.op)](), node.right)
    elif isinstance(node, ast.AugAssign) and type(node.op) in _COMPUTED:
        yield ast.AugAssign(node.target, _COMPUTED[type(node.op)](), node.value)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.Call):
        yield from _fewer_arguments(node)
    elif isinstance(node, ast.Constant):
        yield from _other_constant(node)
    elif isinstance(node, ast.stmt):
        yield from _other_statement(node)


def _negated(node: ast.expr | ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Give the conditions of a node that no other change is about, each with its opposite."""
    tests = [node.test] if isinstance(node, ast.If | ast.While | ast.IfExp) else []
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        tests = [test for part in node.generators for test in part.ifs]
    for test in tests:
        if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            yield test, ast.UnaryOp(ast.Not(), test)


def _fewer_arguments(node: ast.Call) -> Iterator[ast.Call]:
    """Give a call of several arguments without each of them; a call of one argument would hardly run."""
    places = range(len(node.args)) if len(node.args) + len(node.keywords) > 1 else ()
    for place in places:
        yield ast.Call(node.func, [*node.args[:place], *node.args[place + 1 :]], node.keywords)
    for place in range(len(node.keywords)):
        yield ast.Call(node.func, node.args, [*node.keywords[:place], *node.keywords[place + 1 :]])


def _other_constant(node: ast.Constant) -> Iterator[ast.Constant]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
    elif isinstance(node.value, str) and " " not in node.value.strip():  # prose may say it in other words
        yield ast.Constant(f"XX{node.value}XX")
    elif isinstance(node.value, bytes):
        yield ast.Constant(b"XX" + node.value + b"XX")


def _other_statement(node: ast.stmt) -> Iterator[ast.stmt]:
    if isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Break):
        yield ast.Continue()
    elif isinstance(node, ast.Continue):
        yield ast.Break()
