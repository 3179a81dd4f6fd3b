"""Records: frozen, slotted dataclasses that a log can be turned into by the hundred thousand.

A dataclass that Python itself holds frozen calls ``object.__setattr__`` for every field, which makes it eight times as
slow to create: a third of the time that it takes to put a large log together. So who type-checks sees a frozen
dataclass, and at run time it is a plain one that compares and hashes by its fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import dataclass

    def record(*, frozen: bool, slots: bool):  # noqa: ANN201 - the annotated form is the one above
        """Return a class decorator as ``dataclass`` does."""
        return dataclass(slots=slots, unsafe_hash=frozen)


__all__ = ["record"]
