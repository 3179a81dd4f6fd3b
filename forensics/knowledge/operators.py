"""Which ONNX operators TensorRT's parser imports, since when, with which types and restrictions; what mends a node."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from trtforensics.knowledge.periods import Period, dotted
from trtforensics.knowledge.platforms import stacks
from trtforensics.knowledge.table import NEWEST, Release, minor, records, release, rows, words


@dataclass(frozen=True, slots=True)
class Support(Period):
    """Whether releases import an operator; ``experimental`` is the documents' word.

    ``types`` are those that the documents name, none where they name none. The parser may take others: only a
    restriction says what it refuses.
    """

    operator: str
    state: Literal["yes", "no", "experimental"]
    types: tuple[str, ...]

    @property
    def imported(self) -> bool:
        """Whether the parser imports it, be it as an experiment."""
        return self.state != "no"


@dataclass(frozen=True, slots=True)
class Restriction(Period):
    """What some attributes, inputs or outputs of an operator have to be, lest the parser refuse the node.

    ``names`` are ONNX's. ``must`` is a word of the table ``musts``. ``value`` are words; one sentence where ``must`` is
    ``text``, or a matter of the whole node.
    """

    operator: str
    of: Literal["attribute", "input", "output"]
    names: tuple[str, ...]
    must: str
    value: str


def operator_support(operator: str, version: Sequence[int]) -> Support | None:
    """Return what is known of an operator of ONNX (or of TensorRT's own domain) in a release; None: nothing.

    That a release after the newest described one does not import an operator is not known.
    """
    periods = (row for row in records("operators", Support) if row.operator == operator)
    support = next((row for row in periods if row.holds(version)), None)
    later = minor(version) > NEWEST
    return None if support is None or (later and not support.imported) else support


def restrictions_of(operator: str, version: Sequence[int]) -> tuple[Restriction, ...]:
    """Return what is known to be refused of an operator in a release."""
    return tuple(row for row in records("restrictions", Restriction) if row.operator == operator and row.holds(version))


def is_operator(name: str) -> bool:
    """Whether a name is that of an ONNX operator, by ``operators.tsv``."""
    return any(support.operator == name for support in records("operators", Support))


@cache
def letters_of(operator: str) -> tuple[str, ...]:
    """Return the sizes of an operator's inputs by ONNX's standard, by ``sizes.tsv``.

    A letter is one size in all of them, a digit that number, ``*`` the dimensions that are left.
    """
    return next((words(row["inputs"]) for row in rows("sizes") if row["operator"] == operator), ("*",))


@cache
def deciding_inputs(operator: str) -> tuple[str, ...]:
    """Return the inputs whose numbers decide the sizes of a result, by ONNX's names."""
    return next((words(row["deciding"]) for row in rows("sizes") if row["operator"] == operator), ())


@dataclass(frozen=True, slots=True)
class Plugin(Period):
    """A plugin in TensorRT's own library, ``libnvinfer_plugin``; ``instead`` is what its documents name for it."""

    name: str
    instead: str


@cache
def shipped_plugins() -> Mapping[str, Plugin]:
    """Return all rows of ``plugins.tsv`` by their names."""
    return {row.name: row for row in records("plugins", Plugin)}


def import_of(operator: str) -> Period | None:
    """Return the releases that import an operator, from the first to the last; None: none does, or nothing is known."""
    found = [row for row in records("operators", Support) if row.operator == operator and row.imported]
    return Period(found[0].first, found[-1].last, found[0].source) if found else None


@cache
def releases_that_differ(since: Release) -> tuple[Release, ...]:
    """Return the releases from one on with which the parser took operators, or refused uses, otherwise than before."""
    every = (*rows("operators"), *rows("restrictions"))
    return tuple(sorted({first for row in every if since <= (first := release(row["first"])) <= NEWEST}))


@cache
def dla_operators() -> Mapping[str, Mapping[str, str]]:
    """Return all rows of ``dla.tsv`` by their operators: whether Orin's DLA runs it through TensorRT 8.5 and 8.6.

    ``rewritten``: once the model has other operators in its place. ``build-time``: where static shapes decide it.
    """
    return {row["operator"]: row for row in rows("dla")}


@dataclass(frozen=True, slots=True)
class ImportedType(Period):
    """An element type of ONNX, as its ``DataType`` names it, and the type that the parser makes of it.

    ``gpu`` is the first compute capability that has it; None where every GPU has, or it is not known.
    """

    element: str
    becomes: str
    gpu: Release | None


def taken_as(element: str, version: Sequence[int]) -> str:
    """Return the type that a release makes of an element type (``FP32`` of DOUBLE); empty where it refuses it."""
    periods = (row for row in records("types", ImportedType) if row.element == element)
    return next((row.becomes for row in periods if row.holds(version)), "")


def first_gpu_of(element: str) -> Release | None:
    """Return the first compute capability that has an element type; None where all have, or it is not known."""
    return next((row.gpu for row in records("types", ImportedType) if row.element == element), None)


@dataclass(frozen=True, slots=True)
class Remedy(Period):
    """What to do with a node of an operator; ``when`` is a pattern of what it mends, the narrowest first."""

    operator: str
    when: str
    remedy: str

    def words_for(self, version: Sequence[int] | None) -> str:
        """What to do: with the releases before it where the log's is not known, and the next one behind it."""
        text = self.remedy if version or not self.words else f"TensorRT {self.words}: {self.remedy}"
        later = (stack.release for stack in stacks() if self.last and minor(stack.release) > self.last)
        newer = min(later, default=None)
        return f"{text} Or use TensorRT {dotted(newer)} or later." if newer else text


def remedy_of(operator: str, refusal: str, version: Sequence[int] | None) -> str:
    """Return what to do with a node of an operator that a release refuses in these words; empty where nothing is known.

    A refusal that gives no reason may have any.
    """
    text = refusal.partition(": ")[2] or refusal  # behind the operator and the node
    of_it = [
        row for row in records("remedies", Remedy) if row.operator == operator and (not version or row.holds(version))
    ]
    fitting = [row for row in of_it if row.when and re.search(f"(?i:{row.when})", text)]
    fitting = fitting or ([row for row in of_it if not row.when] or of_it[::-1])[: bool(_BARE.search(refusal))]
    return next((row.words_for(version) for row in reversed(fitting) if row.when == fitting[0].when), "")


_BARE = re.compile(r"was made$|^The (?:parser|importer)\b|(?:ailed|nable|not):? to (?:add|creat|regist)")
"""A refusal that gives no reason."""
