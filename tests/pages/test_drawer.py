"""Way from a finding to a head and on to its sentence, in two clicks and without scrolling."""

from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.kit.chromium import Patient, needs_chromium, parameters, show_on, title_of

pytestmark = needs_chromium
MARK = "[class*=st-key-hh_heads_map] path[aria-label^='head: 3; layer: 2;']"
CARD = ".st-key-head_drawer button"
IN_SIGHT = """
const text = document.querySelector("[role=dialog] .an-text");
const {top, bottom} = text?.getBoundingClientRect() ?? {};
const scrolled = document.querySelector("[data-testid=stMain]").scrollTop;
return top > 0 && bottom < innerHeight && !scrolled;
"""


def test_a_head_of_a_map_leads_to_its_sentence(server, browser: WebDriver):
    show_on(browser, 1280, 720)
    browser.get(f"{server}/head-habits?hh_view=heads&head=1-1&lang=en")
    title_of(browser)
    wait = WebDriverWait(browser, 60)
    wait.until(lambda d: parameters(d).get("head") == ["2-3"] or choose(d))
    wait.until(lambda d: d.find_elements(By.CSS_SELECTOR, "[role=dialog]") or open_card(d))
    wait.until(lambda d: d.execute_script(IN_SIGHT))


@Patient
def choose(browser: WebDriver) -> None:
    for target in browser.find_elements(By.CSS_SELECTOR, MARK)[:1]:
        ActionChains(browser).move_to_element(target).click().perform()


@Patient
def open_card(browser: WebDriver) -> None:
    browser.find_element(By.CSS_SELECTOR, CARD).click()
