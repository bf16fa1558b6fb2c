"""Clicks in a real browser: a cell of the overview, a bar and a row open their pair."""

import pytest
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.chromium import needs_chromium, parameters, title_of

pytestmark = needs_chromium
REDRAWN = [NoSuchElementException, StaleElementReferenceException]
BAR = "[class*=st-key-tp_layer_bars_amplified] [aria-roledescription='bar']"


@pytest.fixture
def wait(browser) -> WebDriverWait:
    return WebDriverWait(browser, 30, ignored_exceptions=REDRAWN)


def test_a_cell_of_the_overview_opens_its_pair_in_the_same_window(server, browser, wait):
    browser.get(f"{server}/token-pairs?lang=ja&tp_effect=ff_res")
    title_of(browser)
    link = wait.until(lambda d: d.find_element(By.CSS_SELECTOR, ".tp-grid td a"))
    told = link.text.split("\n")[0]
    assert click(browser, ".tp-grid td a")
    wait.until(lambda d: parameters(d).get("tp_view") == ["pair"])
    wait.until(lambda d: told in [each.text for each in d.find_elements(By.TAG_NAME, "h3")])
    assert parameters(browser)["lang"] == ["ja"]
    assert parameters(browser)["tp_effect"] == ["ff_res"]
    assert len(browser.window_handles) == 1


def test_a_bar_opens_its_pair(server, browser, wait):
    browser.get(f"{server}/token-pairs?tp_view=layer&tp_layer=2")
    title_of(browser)
    wait.until(lambda d: click(d, BAR))
    wait.until(lambda d: parameters(d).get("tp_view") == ["pair"])
    wait.until(lambda d: d.find_elements(By.CSS_SELECTOR, ".tp-text"))
    source, target = (parameters(browser)[each][0] for each in ("tp_source", "tp_target"))
    wait.until(lambda d: f"{source} → {target}" in d.find_element(By.TAG_NAME, "body").text)


def click(browser: WebDriver, selector: str) -> bool:
    """Click what is there first; not there, or just redrawn, it is looked for again."""
    found = browser.find_element(By.CSS_SELECTOR, selector)
    ActionChains(browser).move_to_element(found).click().perform()
    return True
