"""The lever over fusion: the fewest tensors to mark as outputs, or as debug tensors, so that a bad build becomes good.

Items are the tensors between the nodes of an ONNX model; a tensor from bad is not marked. No probe marks all of them,
since that breaks many builds and changes most fusions (NVIDIA/TensorRT issues 2232, 3258 and 3592).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from trtforensics.bisection.levers.recipe import Recipe, RecipeLever
from trtforensics.bisection.search import Item
from trtforensics.bisection.session.lever import DescribedItem
from trtforensics.console.output import write_text
from trtforensics.errors import SourceError, UsageError
from trtforensics.onnx_models.graphs import load


class OutputsLever(RecipeLever):
    """Tensors of a model; active ones are left to fusion, the others are marked. ``model_outputs`` are its own."""

    mode = "outputs"
    placeholder = "outputs"
    file = "outputs.txt"
    wants_fewest = True

    def __init__(
        self, tensors: Sequence[str], model_outputs: Sequence[str], recipe: Recipe | None, *, debug: bool
    ) -> None:
        self.items = tuple(Item(tensor) for tensor in tensors)
        self._model_outputs = tuple(model_outputs)
        super().__init__(recipe)
        self._debug = debug

    def content(self) -> object:
        """Return the tensors, and what builds."""
        recipe = None if self._recipe is None else self._recipe.content()
        return {"tensors": [item.name for item in self.items], "debug": self._debug, "recipe": recipe}

    def describe(self, index: int) -> DescribedItem:
        """Return a tensor; marked is good."""
        return DescribedItem(self.items[index].name, sides={"good": {"marked": True}, "bad": {"marked": False}})

    def _marked(self, active: frozenset[int]) -> list[str]:
        return [item.name for index, item in enumerate(self.items) if index not in active]

    def _text(self, active: frozenset[int]) -> str:
        return "".join(f"{name}\n" for name in self._marked(active))

    def _job(self, active: frozenset[int], path: Path) -> Mapping[str, object]:  # noqa: ARG002 - names are enough
        return {"outputs": self._marked(active), "debug": self._debug}

    def fix(self, culprits: Sequence[frozenset[int]], folder: Path) -> Sequence[str]:
        """Write the tensors to mark, and the complete list of outputs for Polygraphy."""
        marked = [self.items[index].name for index in sorted(culprits[0])]
        write_text(folder / self.file, "".join(f"{name}\n" for name in marked))
        write_text(folder / "trt-outputs.txt", "".join(f"{name}\n" for name in (*self._model_outputs, *marked)))
        return (
            f"{self.file}: the tensors to mark",
            "trt-outputs.txt: those and the model's own outputs, for `polygraphy convert --trt-outputs`",
        )


def tensors_of(path: str, named: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Return a model's tensors between nodes, in the order of its nodes, and its outputs.

    ``named`` are the tensors to search among; None: all. Constants, and tensors inside If and Loop, cannot be marked.

    Raises:
        SourceError: the model cannot be read, or has no such tensor.
        UsageError: a named tensor is not between nodes.
    """
    graph = load(path).graph
    outputs = [value.name for value in graph.output]
    nodes = [node for node in graph.node if node.op_type != "Constant"]
    read = {name for node in nodes for name in node.input}
    between = [name for node in nodes for name in node.output if name in read and name not in outputs]
    for name in named or ():
        if name not in between:
            raise UsageError("--tensors", f"{name!r} is no tensor between nodes of {path}", "Name node outputs")
    chosen = between if named is None else [name for name in between if name in set(named)]
    if len(chosen) < 2:  # noqa: PLR2004 - all are never marked
        what = "has fewer than two tensors between nodes to choose from"
        raise SourceError(path, what, "There is no fusion to break")
    return chosen, outputs
