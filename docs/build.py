"""Build the documentation site: ``python -m docs.build [SITE]``, by default into ``build/site``.

Pages under ``docs/`` are copied to ``build/docs``, what is generated is added (``docs/generated.py``), and Zensical
builds the whole strictly: a broken link or anchor ends the build with exit code 1.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from docs.generated import add_generated, command_pages

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
STAGE = ROOT / "build" / "docs"
NO_PAGES = {".py", ".toml"}
COMMANDS_HERE = '"COMMANDS",'
"""What stands in the configuration's navigation for the pages of the commands."""


def stage(target: Path) -> None:
    """Write all pages and the configuration of the site below a folder, which is emptied first."""
    shutil.rmtree(target, ignore_errors=True)
    pages = target / "pages"
    for source in sorted(path for path in DOCS.rglob("*") if path.is_file() and path.suffix not in NO_PAGES):
        if "__pycache__" not in source.parts:
            copy = pages / source.relative_to(DOCS)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
    add_generated(pages)
    named = "".join(f'    "{page}",\n' for page in command_pages(pages))
    settings = (DOCS / "zensical.toml").read_text(encoding="utf-8")
    (target / "zensical.toml").write_text(settings.replace(COMMANDS_HERE, named.strip()), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Build the site; return Zensical's exit code."""
    stage(STAGE)
    built = subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=STAGE, check=False)
    if built.returncode == 0:
        site = Path(arguments[0]) if arguments else ROOT / "build" / "site"
        shutil.rmtree(site, ignore_errors=True)
        shutil.move(STAGE / "site", site)
        print(f"{len(list(site.rglob('*.html')))} pages in {site}")  # noqa: T201 - says what it made
    return built.returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
