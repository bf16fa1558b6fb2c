"""A click on a cell in a real browser: the head is chosen, and its section opens on it."""

import pytest
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.chromium import needs_chromium, parameters, title_of

pytestmark = needs_chromium
REDRAWN = [NoSuchElementException, StaleElementReferenceException]


@pytest.mark.parametrize(
    ("view", "chart"),
    [("heads", "po_heads_grid"), ("heads", "po_heads_profiles"), ("claim", "po_claim_map")],
)
def test_a_click_on_a_head_chooses_it_and_a_button_opens_it(view, chart, server, browser):
    browser.get(f"{server}/positions?po_view={view}&head=1-1")
    title_of(browser)
    wait = WebDriverWait(browser, 30, ignored_exceptions=REDRAWN)
    wait.until(lambda d: click_cell(d, chart, 2, 3))
    wait.until(lambda d: parameters(d).get("head") == ["2-3"])
    wait.until(lambda d: opens(d, "Look into layer 2, head 3"))
    browser.get(browser.current_url)  # a fresh session: nothing but the address tells the head
    title = "One head, from its waves to its attention"
    wait.until(lambda d: title in d.find_element(By.TAG_NAME, "body").text)
    assert parameters(browser)["head"] == ["2-3"]


def click_cell(browser: WebDriver, chart: str, layer: int, head: int) -> bool:
    """Click a mark of a head; not there, or just redrawn, it is looked for again."""
    told = f"[aria-label*='layer: {layer};'][aria-label*='head: {head};']"
    cell = browser.find_element(By.CSS_SELECTOR, f"[class*=st-key-{chart}] path{told}")
    ActionChains(browser).move_to_element(cell).click().perform()
    return True


def opens(browser: WebDriver, label: str) -> bool:
    """Whether the section of one head is there; until then, the button to it is clicked."""
    if parameters(browser).get("po_view") == ["one_head"]:
        return True
    button = browser.find_element(By.XPATH, f"//button[contains(., '{label}')]")
    browser.execute_script("arguments[0].click()", button)
    return False
