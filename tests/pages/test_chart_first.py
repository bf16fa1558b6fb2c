"""A reader meets a chart before anything else, measured in a real browser."""

from itertools import cycle

import pytest
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from pages.ui.choices.links import VIEWS
from pages.ui.contents import PAGES
from tests.pages.kit.chromium import needs_chromium, show_on
from tests.pages.kit.section_checks import sections

pytestmark = needs_chromium
TOP, SEEN, SMALLEST = 300, 300, 90  # pixels
SCREENS = ((1280, 720), (1920, 1080))
OF_TREEBANKS = ("syntax", "coreference")
FIRST = """
const main = "[data-testid=stMain] ";
const charts = [...document.querySelectorAll(main + "[data-testid=stVegaLiteChart]")];
const others = document.querySelectorAll(
    main + ":is([data-testid=stDataFrame], [data-testid=stHtml])");
const drawn = charts.every(each => each.querySelector("svg, canvas")?.clientHeight);
const idle = document.querySelector("[data-test-script-state=notRunning]");
const shown = [...charts, ...others].map(each => each.getBoundingClientRect());
const first = shown.filter(each => each.height > arguments[0]).sort((a, b) => a.top - b.top)[0];
return idle && drawn && first ? [first.top, first.height] : null;
"""
"""Top and height of the first chart or table, once the page and all its charts are drawn."""
EVERY_SECTION = [
    (page, section.stem, lang)
    for (page, section), lang in zip(
        [(page, section) for page in VIEWS for section in sections(page)], cycle(("ja", "en"))
    )
]
MEASURED = EVERY_SECTION[::7]
"""A seventh of the sections, in one language or the other."""


@pytest.mark.parametrize(("page", "stem", "lang"), MEASURED)
def test_the_first_chart_is_seen_without_scrolling(
    page, stem, lang, browser: WebDriver, servers, request
):
    images = page == "relevance" and stem in ("map", "corpus")
    name = "images" if images else "treebank" if page in OF_TREEBANKS else "store"
    server = servers(request.getfixturevalue(f"{name}_folder"))

    def is_in_place(driver: WebDriver) -> bool:
        """Return True if the chart is in place; while it is drawn, it may move what is below."""
        top, tall = driver.execute_script(FIRST, SMALLEST) or (TOP + 1, 0)
        in_sight = min(top + tall, driver.execute_script("return innerHeight")) - top
        return top <= TOP and in_sight >= min(tall / 2, SEEN)

    try:
        show_on(browser, *SCREENS[0])
        browser.get(f"{server}/{PAGES[page]}?lang={lang}&{VIEWS[page]}={stem}")
        for width, height in SCREENS:
            show_on(browser, width, height)
            WebDriverWait(browser, 60).until(is_in_place, f"too low at {width} x {height}")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
