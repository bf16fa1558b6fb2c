"""Clicks in a real browser: on a point, on a cell and on a row; the card and the address follow."""

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
    [
        ("layers", "hh_layers"),
        ("breadth", "hh_breadth"),
        ("gradients", "hh_gradients"),
        ("heads", "hh_heads_map"),
    ],
)
def test_a_click_on_a_head_opens_its_card(view, chart, server, browser):
    browser.get(f"{server}/head-habits?hh_view={view}&head=1-1")
    title_of(browser)
    wait = WebDriverWait(browser, 30, ignored_exceptions=REDRAWN)
    wait.until(lambda d: click_head(d, chart, 2, 3))
    wait.until(lambda d: parameters(d).get("head") == ["2-3"])
    wait.until(lambda d: "layer 2, head 3" in title_of_card(d))


def test_the_card_leads_to_the_same_head_on_another_page(server, browser):
    browser.get(f"{server}/head-habits?hh_view=one_head&head=2-3")
    title_of(browser)
    wait = WebDriverWait(browser, 30, ignored_exceptions=REDRAWN)
    link = "//a[contains(., 'Tokens, by weight and norm')]"
    wait.until(lambda d: d.find_element(By.XPATH, link)).click()
    wait.until(lambda d: "/attention-norms" in d.current_url)
    wait.until(lambda d: "layer 2, head 3" in title_of_card(d))


def title_of_card(browser: WebDriver) -> str:
    return browser.find_element(By.CSS_SELECTOR, ".hc-title").text


def click_head(browser: WebDriver, chart: str, layer: int, head: int) -> bool:
    """Click a mark of a head; not there, or just redrawn, it is looked for again."""
    told = f"[aria-label*='layer: {layer};'][aria-label*='head: {head};']"
    mark = browser.find_element(By.CSS_SELECTOR, f"[class*=st-key-{chart}] path{told}")
    ActionChains(browser).move_to_element(mark).click().perform()
    return True
