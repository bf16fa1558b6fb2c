"""Clicks in a real browser: a head on the map of heads, and a relation among the best heads."""

import pytest
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.chromium import needs_chromium, parameters, title_of

pytestmark = needs_chromium
REDRAWN = [NoSuchElementException, StaleElementReferenceException]


@pytest.fixture
def wait(browser) -> WebDriverWait:
    return WebDriverWait(browser, 30, ignored_exceptions=REDRAWN)


def test_a_click_on_a_cell_chooses_the_head_and_a_button_shows_its_sentences(server, browser, wait):
    browser.get(f"{server}/syntax?sy_view=heads&sy_relation=det&head=1-1")
    title_of(browser)
    cell = "[aria-label*='layer: 2;'][aria-label*='head: 3;']"
    wait.until(lambda d: click(d, f"[class*=st-key-sy_heads_map] path{cell}"))
    wait.until(lambda d: parameters(d).get("head") == ["2-3"])
    wait.until(lambda d: opens(d, "Example sentences"))
    wait.until(lambda d: "Does layer 2, head 3 point to" in body(d))
    arcs = "[aria-label='Does layer 2, head 3 point to the governor of det?'] svg .mark-line path"
    wait.until(lambda d: d.find_elements(By.CSS_SELECTOR, arcs))
    assert parameters(browser)["sy_relation"] == ["det"]


@pytest.mark.parametrize(
    ("view", "figure", "shown"),
    [("relations", "rows", "並列の2番目以降の要素"), ("one_head", "accuracies", "conj · 並列要素")],
)
def test_a_click_on_a_relation_chooses_it(view, figure, shown, server, browser, wait):
    browser.get(f"{server}/syntax?sy_view={view}&sy_least=1&lang=ja")
    title_of(browser)
    point = "path[aria-label*='conj · 並列要素']"
    wait.until(lambda d: click(d, f"[class*=st-key-sy_{view}_{figure}] .mark-symbol {point}"))
    wait.until(lambda d: parameters(d).get("sy_relation") == ["conj"])
    wait.until(lambda d: shown in body(d))
    assert ("head" in parameters(browser)) == (view == "one_head"), "a click keeps the head shown"


def click(browser: WebDriver, selector: str) -> bool:
    """Click what is there first; not there, or just redrawn, it is looked for again."""
    found = browser.find_element(By.CSS_SELECTOR, selector)
    ActionChains(browser).move_to_element(found).click().perform()
    return True


def opens(browser: WebDriver, label: str) -> bool:
    """Whether the section of sentences is there; until then, the button to it is clicked."""
    if parameters(browser).get("sy_view") == ["sentences"]:
        return True
    button = browser.find_element(By.XPATH, f"//button[contains(., '{label}')]")
    browser.execute_script("arguments[0].click()", button)
    return False


def body(browser: WebDriver) -> str:
    return browser.find_element(By.TAG_NAME, "body").text
