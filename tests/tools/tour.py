"""A picture of every section, to be looked at; the README shows one of them.

    python -m tests.tools.tour statistics tour                       # light, English, 1280 x 720
    python -m tests.tools.tour statistics tour --lang ja --dark --size 1920x1080 --only relations

Each section is opened on the first file of the folder that holds what it needs.
"""

import re
import time
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated
from urllib.parse import urlencode

import duckdb
import typer
from selenium.webdriver.support.ui import WebDriverWait

from pages.ui.choices.links import VIEWS
from pages.ui.contents import PAGES
from pages.ui.page import Section
from tests.pages.kit.chromium import chromium, serving, show_on
from tests.pages.kit.section_checks import sections

DRAWN = """
const charts = [...document.querySelectorAll("[data-testid=stVegaLiteChart]")]
    .filter(element => element.getClientRects().length);
const idle = document.querySelector("[data-test-script-state=notRunning]");
const waits = [...document.querySelectorAll("[data-testid=stSkeleton]")]
    .filter(element => element.getClientRects().length);
const drawn = charts.every(element => element.querySelector("svg, canvas")?.clientHeight);
return idle && drawn && !waits.length;
"""
Language = StrEnum("Language", ["en", "ja"])


def main(
    statistics: Path,
    output: Path,
    lang: Language = Language["en"],
    dark: bool = False,
    size: str = "1280x720",
    only: Annotated[str, typer.Option(help="Sections whose name has this in it.")] = "",
) -> None:
    width, height = map(int, size.split("x"))
    output.mkdir(parents=True, exist_ok=True)
    files = held(statistics)
    places = [
        *((page, None) for page in ("overview", "papers")),
        *((page, section) for page in VIEWS for section in sections(page)),
    ]
    with (
        serving(statistics) as server,
        TemporaryDirectory() as downloads,
        chromium(Path(downloads)) as browser,
    ):
        show_on(browser, width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        for page, section in places:
            name = f"{page}-{section.stem}" if section else page
            if not re.search(only, name):
                continue
            browser.get(f"{server}/{PAGES[page]}?{query(page, section, files, lang)}")
            for _ in range(2):  # what is drawn last comes after a moment of rest
                WebDriverWait(browser, 60).until(lambda driver: driver.execute_script(DRAWN))
                time.sleep(0.5)
            browser.save_screenshot(str(output / f"{name}.png"))
            typer.echo(name)


def held(folder: Path) -> dict[str, set[str]]:
    """Tables with rows, by file of a folder."""
    files = sorted(folder.glob("*.duckdb"), key=lambda path: path.stem)
    return {path.name: _filled(path) for path in files}


def _filled(path: Path) -> set[str]:
    filled = "select name from stored.manifest where n_rows > 0"
    with duckdb.connect(str(path), read_only=True) as store:
        return {name for (name,) in store.execute(filled).fetchall()}


def query(page: str, section: Section | None, files: dict[str, set[str]], lang: str = "en") -> str:
    """The address of a section, on the first file that has what it needs."""
    needs = {table.name for table in section.needs} if section else set()
    file = next((name for name, tables in files.items() if needs <= tables), "")
    view = {VIEWS[page]: section.stem} if section else {}
    return urlencode({"lang": lang, **({"file": file} if file else {}), **view})


if __name__ == "__main__":
    typer.run(main)
