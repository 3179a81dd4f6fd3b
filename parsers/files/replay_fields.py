"""Reads the fields of a replay's entries: JSON values in, entries and their flaws out.

The effect of each flaw is that in Polygraphy 0.53.6, observed by loading files that have it. Some files are refused.
Others load and then never equal what TensorRT offers, because a replayed tactic must equal an offered one in every
field.
"""

import json
from collections import Counter
from functools import cache
from typing import Any, NamedTuple

from trtforensics.errors import NotAReplayError
from trtforensics.knowledge.table import rows
from trtforensics.model.data_types import ELEMENT_TYPES
from trtforensics.model.replay import FieldPath, ProblemSeverity, ReplayEntry, ReplayForm, ReplayTensor, TextSpan

CLASS = "polygraphy_class"
LEGACY_ALGORITHM = "__polygraphy_encoded_Algorithm"
LEGACY_TOP = "__polygraphy_encoded_TacticReplayData"
LEGACY_VALUE = "polygraphy_serialized_json_type"

DTYPES = tuple(element.replay for element in ELEMENT_TYPES.values() if element.replay)
"""The enumerators of ``tensorrt.DataType``, TensorRT 7 to 11."""

FORMATS = (
    *("LINEAR", "CHW2", "HWC8", "CHW4", "CHW16", "CHW32", "DHWC8", "CDHW32", "HWC"),
    *("DLA_LINEAR", "DLA_HWC4", "HWC16", "DHWC"),
)
"""The enumerators of ``tensorrt.TensorFormat``, TensorRT 7 to 11."""

_ALIASES = {"float32": "FLOAT", "float16": "HALF", "bfloat16": "BF16"} | {
    name.lower(): name for name in DTYPES if name not in {"FLOAT", "HALF", "BF16"}
}
"""Names of data types at the top of the tensorrt module; Polygraphy loads them too."""

_LIST_LENGTHS = {2: ReplayForm.F2, 3: ReplayForm.F3}
_ALGORITHM_KEYS = {"implementation", "tactic", "inputs", "outputs", CLASS, LEGACY_ALGORITHM}
_TENSOR_KEYS = {"tensor_format", "dtype", "strides", "vectorized_dim", "components_per_element", CLASS}
_SIGNED = 1 << 63
_UNSIGNED = 1 << 64
_RUNNERS = 1 << 32
_MOST_FLAWS = 1 << 15
"""Four for each of 8,000 layers. A flaw takes some kilobytes until it is printed."""

_NEVER = "Polygraphy loads it, and then it never equals what TensorRT offers"
_REFUSED = "Polygraphy does not load it"


class Flaw(NamedTuple):
    """A problem whose place is not looked up yet; ``layer`` is empty for the file as a whole."""

    code: str
    severity: ProblemSeverity
    layer: str
    path: FieldPath
    what: str
    next_step: str


def flaw_of(flaw: str, layer: str, path: FieldPath, /, **values: object) -> Flaw:
    """Return a flaw of ``tables/flaws.tsv``; ``values`` are those that its texts name."""
    texts = (text.format(never=_NEVER, refused=_REFUSED, **values) for text in _texts()[flaw])
    code, severity, what, next_step = texts
    return Flaw(code, ProblemSeverity(severity), layer, path, what, next_step)


@cache
def _texts() -> dict[str, list[str]]:
    return {row["flaw"]: [*row.values()][1:] for row in rows("flaws", "trtforensics.parsers.files")}


def check_count(problems: int, file: str) -> None:
    """Refuse a file that has too many problems to list.

    Raises:
        NotAReplayError: it has.
    """
    if problems > _MOST_FLAWS:
        what = f"has more than {_MOST_FLAWS:,} problems as a replay"
        raise NotAReplayError(file, what, "Give the file that Polygraphy's `--save-tactics` wrote")


class EntryReader:
    """Reads the entries of one replay, collects their flaws, and finds the form."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.flaws: list[Flaw] = []
        self._forms: Counter[ReplayForm] = Counter()
        self._first: dict[ReplayForm, FieldPath] = {}
        self._ignored: dict[str, tuple[int, str, FieldPath]] = {}
        self._right: dict[str, ReplayTensor] = {}
        self._layer = ""

    def entry(self, layer: str, value: Any, span: TextSpan) -> ReplayEntry:  # noqa: ANN401 - any JSON value
        """Read what a replay has for a layer.

        Raises:
            NotAReplayError: the replay has too many flaws to list.
        """
        self._layer = layer
        path: FieldPath = ("replay", layer)
        if not isinstance(value, dict):
            self._refuse("entry-type", path, kind=_kind(value))
            return ReplayEntry(layer, None, None, (), (), span)
        legacy = self._class(value, path, "Algorithm", LEGACY_ALGORITHM)
        self._note_ignored(value, path, _ALGORITHM_KEYS)
        return ReplayEntry(
            layer,
            self._implementation(value, path),
            self._tactic(value, path),
            self._tensors(value, path, "inputs", legacy=legacy),
            self._tensors(value, path, "outputs", legacy=legacy),
            span,
        )

    def finish(self) -> ReplayForm | None:
        """Return the form that all entries have, and add the flaws of the file as a whole."""
        for key, (count, layer, path) in self._ignored.items():
            times = "" if count == 1 else f" ({count} times)"
            self.flaws.append(flaw_of("ignored-field", layer, path, key=key, times=times))
        if len(self._forms) > 1:
            usual = self._forms.most_common(1)[0][0]
            for form, path in self._first.items():
                if form is not usual:
                    self._layer = str(path[1])
                    self._refuse("mixed-forms", path, form=form, usual=usual)
            return None
        return next(iter(self._forms), None)

    def _refuse(self, flaw: str, path: FieldPath, /, **values: object) -> None:
        self.flaws.append(flaw_of(flaw, self._layer, path, **values))
        check_count(len(self.flaws), self._file)

    def _class(self, value: dict[str, Any], path: FieldPath, name: str, legacy_key: str) -> bool:
        """Check the class marker of an object; True for the marker of form F1."""
        marker = value.get(CLASS)
        if value.get(legacy_key) == LEGACY_VALUE:
            if marker is not None:
                self.flaws.append(flaw_of("two-classes", self._layer, path, marker=f" (`{legacy_key}`)"))
            return True
        if CLASS not in value:
            self._refuse("no-class", path, name=name)
        elif marker != name:
            self._refuse("unknown-class", (*path, CLASS), marker=_shown(marker), name=name)
        return False

    def _note_ignored(self, value: dict[str, Any], path: FieldPath, known: set[str]) -> None:
        for key in value.keys() - known:
            count, layer, first = self._ignored.get(key, (0, self._layer, (*path, key)))
            self._ignored[key] = (count + 1, layer, first)
            check_count(len(self._ignored), self._file)

    def _missing(self, value: dict[str, Any], path: FieldPath, key: str) -> bool:
        if key in value:
            return False
        self._refuse("missing-field", path, key=key)
        return True

    def _implementation(self, value: dict[str, Any], path: FieldPath) -> int | None:
        advice = "Restore the number, such as 2147483657 for 0x80000009"
        number = self._integer(value, path, "implementation", "the runner's id", advice)
        if number is None or -_RUNNERS // 2 <= number < _RUNNERS:
            return number
        self._refuse("implementation-range", (*path, "implementation"), number=number, advice=advice)
        return None

    def _tactic(self, value: dict[str, Any], path: FieldPath) -> int | None:
        number = self._integer(value, path, "tactic", "the tactic", _tactic_advice(value.get("tactic")))
        path = (*path, "tactic")
        if number is None:
            return None
        if not -_SIGNED <= number < _UNSIGNED:
            self._refuse("tactic-range", path, number=number)
            return None
        if number >= _SIGNED:
            self._refuse("tactic-unsigned", path, number=number, signed=number - _UNSIGNED)
        return number % _UNSIGNED

    def _integer(self, value: dict[str, Any], path: FieldPath, key: str, called: str, advice: str) -> int | None:
        if self._missing(value, path, key):
            return None
        if _is_integer(value[key]):
            return int(value[key])
        texts = {"called": called, "shown": _shown(value[key]), "advice": advice}
        self._refuse("integer", (*path, key), field=key.replace("_", "-"), **texts)
        return None

    def _tensors(self, value: dict[str, Any], path: FieldPath, side: str, *, legacy: bool) -> tuple[ReplayTensor, ...]:
        if self._missing(value, path, side):
            return ()
        listed = value[side]
        path = (*path, side)
        if not isinstance(listed, list):
            self._refuse("tensors-type", path, kind=_kind(listed))
            return ()
        return tuple(self._tensor(item, (*path, index), legacy=legacy) for index, item in enumerate(listed))

    def _tensor(self, value: Any, path: FieldPath, *, legacy: bool) -> ReplayTensor:  # noqa: ANN401
        """Read an input or output; one that equals an earlier one without flaws is not read again."""
        form = _form_of(value, legacy=legacy)
        if form is None:
            self._refuse("tensor-type", path, kind=_kind(value))
            return ReplayTensor(None)
        self._forms[form] += 1
        self._first.setdefault(form, path)
        spelled = repr(value)
        if spelled in self._right:
            return self._right[spelled]
        before = len(self.flaws)
        tensor = self._object(value, path) if isinstance(value, dict) else self._list(value, path)
        if len(self.flaws) == before and (isinstance(value, list) or value.keys() <= _TENSOR_KEYS):
            self._right[spelled] = tensor
        return tensor

    def _list(self, value: list[Any], path: FieldPath) -> ReplayTensor:
        kind = self._enumerator(value[0], (*path, 0), "TensorFormat", FORMATS)
        dtype = self._enumerator(value[1], (*path, 1), "DataType", DTYPES)
        return ReplayTensor(dtype, kind, self._strides(value[2], (*path, 2)) if value[2:] else None)

    def _object(self, value: dict[str, Any], path: FieldPath) -> ReplayTensor:
        self._class(value, path, "TensorInfo", "")
        if not value.keys() <= _TENSOR_KEYS:
            self._note_ignored(value, path, _TENSOR_KEYS)
        has_format = "tensor_format" in value
        kind = dtype = strides = None
        if has_format:
            kind = self._enumerator(value["tensor_format"], (*path, "tensor_format"), "TensorFormat", FORMATS)
        if not self._missing(value, path, "dtype"):
            dtype = self._enumerator(value["dtype"], (*path, "dtype"), "DataType", DTYPES)
        if not self._missing(value, path, "strides"):
            strides = self._strides(value["strides"], (*path, "strides"))
        packed = self._small(value, path, "vectorized_dim")
        components = self._small(value, path, "components_per_element")
        if packed is not None and strides is not None and not -1 <= packed < len(strides):
            self._refuse("vectorized-dim", (*path, "vectorized_dim"), packed=packed, dims=len(strides))
        return ReplayTensor(dtype, kind, strides, packed, components)

    def _enumerator(self, value: Any, path: FieldPath, cls: str, known: tuple[str, ...]) -> str | None:  # noqa: ANN401
        if isinstance(value, str):
            prefix, _, name = value.rpartition(".")
            if prefix == cls and name in known:
                return name
            if cls == "DataType" and value in _ALIASES:
                return _ALIASES[value]
        advice = (
            f"Write `{cls}.{value}`" if value in known else f"Known are {cls}.{f', {cls}.'.join(known[:4])} and so on"
        )
        self._refuse("enumerator", path, code=cls.lower(), shown=_shown(value), cls=cls, advice=advice)
        return value if isinstance(value, str) and prefix == cls else None

    def _strides(self, value: Any, path: FieldPath) -> tuple[int, ...] | None:  # noqa: ANN401
        if isinstance(value, list):
            if all(map(_is_integer, value)):
                return tuple(value)
            index = next(index for index, item in enumerate(value) if not _is_integer(item))
            self._refuse("stride", (*path, index), shown=_shown(value[index]))
            return None
        self._refuse("strides-text" if isinstance(value, str) else "strides", path, kind=_kind(value))
        return None

    def _small(self, value: dict[str, Any], path: FieldPath, key: str) -> int | None:
        """Read ``vectorized_dim`` or ``components_per_element``; null is what TensorRT before 8.6 gave."""
        if key in value and value[key] is None:
            return None
        return self._integer(value, path, key, f"`{key}`", "Restore the number")


def _form_of(value: object, *, legacy: bool) -> ReplayForm | None:
    """Return the form by the shape of an input or output; the class marker around it distinguishes F1 from F2."""
    if isinstance(value, dict):
        return ReplayForm.F4 if "tensor_format" in value else ReplayForm.F5
    form = _LIST_LENGTHS.get(len(value)) if isinstance(value, list) else None
    return ReplayForm.F1 if legacy and form is ReplayForm.F2 else form


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _tactic_advice(value: object) -> str:
    """Advise what to write instead; a float has lost the last digits of a 64-bit id."""
    if isinstance(value, str):
        text = value.strip()
        try:
            number = int(text, 0)
        except ValueError:
            return "Restore the number"
        if -_SIGNED <= number < _UNSIGNED:
            return f"Write {number - _UNSIGNED if number >= _SIGNED else number}, without quotes"
    if isinstance(value, float):
        return "Restore the integer from the log or the original file; as a float its last digits are lost"
    return "Restore the number"


_SHOWN = 40


def _shown(value: object) -> str:
    """Spell a value as JSON does; of an object or a list, name the type."""
    text = _kind(value) if isinstance(value, dict | list) else json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _kind(value: object) -> str:
    if value is None:
        return "null"
    names = {dict: "an object", list: "a list", str: "a string", bool: "a truth value", int: "an integer"}
    return names.get(type(value), "a number")
