"""Labels keep clear of each other and captions have room, where there is little: in a browser."""

import pytest
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from pages.ui.choices.links import VIEWS
from pages.ui.contents import PAGES
from tests.pages.kit.chromium import needs_chromium, show_on

pytestmark = needs_chromium
NARROWEST = 180  # pixels of a caption
SEEN = """
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
NARROW = [
    ("head_habits", "one_head", "en"),
    ("head_map", "groups", "en"),
    ("attention_norms", "dispersion", "ja"),
    ("sinks", "scores", "en"),
    ("compare", "headlines", "ja"),
    ("token_pairs", "workbench", "ja"),
    ("positions", "claim", "ja"),
]
"""Sections with few rows, long names or little width."""


@pytest.mark.parametrize(("page", "stem", "lang"), NARROW)
def test_labels_and_captions_have_room(page, stem, lang, browser: WebDriver, servers, gpt2_folder):
    server = servers(gpt2_folder)

    def has_room(driver: WebDriver) -> bool:
        crossed, narrowest, cut = driver.execute_script(SEEN) or (["nothing drawn"], 0, [])
        return not crossed and narrowest >= NARROWEST and not cut

    try:
        show_on(browser, 1280, 1900)
        browser.get(f"{server}/{PAGES[page]}?lang={lang}&{VIEWS[page]}={stem}")
        WebDriverWait(browser, 60).until(
            has_room, "labels cross, a caption is narrow or a title cut"
        )
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
