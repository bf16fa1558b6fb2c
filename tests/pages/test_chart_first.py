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
TOP, SEEN, SMALLEST = 300, 300, 100
SCREENS = ((1280, 720, "en"), (1920, 1080, "ja"), (1280, 720, "ja"), (1920, 1080, "en"))
"""Width, height, language: each section is measured on one of them, and each page on several."""
OF_TREEBANKS = ("syntax", "coreference")
FIRST = """
const shown = [...document.querySelectorAll(
    "[data-testid=stMain] :is([data-testid=stVegaLiteChart], [data-testid=stDataFrame], "
    + "[data-testid=stHtml])")].map(each => each.getBoundingClientRect());
const running = document.querySelector("[data-test-script-state=running]");
const first = shown.filter(each => each.height > arguments[0])[0];
return running || !first ? null : [first.top, first.height];
"""
ADDRESSES = [
    (page, each.stem, *screen)
    for (page, each), screen in zip(
        [(page, each) for page in VIEWS for each in sections(page)], cycle(SCREENS), strict=False
    )
]


@pytest.mark.parametrize(("page", "stem", "width", "height", "lang"), ADDRESSES)
def test_the_first_chart_is_seen_without_scrolling(
    page, stem, width, height, lang, browser: WebDriver, servers, request
):
    images = page == "relevance" and stem == "map"
    name = "images" if images else "treebank" if page in OF_TREEBANKS else "store"
    server = servers(request.getfixturevalue(f"{name}_folder"))
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        browser.get(f"{server}/{PAGES[page]}?lang={lang}&{VIEWS[page]}={stem}")
        wait = WebDriverWait(browser, 30)
        top, tall = wait.until(lambda driver: driver.execute_script(FIRST, SMALLEST))
        assert top <= TOP
        assert min(top + tall, height) - top >= min(tall, SEEN)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
