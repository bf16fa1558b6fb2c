"""A reader meets a chart before anything else, measured in a real browser."""

from itertools import cycle

import pytest
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from pages.ui.choices.links import VIEWS
from pages.ui.contents import PAGES
from tests.pages.kit.chromium import needs_chromium
from tests.pages.kit.section_checks import sections

pytestmark = needs_chromium
TOP, SEEN, SMALLEST = 300, 300, 90  # pixels
SCREENS = ((1280, 720, "ja"), (1920, 1080, "en"), (1280, 720, "en"), (1920, 1080, "ja"))
OF_TREEBANKS = ("syntax", "coreference")
FIRST = """
const shown = [...document.querySelectorAll(
    "[data-testid=stMain] :is([data-testid=stVegaLiteChart], [data-testid=stDataFrame], "
    + "[data-testid=stHtml])")].map(each => each.getBoundingClientRect());
const idle = document.querySelector("[data-test-script-state=notRunning]");
const first = shown.filter(each => each.height > arguments[0])[0];
return idle && first ? [first.top, first.height] : null;
"""
EVERY_SECTION = [
    (page, each.stem, *screen)
    for (page, each), screen in zip(
        [(page, each) for page in VIEWS for each in sections(page)], cycle(SCREENS), strict=False
    )
]
MEASURED = EVERY_SECTION[::3]
"""A third of the sections, on every screen in either language."""


@pytest.mark.parametrize(("page", "stem", "width", "height", "lang"), MEASURED)
def test_the_first_chart_is_seen_without_scrolling(
    page, stem, width, height, lang, browser: WebDriver, servers, request
):
    images = page == "relevance" and stem in ("map", "corpus")
    name = "images" if images else "treebank" if page in OF_TREEBANKS else "store"
    server = servers(request.getfixturevalue(f"{name}_folder"))
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        browser.get(f"{server}/{PAGES[page]}?lang={lang}&{VIEWS[page]}={stem}")
        wait = WebDriverWait(browser, 60)
        top, tall = wait.until(lambda driver: driver.execute_script(FIRST, SMALLEST))
        assert top <= TOP
        assert min(top + tall, height) - top >= min(tall / 2, SEEN)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
