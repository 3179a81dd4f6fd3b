"""What holds for every row of the tables, so that no fact contradicts another."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, get_args

import onnx.defs

from tests.support.for_each import for_each
from trtforensics.findings.versions import flags
from trtforensics.knowledge import operators, platforms
from trtforensics.knowledge.table import OLDEST, known, release, rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RELEASE = r"\d+\.\d+"
OPTIONAL = rf"({RELEASE})?"
PATCH = rf"{RELEASE}(\.\d+)?"
TEXT = r".+"
TYPES = r"((FP32|FP16|BF16|FP8|FP4|INT4|INT8|UINT8|INT32|INT64|BOOL)( (?=.)|$))*"
COLUMNS = {
    "operators": {
        "operator": r"\w+",
        "first": RELEASE,
        "last": OPTIONAL,
        "state": "yes|no|experimental",
        "types": TYPES,
        "source": TEXT,
    },
    "restrictions": {
        "operator": r"\w+",
        "of": "attribute|input|output",
        "names": TEXT,
        "must": "|".join(row["must"] for row in rows("musts")),
        "value": ".*",
        "first": RELEASE,
        "last": OPTIONAL,
        "source": TEXT,
    },
    "plugins": {"name": r"\w+", "first": RELEASE, "last": OPTIONAL, "instead": ".*", "source": TEXT},
    "sizes": {"operator": r"\w+", "inputs": r"[\w* ]+", "deciding": r"[\w ]*", "source": TEXT},
    "remedies": {
        "operator": r"\w+",
        "when": ".*",
        "first": RELEASE,
        "last": OPTIONAL,
        "remedy": r"(?!.*\b(TensorRT|[Bb]efore|up to) \d).+",  # a release is a bound, not prose
        "source": TEXT,
    },
    "architectures": {
        "sm": RELEASE,
        "name": r"\w+",
        "platform": "|".join(get_args(platforms.Platform)),
        "state": "yes|no",
        "first": PATCH,
        "last": rf"({PATCH})?",
        "source": TEXT,
    },
    "lifetimes": {
        "name": r"(--)?[A-Za-z][\w-]*",
        "of": "TensorRT|trtexec|PyPI|Jetson",
        "first": PATCH,
        "last": rf"({PATCH})?",
        "deprecated": OPTIONAL,
        "instead": ".*",
        "source": TEXT,
    },
    "packages": {
        "name": r"[a-z][\w-]*",
        "first": PATCH,
        "last": rf"({PATCH})?",
        "fact": r".+[^.]",
        "way": r".+\.",
        "source": TEXT,
    },
    "gpus": {"gpu": r"\w.+", "sm": RELEASE, "gib": r"\d+", "weak": r"(sixteen)? ?(eight)?", "source": TEXT},
    "stack": {
        "release": rf"{RELEASE}(\.\d)?",
        "platform": "|".join(get_args(platforms.Platform)),
        "cuda": rf"({RELEASE}( (?=.)|$))*",
        "cudnn": rf"({RELEASE}( (?=.)|$))*",
        "driver": r"(\d+:\d+( (?=.)|$))*",
        "jetpack": r"(\d[\d.]*)?",
        "python": r"(3\.\d+-(3\.\d+)?)?",
        "opset": r"(\d*-\d+)?",
        "source": TEXT,
    },
    "interface": {"name": r"[a-z]\w*", "first": OPTIONAL, "last": OPTIONAL, "source": TEXT},
    "trtexec_options": {
        "when": "build|run|both",
        "form": "switch|value",
        "since": r"(\d+\.\d+(\.\d+)?)?",
        "before": r"(\d+(\.\d+)*)?",
        "options": r"\w+( \w+)*",
        "source": TEXT,
    },
    "builder_flags": {"flag": r"[A-Z]\w+", "trtexec": r".+", "polygraphy": ".*", "source": TEXT},
    "dla": {"operator": r"\w+", "runs": "native|rewritten|build-time|no", "first": PATCH, "source": TEXT},
    "error_codes": {
        "kind": "builder|cublas|cuda|cudnn|parser",
        "code": r"\d+",
        "name": r"\w*",
        "meaning": TEXT,
        "source": TEXT,
    },
}

COLUMNS["dla_limits"] = COLUMNS["restrictions"]


def numbers(text: str) -> list[tuple[int, str]]:
    """Split a text so that releases and codes in it sort as numbers."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text)]


def order(table: str, row: Mapping[str, str]) -> tuple[object, ...]:
    keys = {
        "operators": ("operator", "first"),
        "restrictions": ("operator", "of", "names", "must", "first", "value"),
        "architectures": ("sm", "platform", "first"),
        "stack": ("release", "platform", "jetpack"),
        "gpus": ("sm", "gpu"),
        "lifetimes": ("name", "first"),
        "packages": ("name", "first"),
        "error_codes": ("kind", "code"),
        "dla_limits": ("operator", "of", "names", "must", "first", "value"),
        "plugins": ("name",),
        "sizes": ("operator",),
        "remedies": ("operator", "when", "first"),
        "dla": ("operator",),
        "interface": ("name",),
    }[table]
    numeric = {"first", "sm", "release", "jetpack", "code"}
    return tuple(numbers(row[key]) if key in numeric else row[key] for key in keys)


@for_each("table", COLUMNS)
def test_every_value_is_of_its_columns_form(table: str) -> None:
    def wrong() -> Iterator[str]:
        for row in rows(table):
            for column, form in COLUMNS[table].items():
                if not re.fullmatch(form, row[column]):
                    yield f"{row}: {column}"

    assert list(next(rows(table))) == list(COLUMNS[table])
    assert not list(wrong())


@for_each("table", sorted(COLUMNS.keys() - {"trtexec_options", "builder_flags"}))
def test_rows_are_sorted_and_differ(table: str) -> None:
    keys = [order(table, row) for row in rows(table)]
    assert not [(one, other) for one, other in pairwise(keys) if not one < other]


def overlap(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return release(one["first"]) <= (known(other["last"]) or (99, 0)) and release(other["first"]) <= (
        known(one["last"]) or (99, 0)
    )


OF_PERIODS = {
    "operators": ("operator",),
    "architectures": ("sm", "platform"),
    "plugins": ("name",),
    "remedies": ("operator", "when"),
    "lifetimes": ("name",),
    "packages": ("name",),
}
"""What a row of these tables speaks of, in one period or several."""


@for_each("table", OF_PERIODS)
def test_periods_of_a_thing_do_not_overlap(table: str) -> None:
    def contradictions() -> Iterator[tuple[object, object]]:
        for one, other in pairwise(rows(table)):
            if [one[key] for key in OF_PERIODS[table]] == [other[key] for key in OF_PERIODS[table]] and overlap(
                one, other
            ):
                yield one, other

    assert not list(contradictions())


def test_no_release_has_two_rules_of_a_kind_for_one_name() -> None:
    groups: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for row in rows("restrictions"):
        if row["must"] in {"equal", "in", "rank", "type", "below"}:
            groups.setdefault((row["operator"], row["of"], row["names"], row["must"]), []).append(row)
    assert not [pair for group in groups.values() for pair in combinations(group, 2) if overlap(*pair)]


@for_each("table", ["restrictions", *OF_PERIODS])
def test_periods_begin_before_they_end(table: str) -> None:
    def wrong() -> Iterator[Mapping[str, str]]:
        for row in rows(table):
            oldest = (0,) if row.get("platform") == "RTX" or table == "packages" else OLDEST
            if not oldest <= release(row["first"]) <= (known(row["last"]) or (99, 0)):
                yield row

    assert not list(wrong())


def test_restrictions_are_of_operators_that_the_release_imports() -> None:
    def wrong() -> Iterator[Mapping[str, str]]:
        for row in rows("restrictions"):
            for bound in (row["first"], row["last"]):
                support = operators.operator_support(row["operator"], release(bound)) if bound else None
                if bound and (support is None or not support.imported):
                    yield row

    assert not list(wrong())


def test_restrictions_name_what_onnx_names() -> None:
    names: dict[tuple[str, str], set[str]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        parts = {
            "attribute": schema.attributes,
            "input": [parameter.name for parameter in schema.inputs],
            "output": [parameter.name for parameter in schema.outputs],
        }
        for of, found in parts.items():
            names.setdefault((schema.name, of), set()).update(found)

    def wrong() -> Iterator[str]:
        for row in rows("restrictions"):
            given = names.get((row["operator"], row["of"]))
            if given is not None and row["must"] != "text":
                yield from (f"{row['operator']}: {name}" for name in row["names"].split() if name not in given)

    assert not list(wrong())


def test_every_gpu_is_found_by_its_own_name() -> None:
    def wrong() -> Iterator[str]:
        capabilities = {row["sm"] for row in rows("architectures")}
        for row in rows("gpus"):
            if platforms.sm_of(row["gpu"]) != release(row["sm"]) or row["sm"] not in capabilities:
                yield row["gpu"]

    assert not list(wrong())


def test_codes_of_the_builder_and_the_parser_are_complete() -> None:
    for kind, last in (("builder", 10), ("parser", 14)):
        codes = [int(row["code"]) for row in rows("error_codes") if row["kind"] == kind]
        assert codes == list(range(last + 1))


def test_releases_of_a_remedy_are_those_of_its_source_or_of_what_the_operator_is_restricted_by() -> None:
    """A remedy ends where the restriction does that it mends, or where its source does."""
    bounds: dict[str, set[str]] = {}
    for table in ("restrictions", "operators"):
        for row in rows(table):
            bounds.setdefault(row["operator"], set()).update((row["first"], row["last"]))

    def wrong() -> Iterator[str]:
        for row in rows("remedies"):
            known_here = bounds.get(row["operator"], set()) | set(re.findall(RELEASE, row["source"]))
            if row["last"] and row["last"] not in known_here:
                yield f"{row['operator']}: {row['last']}"

    assert not list(wrong())


def test_options_that_are_deprecated_are_options_and_go_no_sooner_than_that() -> None:
    def wrong() -> Iterator[Mapping[str, str]]:
        for row in rows("lifetimes"):
            before = flags()[row["name"]].before if row["of"] == "trtexec" else ""
            if before and release(before) < release(row["deprecated"]):
                yield row

    assert not list(wrong())


def test_what_is_deprecated_or_gone_once_was_there() -> None:
    def wrong() -> Iterator[Mapping[str, str]]:
        for row in rows("lifetimes"):
            deprecated = known(row["deprecated"])
            if deprecated and not release(row["first"]) <= deprecated <= (known(row["last"]) or (99,)):
                yield row

    assert not list(wrong())


def test_ranges_of_python_go_up_with_the_releases() -> None:
    ranges = [row["python"].split("-") for row in rows("stack") if row["python"] and row["platform"] == "x86-64"]
    least = [release(first) for first, _ in ranges]
    most = [known(last) or release(first) for first, last in ranges]
    assert least == sorted(least)
    assert most == sorted(most)
