"""Build the documentation site: ``python -m docs.build [SITE] [--address URL] [--repository URL]``.

Pages under ``docs/`` are copied to ``build/docs``, what is generated is added (``docs/generated.py``), and Zensical
builds the whole strictly: a broken link or anchor ends the build with exit code 1.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

from docs.generated import add_generated, command_pages
from trtforensics import __version__

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
STAGE = ROOT / "build" / "docs"
NO_PAGES = {".py", ".toml"}
COMMANDS_HERE = '"COMMANDS",'
"""What stands in the configuration's navigation for the pages of the commands."""


def stage(target: Path, address: str = "", repository: str = "") -> None:
    """Write all pages and the configuration of the site below a folder, which is emptied first.

    With an address the site has a sitemap, with a repository its pages link to it; every page names the version.
    """
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
    told = {"copyright": f"trtforensics {__version__}", "site_url": address, "repo_url": repository}
    head = "".join(f"{name} = {json.dumps(value)}\n" for name, value in told.items() if value)
    text = settings.replace(COMMANDS_HERE, named.strip()).replace("[project]\n", f"[project]\n{head}", 1)
    (target / "zensical.toml").write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Build the site; return Zensical's exit code."""
    parser = argparse.ArgumentParser(prog="python -m docs.build", description=main.__doc__)
    parser.add_argument("site", nargs="?", type=Path, default=ROOT / "build" / "site", metavar="SITE")
    parser.add_argument("--address", default="", help="where the site will stand, for its sitemap")
    parser.add_argument("--repository", default="", help="the address of the sources, for a link on every page")
    args = parser.parse_args(arguments)
    stage(STAGE, args.address, args.repository)
    built = subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=STAGE, check=False)
    if built.returncode == 0:
        shutil.rmtree(args.site, ignore_errors=True)
        shutil.move(STAGE / "site", args.site)
        print(f"{len(list(args.site.rglob('*.html')))} pages in {args.site}")  # noqa: T201 - says what it made
    return built.returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
