"""A click on a head in a real browser chooses it, and a fresh session shows it again."""

import pytest
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.chromium import needs_chromium, parameters, title_of

pytestmark = needs_chromium
REDRAWN = [NoSuchElementException, StaleElementReferenceException]
POINT = "layer: 2; head: 3"
MARKS = {
    ("map", "by_layer"): POINT,
    ("map", "by_behaviour"): POINT,
    ("groups", "tree"): POINT,
    ("groups", "plane"): POINT,
    ("distances", "matrix"): "layer of the row: 2; head of the row: 3",
}
"""What the mark of a head is called in each chart of each section."""


@pytest.mark.parametrize(("view", "chart"), MARKS)
def test_a_click_on_a_head_chooses_it(view, chart, server, browser):
    browser.get(f"{server}/head-map?hm_view={view}&head=1-1")
    title_of(browser)
    wait = WebDriverWait(browser, 60, ignored_exceptions=REDRAWN)
    wait.until(lambda d: chosen_by_click(d, f"hm_{view}_{chart}", MARKS[view, chart]))
    browser.get(browser.current_url)  # a fresh session: nothing but the address tells the head
    wait.until(lambda d: "layer 2, head 3" in d.find_element(By.TAG_NAME, "body").text)
    assert parameters(browser)["head"] == ["2-3"]


def chosen_by_click(browser: WebDriver, chart: str, told: str) -> bool:
    """Whether the address tells the head; until then, its mark is clicked."""
    if parameters(browser).get("head") == ["2-3"]:
        return True
    mark = browser.find_element(
        By.CSS_SELECTOR, f"[class*=st-key-{chart}] path[aria-label*='{told}']"
    )
    ActionChains(browser).move_to_element(mark).click().perform()
    return False
