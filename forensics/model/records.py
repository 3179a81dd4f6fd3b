"""Records: frozen, slotted dataclasses that a log can be turned into by the hundred thousand.

A dataclass that Python itself holds frozen calls ``object.__setattr__`` for every field, which makes it eight times as
slow to create: a third of the time that it takes to put a large log together. So who type-checks sees a frozen
dataclass, and at run time it is a plain one that compares and hashes by its fields. How it does so is not compiled for
each class anew, and how one is made only when the first is made: every start would pay for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from dataclasses import dataclass as record
else:
    from dataclasses import MISSING, dataclass, fields
    from operator import attrgetter

    def record(*, frozen: bool, slots: bool):  # noqa: ANN201 - the annotated form is the one above
        """Return a class decorator as ``dataclass`` does."""

        def decorated(kind: type) -> type:
            made = dataclass(init=False, slots=slots, eq=False, repr=False)(kind)
            made.__init__ = _first_init(made)
            made.__eq__, made.__repr__ = _equal, _shown
            made.__hash__ = _hashed if frozen else None
            return made

        return decorated

    def _first_init(kind: type) -> Callable[..., None]:
        """Return what makes the first record: it puts what makes all others in its own place."""

        def init(self: object, *args: object, **kwargs: object) -> None:
            kind.__init__ = _compiled_init(kind)
            kind.__init__(self, *args, **kwargs)

        return init

    def _compiled_init(kind: type) -> Callable[..., None]:
        """Return an ``__init__`` that sets every field, as ``dataclass`` would have written it."""
        parameters, statements, scope = ["self"], [], {"MISSING": MISSING}
        for field in sorted(fields(kind), key=attrgetter("kw_only")):
            name, value, given = field.name, field.name, field.name
            if field.default_factory is not MISSING:
                scope[f"of_{name}"] = field.default_factory
                value, given = f"of_{name}() if {name} is MISSING else {name}", f"{name}=MISSING"
            elif field.default is not MISSING:
                scope[f"of_{name}"] = field.default
                given = f"{name}=of_{name}"
            parameters += ["*", given] if field.kw_only and "*" not in parameters else [given]
            statements.append(f"self.{name} = {value}")
        body = "\n    ".join(statements)
        exec(f"def __init__({', '.join(parameters)}):\n    {body}", scope)  # noqa: S102 - as dataclasses do: nothing is faster
        return scope["__init__"]


def _values(made: Any) -> tuple[Any, ...]:  # noqa: ANN401 - any record
    names = made.__dataclass_fields__
    return tuple([getattr(made, name) for name in names])


def _equal(one: object, other: object) -> bool:
    return _values(one) == _values(other) if type(one) is type(other) else NotImplemented


def _hashed(made: object) -> int:
    return hash(_values(made))


def _shown(made: Any) -> str:  # noqa: ANN401 - any record
    shown = [name for name, field in made.__dataclass_fields__.items() if field.repr]
    return f"{type(made).__qualname__}({', '.join(f'{name}={getattr(made, name)!r}' for name in shown)})"


class Late:
    """A record of which some fields are looked up, when they are asked for first, in what was made for many together.

    It is made with anything in these fields, and :meth:`leave` takes that out again.
    """

    __slots__ = ("_place", "_whole")

    def leave(self, names: Iterable[str], whole: object, place: int) -> None:
        """Leave fields out: ``whole`` has an attribute of each name, in which this record's value is at ``place``."""
        self._whole, self._place = whole, place
        for name in names:
            delattr(self, name)

    if not TYPE_CHECKING:  # else a type checker would take any name for a field

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any field
            if name not in self.__dataclass_fields__:
                message = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(message)
            value = getattr(self._whole, name)[self._place]
            setattr(self, name, value)
            return value

    def __getstate__(self) -> tuple[None, dict[str, object]]:
        return None, dict(zip(type(self).__dataclass_fields__, _values(self), strict=True))  # type: ignore[attr-defined]


__all__ = ["Late", "record"]
