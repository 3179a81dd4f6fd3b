"""All rules: those in the modules of :mod:`trtforensics.findings.rules`, and those of other packages' entry points."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from trtforensics.errors import UsageError
from trtforensics.findings import rules as package
from trtforensics.findings.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "trtforensics.rules"
"""The group of entry points; each names a module with rules, or a rule."""


@cache
def rules() -> tuple[Rule, ...]:
    """Return all rules, sorted by code.

    Raises:
        UsageError: An entry point cannot be loaded, holds no rule, or two rules share a code.
    """
    found: dict[str, Rule] = {}
    for rule in (*_own(), *_foreign()):
        if rule.code in found:
            raise UsageError(rule.code, "two rules have this code", "Rename one of them, or uninstall its package")
        found[rule.code] = rule
    return tuple(found[code] for code in sorted(found))


def rule_of(code: str) -> Rule:
    """Return the rule of a code, whatever the case of its letters.

    Raises:
        UsageError: There is no such rule.
    """
    known = {rule.code: rule for rule in rules()}
    if code.upper() not in known:
        raise UsageError(code, "there is no such code", "`trtforensics explain` lists them all")
    return known[code.upper()]


def _own() -> Iterator[Rule]:
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield from _rules_in(vars(importlib.import_module(module.name)).values())


def _foreign() -> Iterator[Rule]:
    for entry in entry_points(group=ENTRY_POINTS):
        loaded = _load(entry)
        found = [loaded] if isinstance(loaded, Rule) else list(_rules_in(getattr(loaded, "__dict__", {}).values()))
        if not found:
            raise UsageError(entry.value, f"the entry point {entry.name} holds no rule", "Uninstall its package")
        yield from found


def _load(entry: EntryPoint) -> object:
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        what = f"the entry point {entry.name} cannot be loaded: {error}"
        raise UsageError(entry.value, what, "Mend or uninstall its package") from error


def _rules_in(values: Iterable[object]) -> Iterator[Rule]:
    return (value for value in values if isinstance(value, Rule))
