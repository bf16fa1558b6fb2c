"""Waiting times from a click until the page stands still, in a real browser.

    python -m tests.tools.benchmarks.click_times statistics [--only PAGE] [--size 1280x720]

Every page is loaded anew, opened by the menu, and used: its sections, the first picker of each, a
mark of its chart, the next head, its drawer, Back. A wait ends with the last visible change. The
server's part is the time between the browser's question and the last part of the answer; the rest
is the browser's own. The first reader of a server is left out, and so are clicks without effect.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import typer
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from pages.ui.choices.links import VIEWS
from pages.ui.contents import PAGES
from tests.pages.kit.chromium import chromium, serving, show_on
from tests.pages.kit.section_checks import sections
from tests.tools.tour import DRAWN, held, query

WATCH = """
const parts = "[data-testid=stMain], [data-testid=stSidebar], [role=dialog]";
window.changed = window.acted = 0;
const painted = () => requestAnimationFrame(() => { window.changed = performance.now(); });
const isSeen = ({target}) => {
    const place = target.closest ? target : target.parentElement;
    return place?.closest(parts) && !place.closest("canvas");
};
new MutationObserver(all => {
    if (all.some(isSeen)) painted();
}).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
for (const kind of ["click", "keydown", "popstate"])
    addEventListener(kind, event => { window.acted = event.timeStamp; }, true);
"""
"""Notes when the reader acted last, and when a change was last seen on the screen. What a table has
inside its canvas, for those who hear the page, is not seen and comes a fifth of a second later."""
STILL = f"""
const isDrawn = (() => {{ {DRAWN} }})();
return isDrawn && performance.now() - window.changed > arguments[0]
    ? [window.acted, window.changed] : null;
"""
QUIET = 700  # milliseconds without a change, after which none comes
PATIENCE = 60  # seconds
OPENING = 0.5  # seconds until the options of a picker are there
TARGETS = {"cold load": 3.0, "page": 1.0}
TARGET = 0.6
"""Seconds within which nine in ten are to be drawn; of a click within a page."""
SECTION = ".st-key-sections button"
ROW = "[data-testid=stMain] :is([class*=st-key-toolbar], [class*=st-key-corner]) "
OTHER = "[data-testid=stButtonGroup] button[aria-checked=false]"
SELECT = "[data-testid=stSelectbox] [role=combobox]"
OPTION = "[role=option][aria-selected=false]"
MARK = "[data-testid=stVegaLiteChart] :is(.mark-rect, .mark-symbol) path[aria-label]"
STEP, DRAWER = ".st-key-head_after button", ".st-key-head_drawer button"


@dataclass(frozen=True)
class Wait:
    """An action of a reader, the wait after it in seconds, and the megabytes from the server."""

    kind: str
    name: str
    total: float
    server: float
    megabytes: float


class Reader:
    """A browser whose waits are timed."""

    def __init__(self, browser: WebDriver) -> None:
        self._browser = browser
        browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})

    def timed(self, kind: str, name: str, act: Callable[[], object]) -> Wait:
        """Wait after an action on a page that stands still."""
        self._frames()
        act()
        acted, changed = self._still()
        server, size = _of_server(self._frames())
        return Wait(kind, name, (changed - acted) / 1000, server, size / 1e6)

    def load(self, address: str) -> None:
        self._browser.get("about:blank")
        self._browser.get(address)

    def visible(self, selector: str) -> list[WebElement]:
        """Displayed elements of a selector."""
        everything = self._browser.find_elements(By.CSS_SELECTOR, selector)
        return [element for element in everything if element.is_displayed()]

    def click(self, element: WebElement) -> None:
        self._browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        ActionChains(self._browser).move_to_element(element).click().perform()

    def press(self, *keys: str) -> None:
        ActionChains(self._browser).send_keys(*keys).perform()

    @property
    def address(self) -> str:
        return self._browser.current_url

    def back(self) -> None:
        self._browser.back()

    def _still(self) -> tuple[float, float]:
        """Times of the action and of the last visible change, in milliseconds."""
        time.sleep(0.1)
        wait = WebDriverWait(self._browser, PATIENCE, 0.1)
        return wait.until(lambda driver: driver.execute_script(STILL, QUIET))

    def _frames(self) -> list[dict[str, Any]]:
        """Messages of the page's socket since the last call."""
        logged = self._browser.execute("getLog", {"type": "performance"})["value"]
        messages = (json.loads(entry["message"])["message"] for entry in logged)
        return [
            message
            for message in messages
            if message["method"].startswith("Network.webSocketFrame")
        ]


def _of_server(frames: list[dict[str, Any]]) -> tuple[float, int]:
    """Seconds from the first question to the last part of the answer, and its size in bytes."""
    asked = [frame["params"] for frame in frames if frame["method"].endswith("Sent")]
    answers = [frame["params"] for frame in frames if frame["method"].endswith("Received")]
    if not asked or not answers:
        return 0.0, 0
    size = sum(len(answer["response"]["payloadData"]) for answer in answers) * 3 // 4  # of base 64
    return max(answers[-1]["timestamp"] - asked[0]["timestamp"], 0.0), size


def loads(reader: Reader, server: str, places: dict[str, str]) -> Iterator[Wait]:
    """Load every page anew."""
    for page, address in places.items():
        yield reader.timed("cold load", page, partial(reader.load, f"{server}/{address}"))


def switches(reader: Reader, pages: list[str]) -> Iterator[Wait]:
    """Open every page from another one by the menu."""
    for page in pages:
        entries = reader.visible("[data-testid=stSidebar] [data-testid=stPageLink-NavLink]")
        entry = entries[list(PAGES).index(page)]
        yield reader.timed("page", page, partial(reader.click, entry))


def uses(reader: Reader, page: str) -> Iterator[Wait]:
    """Use an open page, in each of its sections."""
    first = reader.address
    yield from used(reader, page)
    for place in range(1, len(reader.visible(SECTION))):
        tab = reader.visible(SECTION)[place]
        name = f"{page}, {tab.text}"
        yield reader.timed("section", name, partial(reader.click, tab))
        yield from used(reader, name)
    if reader.visible(STEP):
        yield reader.timed("next head", page, partial(reader.click, reader.visible(STEP)[0]))
        yield reader.timed("drawer", page, partial(reader.click, reader.visible(DRAWER)[0]))
        reader.timed("drawer", page, partial(reader.press, Keys.ESCAPE))
    if reader.address != first:  # else Back leaves the page
        yield reader.timed("Back", page, reader.back)


def used(reader: Reader, name: str) -> Iterator[Wait]:
    """Choose another option of a section's first picker, and click on a mark of its chart."""
    if others := reader.visible(ROW + OTHER):
        yield reader.timed("picker", name, partial(reader.click, others[0]))
    elif selects := reader.visible(ROW + SELECT):
        reader.click(selects[0])
        time.sleep(OPENING)
        for option in reader.visible(OPTION)[:1]:
            yield reader.timed("picker", name, partial(reader.click, option))
    if marks := reader.visible(MARK):
        yield reader.timed("mark", name, partial(reader.click, marks[len(marks) // 3]))


def summary(waits: list[Wait]) -> str:
    """Median, ninth decile and maximum of each kind of wait, and the server's part."""
    frame = pd.DataFrame([vars(wait) for wait in waits])
    frame["target"] = frame["kind"].map(TARGETS).fillna(TARGET)
    kinds = frame.groupby("kind", sort=False)
    slowest = frame.loc[kinds["total"].idxmax()].set_index("kind")
    table = pd.DataFrame(
        {
            "n": kinds.size(),
            "median s": kinds["total"].median(),
            "9 in 10 s": kinds["total"].quantile(0.9),
            "slowest s": slowest["total"],
            "target s": kinds["target"].first(),
            "server s": kinds["server"].median(),
            "sent MB": kinds["megabytes"].median(),
            "slowest is": slowest["name"],
        }
    )
    within = float((frame["total"] <= frame["target"]).mean())
    listed = frame.nlargest(15, "total").drop(columns="target")
    return "\n\n".join(
        (
            table.to_string(float_format="{:.2f}".format),
            f"{len(frame)} waits, {within:.0%} within their targets; the longest:",
            listed.to_string(float_format="{:.2f}".format, index=False),
        )
    )


def main(folder: Path, only: str = "", size: str = "1280x720") -> None:
    """Print the waits of a reader on the files of a folder."""
    width, height = map(int, size.split("x"))
    files = held(folder)
    pages = [page for page in PAGES if only in page]
    firsts = {page: sections(page)[0] if page in VIEWS else None for page in pages}
    places = {page: f"{PAGES[page]}?{query(page, firsts[page], files)}" for page in pages}
    with (
        serving(folder) as server,
        TemporaryDirectory() as downloads,
        chromium(Path(downloads)) as browser,
    ):
        show_on(browser, width, height)
        reader = Reader(browser)
        list(loads(reader, server, places))
        waits = [*loads(reader, server, places), *switches(reader, pages)]
        for page, address in places.items():
            reader.timed("cold load", page, partial(reader.load, f"{server}/{address}"))
            waits.extend(uses(reader, page))
    typer.echo(summary([wait for wait in waits if wait.server]))


if __name__ == "__main__":
    typer.run(main)
