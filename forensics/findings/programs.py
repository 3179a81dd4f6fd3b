"""For whom a remedy is: a tool or format of one program means nothing to who uses another.

``origins.tsv`` says which words show where a network comes from, ``foreign.tsv`` for whom words of remedies are
foreign, ``own_remedies.tsv`` what helps there in the place of such a remedy.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from trtforensics.findings.finding import Step
from trtforensics.findings.versions import Version, flags, flags_of, has_flag
from trtforensics.knowledge.table import rows, words

_SENTENCES = re.compile(r"(?<=[a-z)]\.) (?=[A-Z])")
_WORD = re.compile(r"[A-Z][a-z]*(?=[ ,:])")


def origins_of(program: str, *texts: str) -> frozenset[str]:
    """Return the program, and where the network comes from by the first of the texts that shows it, else by it."""
    sources = next(filter(None, map(_shown, texts)), frozenset({program}))
    return frozenset(sources if program in _ORIGINS else {*sources, program}) - {""}


def fitting(
    code: str, special: Sequence[str], usual: Sequence[str], origins: Collection[str], *, of_any: bool
) -> list[str]:
    """Return fixes without those that are foreign there; what helps there instead goes first.

    The usual ones of a rule for messages ``of_any`` program say whose they are, where nothing shows what the network
    comes from.
    """
    unclear = of_any and _ORIGINS.keys().isdisjoint(origins)
    first = [_suited(code, fix, origins, unclear=False) for fix in special]
    rest = [_suited(code, fix, origins, unclear=unclear) for fix in usual]
    whole = sum(map(len, (*first, *rest))) >= sum(map(len, (*special, *usual)))
    own = [fix for origin, codes, fix in _REMEDIES if origin in origins and _is_of(code, codes)]
    return [*filter(None, first), *(() if whole else own), *filter(None, rest)]


def _suited(code: str, fix: str, origins: Collection[str], *, unclear: bool) -> str:
    """Return the sentences of a fix that are not foreign."""
    kept = []
    sources = _ORIGINS.keys() & set(origins)
    for sentence in _SENTENCES.split(fix):
        named = _foreign_in(code, sentence)
        foreign = (not row.to.isdisjoint({*origins} - sources) or (sources and row.to >= sources) for row in named)
        if not named or not all(foreign):
            prefix = next((row.prefix for row in named), "") if unclear and "ONNX" not in sentence else ""
            kept.append(behind(prefix, sentence))
    return " ".join(kept)


_COMMAND_LINE = re.compile(r"^\W*(?:sudo|docker|\S*trtexec(?:\.exe)?|polygraphy|python3?) .*--.*", re.MULTILINE)
"""A command in what was pasted around a finding."""
_SWITCH = re.compile(r"(?<!\S)--[a-zA-Z][\w-]*(?: all\b)?(?![=\w-])(?! [A-Z0-9<{/])")
_TAKEN_OUT = re.compile(r"\b(?:without|leave|drop|remove|no|not|never|than|instead|in the place)\b", re.IGNORECASE)


def unheld(fixes: Sequence[str], command: str, around: str) -> list[str]:
    """Return fixes without the sentences that ask for switches which the command, or one around, has already."""
    commands = "\n".join([command, *_COMMAND_LINE.findall(around)])

    def is_held(sentence: str) -> bool:
        asked = () if _TAKEN_OUT.search(sentence) else _SWITCH.findall(sentence)
        return bool(asked) and all(re.search(rf"(?<!\S){each}(?!\S)", commands) for each in asked)

    kept = (" ".join(sentence for sentence in _SENTENCES.split(fix) if not is_held(sentence)) for fix in fixes)
    return [*filter(None, kept)]


_OF_ANY_RELEASE = re.compile(r"\d\.\d|\b(?:from|since|before|up to|TensorRT) \d|(?i:polygraphy|llm|triton|argv|--atol)")
"""Sentences that state a release, or have options of another program than trtexec."""


def of_release(fixes: Sequence[str], version: Version | None) -> list[str]:
    """Return fixes in the names that a release has; without sentences whose options it lacks, unless nothing stays."""

    def told(sentence: str) -> str:
        if version is None or _OF_ANY_RELEASE.search(sentence):
            return sentence
        for named, since, before, instead in _EQUIVALENTS:
            sentence = sentence if version.has(since, before) else named.sub(instead, sentence)
        asked = [flag for flag in _FLAG.findall(sentence) if flag in flags()]
        return "" if asked and not any(has_flag(version, flag) for flag in asked) else sentence

    kept = (" ".join(filter(None, map(told, _SENTENCES.split(fix)))) for fix in fixes)
    return [*filter(None, kept)] or [*fixes]


def behind(prefix: str, text: str) -> str:
    """Return a sentence behind a prefix, where it begins small unless with a name."""
    return f"{prefix}{text[0].lower()}{text[1:]}" if prefix and _WORD.match(text) else f"{prefix}{text}"


_AGAIN = re.compile(r"\bbuild (?:and measure )?again", re.IGNORECASE)
_OF_BUILDS = re.compile(r"(?i:\b(?:re)?build(?:s|er|ing)?\b(?!\.log| of )|IBuilderConfig|BuilderFlag|\bconfig\.)")
_SAYS_WHEN = re.compile(r"is built|\brebuild|\bbuild\b[^.]*\bagain", re.IGNORECASE)
_FLAG = re.compile(r"--\w+")
_WHEN = "When the engine is built: "


def step_for_loaded(step: Step) -> Step:
    """Return a step in words for a run that loads an engine."""
    return replace(step, what=text_for_loaded(step.what, runs="--loadEngine" in step.command))


def text_for_loaded(text: str, *, runs: bool = False) -> str:
    """Return advice that says so where it concerns the engine's build; not where its command ``runs`` the engine."""
    text = _AGAIN.sub(lambda match: "Run again" if match[0][0] == "B" else "run again", text)
    concerned = _OF_BUILDS.search(text) or not flags_of("build").isdisjoint(_FLAG.findall(text))
    return text if runs or not concerned or _SAYS_WHEN.search(text) else behind(_WHEN, text)


def _is_of(code: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(code, pattern) for pattern in patterns)


class _Foreign(NamedTuple):
    """Words of remedies of some rules, for whom they mean nothing, and what to say before them where none is known."""

    words: re.Pattern[str]
    codes: tuple[str, ...]
    to: frozenset[str]
    prefix: str


@lru_cache
def _shown(text: str) -> frozenset[str]:
    return frozenset(name for name, pattern in _ORIGINS.items() if pattern.search(text))


@lru_cache(4096)
def _foreign_in(code: str, sentence: str) -> list[_Foreign]:
    return [row for row in _FOREIGN if row.words.search(sentence) and _is_of(code, row.codes)]


_ORIGINS = {row["origin"]: re.compile(row["shown"]) for row in rows("origins", "trtforensics.findings")}
_FOREIGN = [
    _Foreign(re.compile(row["words"]), words(row["codes"]), frozenset(words(row["to"])), row["prefix"])
    for row in rows("foreign", "trtforensics.findings")
]
_EQUIVALENTS = [
    (re.compile(row["words"]), row["since"], row["before"], row["instead"])
    for row in rows("equivalents", "trtforensics.findings")
]
_REMEDIES = [(row["origin"], words(row["codes"]), row["fix"]) for row in rows("own_remedies", "trtforensics.findings")]
