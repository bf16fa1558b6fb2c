"""A click on the map in a real browser: the head is chosen, and the button opens its texts."""

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.chromium import needs_chromium, parameters, title_of
from tests.pages.positions.test_clicks_in_a_browser import REDRAWN, click_cell

pytestmark = needs_chromium


def test_a_click_on_a_head_chooses_it_and_a_button_opens_its_texts(server, browser):
    browser.get(f"{server}/coreference?co_view=heads&head=1-1")
    title_of(browser)
    wait = WebDriverWait(browser, 30, ignored_exceptions=REDRAWN)
    wait.until(lambda d: click_cell(d, "co_heads_map", 2, 3))
    wait.until(lambda d: parameters(d).get("head") == ["2-3"])
    wait.until(lambda d: opens(d))
    browser.get(browser.current_url)  # a fresh session: nothing but the address tells the head
    told = "layer 2, head 3 is right about"
    wait.until(lambda d: told in d.find_element(By.TAG_NAME, "body").text)
    assert parameters(browser)["head"] == ["2-3"]


def opens(browser) -> bool:
    """Whether the section on texts is there; until then, the button to it is clicked."""
    if parameters(browser).get("co_view") == ["documents"]:
        return True
    label = "See what layer 2, head 3 picks"
    button = browser.find_element(By.XPATH, f"//button[contains(., '{label}')]")
    browser.execute_script("arguments[0].click()", button)
    return False
