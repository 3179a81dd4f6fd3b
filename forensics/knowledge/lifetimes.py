"""Releases that have a name of TensorRT's interfaces, an ability or a package, and what is known of packages."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trtforensics.knowledge.periods import Period, beyond, dotted
from trtforensics.knowledge.table import Release, records, release


@dataclass(frozen=True, slots=True)
class Lifetime(Period):
    """Releases of TensorRT, or a package on PyPI, that have a name; ``deprecated`` is the first that calls it so."""

    name: str
    of: str
    deprecated: Release | None
    instead: str


@dataclass(frozen=True, slots=True)
class Package(Period):
    """Releases of a package that do not work by themselves. ``fact`` says why, ``way`` what to do."""

    name: str
    fact: str
    way: str


_NAMED = re.compile(r"(?<![\w-])((?:--)?[A-Za-z]\w*(?:-[A-Za-z]\w*)*)(?:(?:==|[ -]v?)(\d+(?:\.\d+)+))?")
_PLACES = {"PyPI": "on PyPI", "Jetson": "supported by TensorRT on Jetson"}


def told_of(text: str, version: Sequence[int] | None) -> Mapping[str, str]:
    """Return what is known of the first name in a text that is ``gone`` from a release, or ``deprecated`` in it.

    The release is the one behind the name (``NAME==10.7``), else the log's. ``gone`` is a sentence, and the way behind
    a bar: ``kFP16 is in TensorRT up to 10.16, and this is TensorRT 11.0. | Use strong typing. Or: Go back …``.
    ``package`` is the same of a package whose release stands behind its name.
    """
    told: dict[str, str] = {}
    for name, stated in _NAMED.findall(text):
        names = {name, f"k{name}", name.replace("_", "-")}
        this = release(stated) if stated else version
        for package in records("packages", Package) if stated else ():
            if package.name in names and package.holds(release(stated)):
                told.setdefault("package", f"{package.fact}. | {package.way}")
        rows = [row for row in records("lifetimes", Lifetime) if row.name in names]
        if not this and any(row.last is None and (row.of == "PyPI" or not row.words) for row in rows):
            continue  # it is there still: without a release nothing is to be told of it
        if rows and not any(this and row.holds(this) for row in rows):
            cause, way = beyond(f"{rows[0].name} is {_PLACES.get(rows[0].of, 'in TensorRT')}", rows, this)
            cause = cause.replace("this is TensorRT", "what is asked for is") if stated else cause
            told.setdefault("gone", f"{cause} | {f'Use {rows[0].instead}. Or: ' * bool(rows[0].instead)}{way}")
        elif rows and this and rows[0].deprecated and rows[0].deprecated <= tuple(this):
            instead = f": use {rows[0].instead}" * bool(rows[0].instead)
            told.setdefault("deprecated", f"{rows[0].name} is deprecated from {dotted(rows[0].deprecated)} on{instead}")
    return told
