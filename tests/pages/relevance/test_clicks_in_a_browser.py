"""A click on a map in a real browser chooses its head or its start layer; a patch tells itself."""

import pytest
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.chromium import needs_chromium, parameters, title_of

pytestmark = needs_chromium
REDRAWN = [NoSuchElementException, StaleElementReferenceException]


@pytest.fixture(scope="session")
def store_folder(images_folder):
    """The server shows images."""
    return images_folder


@pytest.mark.parametrize(
    ("chart", "panel", "key", "value"),
    [
        ("re_map_heads", "head 2", "re_head", "2"),
        ("re_map_layers", "layer 1", "re_layer", "1"),
    ],
)
def test_a_click_on_a_map_chooses_it(chart, panel, key, value, server, browser):
    browser.get(f"{server}/relevance?re_view=map")
    title_of(browser)
    wait = WebDriverWait(browser, 30, ignored_exceptions=REDRAWN)
    wait.until(lambda d: patch(d, chart, panel, 2, 3)).click()
    wait.until(lambda d: parameters(d).get(key) == [value])


def test_a_patch_tells_its_place_and_its_value(server, browser):
    browser.get(f"{server}/relevance?re_view=map&re_head=1")
    title_of(browser)
    wait = WebDriverWait(browser, 30, ignored_exceptions=REDRAWN)
    told = wait.until(lambda d: told_of(d, patch(d, "re_map_heads", "head 1", 3, 4)))
    for words in ("head 1", "row", "column", "share of all relevance", "times the even share"):
        assert words in told


def told_of(driver: WebDriver, cell: WebElement) -> str:
    """What is told where a cell is pointed at; charts above that come later move it away."""
    title = driver.find_element(By.TAG_NAME, "h1")
    ActionChains(driver).move_to_element(title).move_to_element(cell).perform()
    return driver.find_element(By.CSS_SELECTOR, "#vg-tooltip-element.visible").text


def patch(driver: WebDriver, chart: str, panel: str, row: int, column: int):
    """The mark of a patch of a map."""
    told = f"[aria-label*='map: {panel};'][aria-label*='row: {row};']"
    place = f"[aria-label*='column: {column};']"
    return driver.find_element(By.CSS_SELECTOR, f"[class*=st-key-{chart}] path{told}{place}")


def test_a_click_on_a_head_of_the_corpus_chooses_it(server, browser):
    browser.get(f"{server}/relevance?re_view=corpus")
    title_of(browser)
    wait = WebDriverWait(browser, 30, ignored_exceptions=REDRAWN)
    cell = "path[aria-label*='head: 2;'][aria-label*='start layer: 1;']"
    cell = f"[class*=st-key-re_corpus_head_map] {cell}"
    wait.until(lambda d: d.find_element(By.CSS_SELECTOR, cell)).click()
    wait.until(lambda d: parameters(d).get("re_head") == ["2"])
    assert parameters(browser).get("re_layer") == ["1"]
