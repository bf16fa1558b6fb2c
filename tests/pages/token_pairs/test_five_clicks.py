"""A reader finds the pairs they have in mind, with their sentences, in five clicks."""

import pytest
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.kit.chromium import (
    Patient,
    is_idle,
    needs_chromium,
    parameters,
    show_on,
    title_of,
)

pytestmark = needs_chromium
REDRAWN = [NoSuchElementException, StaleElementReferenceException]
OPTION = "[role=option]:nth-of-type(3)"
MARKED = "[data-testid=stMain] .an-text :is(.an-source, .an-target)[title]"


class Reader:
    """A reader with a mouse, whose clicks are counted.

    A click that is lost, since the page was drawn anew beneath it, is made again and counts once.
    """

    def __init__(self, browser: WebDriver) -> None:
        self._browser, self.clicks = browser, 0
        self._wait = WebDriverWait(browser, 60, ignored_exceptions=REDRAWN)

    def click(self, selector: str, *, along: float = 0.5, shows: str = "", **chosen: str) -> None:
        """Click on the first of what a selector finds, so far along it.

        Args:
            shows: what is there after it.
            chosen: what the address says after it.
        """

        def click(driver: WebDriver) -> None:
            target = driver.find_element(By.CSS_SELECTOR, selector)
            at = int((along - 0.5) * target.size["width"])
            ActionChains(driver).move_to_element_with_offset(target, at, 0).click().perform()

        patient = Patient(click)

        def is_done(driver: WebDriver) -> bool:
            address = {key: parameters(driver).get(key) for key in chosen}
            if address == {key: [value] for key, value in chosen.items()} and (
                not shows or driver.find_elements(By.CSS_SELECTOR, shows)
            ):
                return True
            return bool(patient(driver))

        self._wait.until(lambda d: d.find_elements(By.CSS_SELECTOR, selector) and is_idle(d))
        self._wait.until(is_done)
        self.clicks += 1


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_the_pairs_of_a_layer_under_conditions_and_their_sentences(lang, server, browser):
    show_on(browser, 1280, 720)
    browser.get(f"{server}/token-pairs?lang={lang}")
    title_of(browser)
    reader = Reader(browser)
    reader.click(".st-key-tp_layer [role=group] > [data-orientation]", along=0.98, tp_layer="2")
    reader.click(".st-key-tp_direction [role=combobox]", shows=OPTION)
    reader.click(OPTION, tp_direction="attenuated")
    reader.click(".st-key-tp_least [data-testid=stNumberInputStepUp]", tp_least="3")
    reader.click(".st-key-tp_special button[aria-checked=false]", tp_special="out")
    WebDriverWait(browser, 60).until(lambda d: d.find_elements(By.CSS_SELECTOR, MARKED))
    assert reader.clicks == 5
