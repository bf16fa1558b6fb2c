"""The whole of a page is reached by keys alone, and the reader sees where they are."""

import pytest
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from pages.kit.contents import PAGES
from tests.pages.kit.chromium import needs_chromium, title_of
from tests.pages.kit.walk import walk

pytestmark = needs_chromium
DRAWN = """
const charts = [...document.querySelectorAll("[data-testid=stVegaLiteChart]")]
    .filter(element => element.getClientRects().length);
const idle = document.querySelector("[data-test-script-state=notRunning]");
const waits = [...document.querySelectorAll("[data-testid=stSkeleton]")]
    .filter(element => element.getClientRects().length);
const drawn = charts.every(element => element.querySelector("svg, canvas")?.clientHeight);
return idle && drawn && !waits.length;
"""
"""Script that tells if all charts are drawn and nothing is awaited."""
NAMED = {"token_pairs": ("Pairs and sentences", "Layer", "How to read this", "Export", "Collect")}
"""Some of what is come by on a page."""
WALKED = ("token_pairs", "query", "report")
"""Pages that have all kinds of controls between them."""
QUIET = """
const [done] = arguments;
let timer;
const rest = () => {
    clearTimeout(timer);
    timer = setTimeout(() => { observer.disconnect(); done(true); }, 300);
};
const observer = new MutationObserver(rest);
observer.observe(document.body, {subtree: true, childList: true, attributes: true});
rest();
"""
"""Script that ends when nothing has changed for a moment."""


def drawn(browser: WebDriver) -> WebDriver:
    """The page, drawn to its end; what is drawn last comes after a moment of rest."""
    title_of(browser)
    wait = WebDriverWait(browser, 60)
    wait.until(lambda d: d.execute_script(DRAWN) and d.execute_async_script(QUIET))
    wait.until(lambda d: d.execute_script(DRAWN))
    return browser


@pytest.mark.parametrize("name", WALKED)
def test_every_control_is_come_by_in_its_order_and_is_marked(name, browser, server):
    browser.get(f"{server}/{PAGES[name]}?lang=en")
    drawn(browser)
    result = walk(browser)
    for _ in range(2):  # a part that is drawn anew takes the focus with it
        if result.faults:
            result = walk(browser)
    assert not result.faults
    assert result.names[0] == "A Skip to main content"
    names = "\n".join(result.names)
    assert all(control in names for control in ("Find anything", *NAMED.get(name, ("Methods",))))
