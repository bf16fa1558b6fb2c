"""A click on a cell in a real browser: the address and the head card follow."""

import pytest
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.chromium import needs_chromium, title_of

pytestmark = needs_chromium
REDRAWN = [NoSuchElementException, StaleElementReferenceException]


@pytest.mark.parametrize(("layer", "head"), [(1, 3), (2, 2), (2, 3)])
def test_a_click_on_a_cell_changes_the_address_and_the_card(layer, head, server, browser):
    browser.get(f"{server}/attention-norms?an_view=heads&head=1-1")
    title_of(browser)
    start = browser.current_url
    wait = WebDriverWait(browser, 30, ignored_exceptions=REDRAWN)
    wait.until(lambda d: click_cell(d, layer, head))
    title = f"What does layer {layer}, head {head} do with each type?"
    wait.until(lambda d: title in d.find_element(By.TAG_NAME, "body").text)
    wait.until(lambda d: d.current_url != start)
    browser.get(browser.current_url)  # a fresh session: nothing but the address tells the head
    wait.until(lambda d: title in d.find_element(By.TAG_NAME, "body").text)


def click_cell(browser: WebDriver, layer: int, head: int) -> bool:
    """Click a head in the first map; not there, or just redrawn, it is looked for again."""
    chart = "[class*=st-key-an_heads_maps]"
    label = f"path[aria-roledescription='rect mark'][aria-label^='head: {head}; layer: {layer};']"
    cell = browser.find_element(By.CSS_SELECTOR, f"{chart} {label}")
    ActionChains(browser).move_to_element(cell).click().perform()
    return True
