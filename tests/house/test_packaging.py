"""What the wheel would hold is what the repository holds: the list of packages is explicit, so it can fall behind."""

from __future__ import annotations

import re
import sys
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.for_each import for_each
from tests.support.repository import ROOT
from trtforensics.model.version import __version__

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS: dict[str, Any] = PYPROJECT["tool"]["setuptools"]


def shipped() -> Iterator[tuple[str, Path]]:
    """Yield every file that a user needs, with the package that its folder installs as, or is a part of."""
    for package, folder in SETUPTOOLS["package-dir"].items():
        for path in sorted((ROOT / folder).rglob("*")):
            inside = path.relative_to(ROOT / folder)
            if path.is_file() and "__pycache__" not in inside.parts and not path.name.startswith("."):
                yield ".".join((package, *inside.parts[:-1])), path


def data_files() -> list[tuple[str, Path]]:
    """Return the files that setuptools ships only if a pattern of package-data names them."""
    return [(package, path) for package, path in shipped() if path.suffix != ".py"]


def test_the_three_folders_install_under_one_name() -> None:
    assert SETUPTOOLS["package-dir"] == {
        "trtforensics": "forensics",
        "trtforensics.parsers": "parsers",
        "trtforensics.tui": "tui",
    }


def test_every_folder_with_code_is_a_listed_package_and_no_other_is_listed() -> None:
    on_disk = {package for package, path in shipped() if path.suffix == ".py"}
    assert sorted(SETUPTOOLS["packages"]) == sorted(on_disk)


@for_each(("package", "path"), [pytest.param(*data, id=data[1].name) for data in data_files()])
def test_every_data_file_is_shipped(package: str, path: Path) -> None:
    found = [
        fnmatch("/".join((*package.split(".")[own.count(".") + 1 :], path.name)), pattern)
        for own, patterns in SETUPTOOLS["package-data"].items()
        if f"{package}.".startswith(f"{own}.")
        for pattern in patterns
    ]
    assert any(found), f"{package}: no package-data for {path.name}"


def test_every_installed_name_is_marked_as_typed() -> None:
    assert {package for package, path in data_files() if path.name == "py.typed"} == set(SETUPTOOLS["package-dir"])


def test_other_files_name_the_version_of_the_package() -> None:
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert re.fullmatch(rf"\[{re.escape(__version__)}\] - \d{{4}}-\d\d-\d\d", headings[1]), headings[1]
    assert len({heading.partition(" - ")[0] for heading in headings}) == len(headings), "a version has two sections"


def test_the_tests_ask_for_the_textual_of_the_snapshots_which_the_range_has() -> None:
    project = PYPROJECT["project"]
    (wanted,) = [need for need in project["dependencies"] if re.match(r"textual\b", need)]
    (pinned,) = [need for need in project["optional-dependencies"]["test"] if re.match(r"textual\b", need)]
    lowest, above = _numbers(r"textual>=([\d.]+),<[\d.]+", wanted), _numbers(r"textual>=[\d.]+,<([\d.]+)", wanted)
    assert lowest <= _numbers(r"textual==([\d.]+)", pinned) < above


def _numbers(form: str, requirement: str) -> tuple[int, ...]:
    found = re.fullmatch(form, requirement)
    assert found, requirement
    return tuple(map(int, found[1].split(".")))
