"""A click on a cell of the matrix in a real browser: its two scopes are compared right below."""

from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.chromium import needs_chromium, parameters, title_of

pytestmark = needs_chromium
REDRAWN = [NoSuchElementException, StaleElementReferenceException]


def test_a_click_on_a_number_compares_the_scopes_of_its_cell(server, browser):
    browser.get(f"{server}/layer-mixing?lm_view=similarity")
    title_of(browser)
    wait = WebDriverWait(browser, 30, ignored_exceptions=REDRAWN)
    wait.until(lambda d: click_cell(d, "Attn-w", "AttnResLnFfResLn"))
    title = "Where do Attn-w and AttnResLnFfResLn agree least?"
    wait.until(lambda d: title in d.find_element(By.TAG_NAME, "body").text)
    wait.until(lambda d: parameters(d).get("lm_scope_a") == ["attn_w"])
    assert parameters(browser)["lm_scope_b"] == ["attn_res_ln_ff_res_ln"]
    browser.get(browser.current_url)  # a fresh session: nothing but the address tells the scopes
    wait.until(lambda d: title in d.find_element(By.TAG_NAME, "body").text)


def click_cell(browser: WebDriver, one: str, other: str) -> bool:
    """Click the number in a cell; not there, or just redrawn, it is looked for again."""
    label = f"[aria-label^='compared with: {other}; scope: {one};']"
    number = f"[class*=st-key-lm_similarity] [aria-roledescription='text mark']{label}"
    cell = browser.find_element(By.CSS_SELECTOR, number)
    ActionChains(browser).move_to_element(cell).click().perform()
    return True
