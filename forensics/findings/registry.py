"""All rules: of the modules and tables in :mod:`trtforensics.findings.rules`, and of other packages' entry points."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from trtforensics.errors import UsageError
from trtforensics.findings import models
from trtforensics.findings import rules as package
from trtforensics.findings.rule import Rule, table_rules
from trtforensics.parsers.grammar import tables

ENTRY_POINTS = "trtforensics.rules"
"""The group of entry points; each names a module with rules, or a rule."""


@cache
def rules() -> tuple[Rule, ...]:
    """Return all rules, sorted by code.

    Raises:
        UsageError: An entry point cannot be loaded, holds no rule, two rules share a code, or one reads a kind of lines
            that the grammar does not have.
    """
    every: dict[str, Rule] = {}
    kinds = tables.tables().patterns.keys()
    for rule in (*_own(), *table_rules(), *_foreign()):
        if rule.code in every:
            raise UsageError(rule.code, "two rules have this code", "Rename one of them, or uninstall its package")
        if not rule.reads <= kinds:
            unknown = ", ".join(sorted(rule.reads - kinds))
            raise UsageError(rule.code, f"it reads {unknown}, which the grammar does not have", "Mend its reads")
        every[rule.code] = rule
    return tuple(every[code] for code in sorted(every))


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
    for folder in (package, models):
        for module in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}."):
            yield from _rules_in(vars(importlib.import_module(module.name)).values())


def _foreign() -> Iterator[Rule]:
    for entry in entry_points(group=ENTRY_POINTS):
        loaded = _load(entry)
        loaded_rules = (
            [loaded] if isinstance(loaded, Rule) else list(_rules_in(getattr(loaded, "__dict__", {}).values()))
        )
        if not loaded_rules:
            raise UsageError(entry.value, f"the entry point {entry.name} holds no rule", "Uninstall its package")
        yield from loaded_rules


def _load(entry: EntryPoint) -> object:
    try:
        return entry.load()
    except (ImportError, AttributeError, ValueError) as error:
        what = f"the entry point {entry.name} cannot be loaded: {error}"
        raise UsageError(entry.value, what, "Mend or uninstall its package") from error


def _rules_in(values: Iterable[object]) -> Iterator[Rule]:
    return (value for value in values if isinstance(value, Rule))
