"""The parts of the documentation that are generated: commands from their parsers, findings from the rules, the API."""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import re
from dataclasses import is_dataclass
from functools import cached_property
from importlib.resources import files
from itertools import groupby
from types import FunctionType
from typing import TYPE_CHECKING, Any

import trtforensics
from trtforensics.cli import COMMANDS, build_parser
from trtforensics.findings.explaining import meanings
from trtforensics.findings.observations import NO_ENGINE, NO_RUN
from trtforensics.findings.registry import rules
from trtforensics.findings.versions import flags
from trtforensics.knowledge.table import records
from trtforensics.knowledge.terms import ErrorCode, terms
from trtforensics.parsers.notation.sentences import classes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from trtforensics.findings.rule import Rule

USAGE = "<!-- generated: usage -->"
"""Where a page of a command wants its usage and its options."""

COMMAND_PAGES = "reference/commands"
CODE_PAGES = "reference/findings"
FAMILIES = {
    "TF1": "parser and model",
    "TF2": "precision and accuracy",
    "TF3": "tactics, memory, failures, refused replays",
    "TF4": "configuration",
    "TF5": "timing cache and reproducibility",
    "TF6": "loading and running",
    "TF7": "the log itself",
    "TF8": "a replay beside the log",
    "TF9": "two logs; from TF911 on errors in their own words",
}
OWNERS = {
    "builder": "Error codes of TensorRT",
    "parser": "Error codes of the ONNX parser",
    "cuda": "CUDA errors",
    "cublas": "Statuses of cuBLAS",
    "cudnn": "Statuses of cuDNN before 9",
}
_WIDTH = 76
_CODE = re.compile(r"(?::\w+:)?`{1,2}~?([^`]+)`{1,2}")
"""A span of code in a docstring, or a role and its target."""

_OPTION = re.compile(r"(?<![\w-])--[A-Za-z][\w-]*(?:=[\w:/.,*+-]*[\w*])?")
_SPAN = re.compile(r"(`[^`\n]+`)")
_MAY_BE_ABSENT = re.compile(r"\([^()]*\)\?")
"""A part of a message that it may lack."""
_REPEATED = re.compile(r"^\( +\)\+")
"""The indentation of a message."""
_PASSED_ON = "TF717"
"""The rule that reads what programs add to an error that they printed before."""
_BY_WORDS = "Errors that no other rule reads, and that speak of this in their own words."
_REGEX_MARK = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|[(|)]")
"""What a regex escapes, a set of characters, or a mark of groups and alternatives."""
_GROUP = re.compile(r"\(\?(?:>|:|(i):)")
_QUOTED_TYPE = re.compile(r"(: |-> )'([^']*)'")


def add_generated(pages: Path) -> None:
    """Write the generated pages and parts of pages below a folder that holds the others."""
    _write_commands(pages / COMMAND_PAGES)
    _write(pages / "reference/findings.md", findings_page())
    for rule in rules():
        _write(pages / CODE_PAGES / f"{rule.code.lower()}.md", code_page(rule))
    searched = {"CODES": [_searched(rule) for rule in rules()], "CLASSES": _classes()}
    data = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in searched.items())
    _write(pages / "reference/find-data.js", data)
    _write(pages / "reference/python.md", api_page())
    _write(pages / "reference/words.md", words_page())
    for name, text in json_pages().items():
        _write(pages / "reference" / name, text)


def command_pages(pages: Path) -> list[str]:
    """Return the commands' pages in the order of ``--help``, as paths from the folder of pages."""
    names = [name for command in COMMANDS for name in (command, *_modes(command))]
    return [f"{COMMAND_PAGES}/{name}.md" for name in names if (pages / COMMAND_PAGES / f"{name}.md").is_file()]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _write_commands(folder: Path) -> None:
    """Give each command a page; a mode with a page of its own has its usage there."""
    listed = ["# Commands\n"]
    for command, summary in COMMANDS.items():
        listed.append(f"- [{command}]({command}.md): {summary}")
        parts = {command: usages(command)}
        for mode in _modes(command):
            if (folder / f"{mode}.md").is_file():
                prog = f"trtforensics {mode.replace('-', ' ')}"
                parts[mode] = [parser for parser in parts[command] if parser.prog == prog]
                parts[command] = [parser for parser in parts[command] if parser.prog != prog]
                listed.append(f"    - [{mode.replace('-', ' ')}]({mode}.md)")
        for name, parsers in parts.items():
            page = folder / f"{name}.md"
            text = page.read_text(encoding="utf-8") if page.is_file() else f"# {name}\n\n{USAGE}\n"
            if USAGE not in text:
                missing = f"{page.name} lacks the line {USAGE}"
                raise ValueError(missing)
            _write(page, text.replace(USAGE, "\n\n".join(usage(parser) for parser in parsers)))
    _write(folder / "index.md", "\n".join(listed) + "\n")


def _modes(command: str) -> list[str]:
    """Return the names that pages of a command's modes would have, such as ``bisect-cache``."""
    return [parser.prog.removeprefix("trtforensics ").replace(" ", "-") for parser in usages(command)][1:]


def usages(command: str) -> list[argparse.ArgumentParser]:
    """Return the parser of a command, and those of its modes."""
    top = build_parser(command)
    (commands,) = (action for action in top._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001 - argparse has no other way
    return list(_with_modes(commands.choices[command]))


def _with_modes(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            for mode in action.choices.values():
                yield from _with_modes(mode)


def usage(parser: argparse.ArgumentParser) -> str:
    """Return usage, arguments, options and examples of a parser as Markdown."""
    parser.formatter_class = lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=_WIDTH)
    formatter = parser._get_formatter()  # noqa: SLF001 - argparse expands the texts of its actions only there
    rows = [
        (_names(action, formatter), formatter._expand_help(action))  # noqa: SLF001 - as above
        for action in parser._actions  # noqa: SLF001 - as above
        if action.help and action.help != argparse.SUPPRESS and not isinstance(action, argparse._SubParsersAction)  # noqa: SLF001 - as above
    ]
    table = "\n".join(f"| {_cell(f'`{names}`')} | {_cell(_escaped(text))} |" for names, text in rows)
    parts = [f"{parser.description}", _fenced(parser.format_usage()), f"| option | |\n|---|---|\n{table}"]
    if parser.epilog:
        parts.append(_fenced(parser.epilog))
    if " " in parser.prog.removeprefix("trtforensics "):
        parts.insert(0, f"## {parser.prog}")
    return "\n\n".join(parts)


def _names(action: argparse.Action, formatter: argparse.HelpFormatter) -> str:
    return formatter._format_action_invocation(action)  # noqa: SLF001 - as above


def _cell(text: str) -> str:
    """Return Markdown as the cell of a table; a backslash inside a span of code would be shown."""
    return _outside_code(" ".join(text.split()), lambda part: part.replace("|", "\\|"))


def _escaped(text: str) -> str:
    """Return a text as Markdown that shows it as it stands, but for spans of code between backquotes."""
    return _outside_code(text, _shown)


def _shown(text: str) -> str:
    for mark in "\\`*_[]{}":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    return "".join(part if index % 2 else change(part) for index, part in enumerate(_SPAN.split(text)))


def _fenced(text: str) -> str:
    return f"```text\n{text.strip()}\n```"


def findings_page() -> str:
    """Return the page that lists all finding codes by family, each with a link to its page."""
    every = sorted(rules(), key=lambda rule: rule.code)
    page = [
        "# Finding codes\n",
        f"{len(every)} rules, each with a page that quotes the messages which it reads.",
        "[Find a message](find.md) looks for a line of a log in all of them; `trtforensics explain CODE` prints one.\n",
    ]
    for family, members in groupby(every, key=lambda rule: rule.code[:3]):
        page.append(f"## {family}xx: {FAMILIES.get(family, 'of other packages')}\n")
        page += [f"- [{rule.code}](findings/{rule.code.lower()}.md): {_prose(rule.title)}" for rule in members]
        page.append("")
    return "\n".join(page)


def code_page(rule: Rule) -> str:
    """Return the page of a code: its messages as titles, cause, how to confirm, fixes, sources."""
    explanation = rule.explanation
    messages = _messages(rule)
    described = json.dumps(" · ".join((rule.title, *messages[:3])).replace('"', "'"))  # Zensical does not escape it
    lines = [f"---\ndescription: {described}\n---\n", f"# {rule.code}: {_prose(rule.title)}\n"]
    needs = f" · needs {', '.join(sorted(rule.needs))}" if rule.needs else ""
    lines += [f"*{rule.severity.word}{needs}* · [all codes](../findings.md) · [find a message](../find.md)\n"]
    lines += ["## Cause\n", f"{_prose(explanation.cause)}\n"]
    lines += ["## How to confirm\n", f"{_prose(explanation.confirm)}\n"]
    if explanation.fixes:
        lines += ["## Fix\n", *(f"- {_prose(fix.of_versions)}" for fix in explanation.fixes), ""]
    if messages:
        lines += ["## Messages\n", "`<field>` stands for a name or a number, `…` for any text.\n"]
        lines += [f"### {_code(message)}\n" for message in messages]
    elif not rule.reads.isdisjoint(classes()):
        lines += ["## Messages\n", f"{_BY_WORDS}\n"]
    if explanation.sources:
        lines += ["## Sources\n", f"{_prose('; '.join(explanation.sources))}\n"]
    return "\n".join(lines)


def _code(text: str) -> str:
    """Return a text as a span of code; two backquotes allow one in it."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _searched(rule: Rule) -> list[Any]:
    """Return the texts of a rule by which ``find.js`` finds it: code, title, then messages, then sentences."""
    texts = re.split(r"(?<=[.;:]) ", rule.explanation.cause) + [fix.text for fix in rule.explanation.fixes]
    return [rule.code, rule.title, _messages(rule), texts]


def _classes() -> list[Any]:
    """Return code and title of each class of errors in their own words, and what shows it, the narrowest first.

    A message is recognised by pairs of a regex and its flags, as JavaScript has them: one of them must be found.
    """
    of_class = {kind: rule for rule in rules() for kind in rule.reads if rule.notes_alone and rule.last}
    return [
        [of_class[name].code, of_class[name].title, [*_alternatives(kind.match_text.pattern)]]
        for name, kind in classes().items()
        if name in of_class
    ]


def _alternatives(pattern: str) -> Iterator[tuple[str, str]]:
    """Give the alternatives of a regex, each with its flags; JavaScript has no atomic groups, nor flags inside."""
    depth, start, closed = 0, 0, 0
    for mark in _REGEX_MARK.finditer(f"{pattern}|"):
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0 and mark[0] == ")":
            closed = closed or mark.end()
        if depth == 0 and mark[0] == "|":
            part, group = pattern[start : mark.start()], _GROUP.match(pattern, start)
            if group is None or closed != mark.start():
                yield part, ""
            elif group[1]:
                yield part[group.end() - start : -1], "i"
            else:
                yield from _alternatives(part[group.end() - start : -1])
            start, closed = mark.end(), 0


def _messages(rule: Rule) -> list[str]:
    """Return the messages that a rule reads, without what they may lack, and those that only pass an error on."""
    passed_on = (*NO_ENGINE, *NO_RUN) if rule.code == _PASSED_ON else ()
    shown = [f"…{text}" if text[0].islower() else text.strip(" |") for text in passed_on]
    for message in rule.messages:
        text, count = message, 1
        while count:
            text, count = _MAY_BE_ABSENT.subn("", text)
        shown.append(_REPEATED.sub("", text).strip() or message)
    return list(dict.fromkeys(shown))


def _prose(text: str) -> str:
    """Return a text as Markdown that shows it as it stands, with options as code."""
    return _escaped(_outside_code(text, lambda part: _OPTION.sub(r"`\g<0>`", part)))


def words_page() -> str:
    """Return the page of what layer types, words of kernel names and numbers of errors mean."""
    page = [
        "# Words of logs\n",
        "`trtforensics explain kgen` and `trtforensics explain 209` print a row of these tables, and `explain` reads a",
        "kernel's name aloud, word by word.\n",
    ]
    for kind, members in groupby(sorted(terms(), key=lambda term: term.kind), key=lambda term: term.kind):
        page.append(f"## {kind[0].upper()}{kind[1:]}s\n\n| name | meaning | source |\n|---|---|---|")
        named = [(", ".join(f"`{name}`" for name in term.names), term) for term in members]
        page += [f"| {names} | {_row(term.meaning, term.source)} |" for names, term in named]
        page.append("")
    for kind, codes in groupby(records("error_codes", ErrorCode), key=lambda entry: entry.kind):
        page.append(f"## {OWNERS[kind]}\n\n| code | meaning | source |\n|---|---|---|")
        page += [f"| {each.code} `{each.name}` | {_row(each.meaning, each.source)} |" for each in codes]
        page.append("")
    page.append("## Options of trtexec\n\nFrom its option parser, 6.0 to 11.1.\n\n| option | meaning |\n|---|---|")
    page += [f"| `{flag}` | {each.text} |" for flag in sorted(flags()) for each in meanings(flag)]
    return "\n".join([*page, ""])


def _row(*texts: str) -> str:
    return " | ".join(_cell(_prose(text)) for text in texts)


def json_pages() -> dict[str, str]:
    """Return a page of each JSON Schema with every field that it names, and the page that lists them."""
    page = [
        "# JSON documents\n",
        "Each document has a JSON Schema (draft 2020-12), installed in `trtforensics/render/schemas`. It names every",
        "field that this version prints; a later version may print more of them.\n",
    ]
    pages = {}
    folder = files("trtforensics.render") / "schemas"
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        schema = json.loads(path.read_text(encoding="utf-8"))
        rows = "\n".join(f"| `{place}` | {_cell(_escaped(what))} |" for place, what in _fields(schema, schema, ""))
        name, title = path.name.removesuffix(".schema.json"), f"{_escaped(schema['title'])}."
        page.append(f"- [{name}](json/{name}.md): {title}")
        head = f"# {path.name}\n\n{title}\n[All documents](../json.md)\n"
        pages[f"json/{name}.md"] = f"{head}\n| field | type and meaning |\n|---|---|\n{rows}\n"
    return {"json.md": "\n".join([*page, ""]), **pages}


def _fields(schema: dict[str, Any], whole: dict[str, Any], place: str) -> Iterator[tuple[str, str]]:
    """Give the places of the fields of a schema, outer ones first, each with its type and what it means."""
    for part in (schema, *schema.get("anyOf", ())):
        if "$ref" in part:
            yield from _fields(whole["$defs"][part["$ref"].rpartition("/")[2]], whole, place)
        if isinstance(part.get("items"), dict):
            yield from _fields(part["items"], whole, f"{place}[]")
        if isinstance(part.get("additionalProperties"), dict):
            yield from _fields(part["additionalProperties"], whole, f"{place}.*")
        for name, field in part.get("properties", {}).items():
            inner = f"{place}.{name}".removeprefix(".")
            yield inner, _meaning(field, is_optional=name not in part.get("required", ()))
            yield from _fields(field, whole, inner)


def _meaning(field: dict[str, Any], *, is_optional: bool) -> str:
    """Return the values that a field may have, whether it may be absent, and its description."""
    kinds = field.get("type", "any" if not field.keys() & {"enum", "const", "$ref", "anyOf"} else [])
    words = [kinds] if isinstance(kinds, str) else list(kinds)
    words += [json.dumps(value) for value in field.get("enum", [field["const"]] if "const" in field else [])]
    words += ["object"] if "$ref" in field else []
    for part in field.get("anyOf", ()):
        words += [str(part.get("type", "object"))]
    said = " or ".join(words) + (", may be absent" if is_optional else "")
    return f"{said}: {field['description']}" if "description" in field else said


def api_page() -> str:
    """Return the page of the public names of ``import trtforensics``."""
    page = ["# Python API\n", f"{_docstring(trtforensics)}", "```python\nimport trtforensics as tf\n```\n"]
    names = [name for name in getattr(trtforensics, "__all__", ()) if not name.startswith("__")]
    page += [_documented(name, getattr(trtforensics, name)) for name in names]
    if not names:
        page.append("This version has commands only: every `--json` document is the interface for programs.\n")
    return "\n".join(page)


def _documented(name: str, thing: Any) -> str:  # noqa: ANN401 - any public name
    if inspect.ismodule(thing):  # a package that can be called
        thing = getattr(importlib.import_module("trtforensics.api"), name)
    lines = [f"## {name}\n", _signature(name, thing), _docstring(thing)]
    if inspect.isclass(thing):
        for member, value in vars(thing).items():
            if not member.startswith("_") and isinstance(value, (FunctionType, property, cached_property)):
                lines += [f"### {name}.{member}\n", _signature(member, value), _docstring(value)]
    return "\n".join(lines)


def _signature(name: str, thing: Any) -> str:  # noqa: ANN401 - a function, a class or a property
    """Return how a name is used as a block of Python; nothing for a class that only functions make."""
    if isinstance(thing, (property, cached_property)):
        getter: Any = thing.fget if isinstance(thing, property) else thing.func
        types = f": {inspect.signature(getter).return_annotation}"
    elif inspect.isclass(thing) and not is_dataclass(thing) and not issubclass(thing, (Exception, tuple)):
        return ""
    else:
        types = _QUOTED_TYPE.sub(r"\1\2", str(inspect.signature(thing))).replace("(self, ", "(").replace("(self)", "()")
    return f"```python\n{name}{types}\n```\n"


def _docstring(thing: Any) -> str:  # noqa: ANN401 - anything with a docstring
    """Return a docstring as Markdown: code as it stands, all else escaped."""
    pieces = _CODE.split(inspect.getdoc(thing) or "")
    return "".join(f"`{piece}`" if code % 2 else _escaped(piece) for code, piece in enumerate(pieces)) + "\n"
