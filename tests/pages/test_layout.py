"""A reader meets a legible chart before anything else, measured in a real browser."""

from collections.abc import Callable

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from pages.kit.contents import PAGES
from pages.kit.links import VIEWS
from tests.pages.kit.chromium import needs_chromium, show_on

pytestmark = needs_chromium
TOP, SEEN, SMALLEST = 300, 300, 90  # pixels
NARROWEST = 180  # pixels of a caption
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
LABELS = """
const shown = (selector) => [...document.querySelectorAll(selector)]
    .map(each => [each.textContent.trim(), each.getBoundingClientRect()])
    .filter(([text, box]) => text && box.width);
const charts = [...document.querySelectorAll("[data-testid=stVegaLiteChart]")]
    .filter(each => each.getClientRects().length);
const idle = document.querySelector("[data-test-script-state=notRunning]");
if (!idle || !charts.length || !charts.every(each => each.querySelector("svg")?.clientHeight))
    return null;
const labels = shown("[data-testid=stVegaLiteChart] svg .role-axis-label text");
const crossed = labels.flatMap(([text, box], place) => labels.slice(place + 1)
    .filter(([, other]) =>
        Math.min(box.right, other.right) - Math.max(box.left, other.left) > 1 &&
        Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > box.height / 2)
    .map(([beside]) => text + " over " + beside));
const captions = shown("[data-testid=stMain] [data-testid=stCaptionContainer]");
const cut = shown("[data-testid=stVegaLiteChart] svg .role-title text")
    .map(([text]) => text).filter(text => text.includes("…"));
return [crossed, Math.min(...captions.map(([, box]) => box.width)), cut];
"""
"""Labels that stand on one another, the width of the narrowest caption, titles that are cut."""
PLACES = [
    ("head_map", "groups", "en", "gpt2"),
    ("sinks", "scores", "en", "gpt2"),
    ("compare", "headlines", "ja", "gpt2"),
    ("positions", "claim", "ja", "gpt2"),
    ("layer_mixing", "similarity", "en", "treebank"),
    ("syntax", "relations", "ja", "treebank"),
    ("relevance", "map", "en", "images"),
]
"""Sections with few rows, long names or little width, and files."""


@pytest.mark.parametrize(("page", "stem", "lang", "name"), PLACES)
def test_the_first_chart_is_seen_without_scrolling_and_labels_have_room(
    page, stem, lang, name, browser: WebDriver, servers, request
):
    server = servers(request.getfixturevalue(f"{name}_folder"))

    def has_room(driver: WebDriver) -> bool:
        crossed, narrowest, cut = driver.execute_script(LABELS) or (["nothing drawn"], 0, [])
        return not crossed and narrowest >= NARROWEST and not cut

    def is_in_place(driver: WebDriver) -> bool:
        """Return True if the chart is in place; while it is drawn, it may move what is below."""
        top, tall = driver.execute_script(FIRST, SMALLEST) or (TOP + 1, 0)
        in_sight = min(top + tall, driver.execute_script("return innerHeight")) - top
        return top <= TOP and in_sight >= min(tall / 2, SEEN)

    try:
        wait = WebDriverWait(browser, 60)
        show_on(browser, 1280, 1900)
        browser.get(f"{server}/{PAGES[page]}?lang={lang}&{VIEWS[page]}={stem}")
        if name == "gpt2":
            wait.until(has_room, "labels cross, a caption is narrow or a title cut")
        for width, height in ((1280, 720), (1920, 1080)):
            show_on(browser, width, height)
            wait.until(is_in_place, f"too low at {width} x {height}")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


SIZES = """
const charts = [...document.querySelectorAll("[data-testid=stVegaLiteChart] svg")]
    .map(each => each.getBoundingClientRect());
const main = document.querySelector("[data-testid=stMain]");
const idle = document.querySelector("[data-test-script-state=notRunning]");
if (!idle || charts.length < 2 || !charts.every(each => each.height)) return null;
return {
    widths: charts.map(each => each.width / main.getBoundingClientRect().width),
    right: Math.max(...charts.map(each => each.right)) - innerWidth,
    beside: Math.abs(charts[0].left - charts[1].left) > 50,
};
"""
"""Shares of the page's width that charts take, and pixels beyond it."""
SLIDE = """
const slide = document.querySelector(".slide")?.getBoundingClientRect();
const others = "[data-testid=stSidebar], [data-testid=stHeader], .st-key-bar, .st-key-sections, "
    + ".st-key-presenting, [data-testid=stVegaLiteChart]";
const seen = [...document.querySelectorAll(others)].filter(each => each.getClientRects().length);
return slide && [Math.round(slide.width), Math.round(slide.height), seen.length];
"""
"""Width and height of the slide, and what is seen of the page beside it."""


def test_slides_fill_the_screen_and_narrow_windows_stack_their_columns(
    browser: WebDriver, servers, store_folder
):
    wait = WebDriverWait(browser, 60)
    page = f"{servers(store_folder)}/token-pairs?lang=en&tp_view=workbench"

    def seen(width: int, height: int, holds: Callable[[dict], bool]) -> None:
        show_on(browser, width, height)
        message = f"not at {width} x {height}"
        wait.until(lambda driver: (at := driver.execute_script(SIZES)) and holds(at), message)

    try:
        browser.get(page)
        seen(1280, 800, lambda at: at["beside"])
        seen(900, 800, lambda at: min(at["widths"]) > 0.8 and at["right"] <= 0)
        browser.get(f"{page}&present=True")
        for width, height in ((1280, 720), (1920, 1080)):
            show_on(browser, width, height)
            wait.until(lambda driver, of=[width, height, 0]: driver.execute_script(SLIDE) == of)
        for key, number in ((Keys.RIGHT, "2 / "), (Keys.LEFT, "1 / ")):
            browser.find_element(By.TAG_NAME, "body").send_keys(key)
            shown = f"//*[contains(@class, 'st-key-steps')]//p[starts-with(., '{number}')]"
            wait.until(lambda driver, shown=shown: driver.find_elements(By.XPATH, shown))
        browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
        wait.until(lambda driver: driver.execute_script(SLIDE) is None)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
