"""A reader finds the pairs they have in mind, with their sentences, in five clicks."""

from typing import Literal

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.kit.chromium import is_idle, needs_chromium, parameters, show_on, title_of

pytestmark = needs_chromium
CHOSEN = {"tp_layer": "2", "tp_direction": "attenuated", "tp_least": "3", "tp_special": "out"}
MARKED = "[data-testid=stMain] .an-text :is(.an-source, .an-target)[title]"


class Reader:
    """A reader with a mouse, whose clicks are counted."""

    def __init__(self, browser: WebDriver) -> None:
        self._browser, self.clicks = browser, 0

    def click(self, selector: str, *, along: float = 0.5) -> None:
        """Click on the first of what a selector finds, so far along it."""
        found = self._when_idle(selector)
        at = int((along - 0.5) * found.size["width"])
        ActionChains(self._browser).move_to_element_with_offset(found, at, 0).click().perform()
        self.clicks += 1

    def _when_idle(self, selector: str) -> WebElement:
        def found(driver: WebDriver) -> WebElement | Literal[False]:
            shown = driver.find_elements(By.CSS_SELECTOR, selector)
            return shown[0] if shown and is_idle(driver) else False

        return WebDriverWait(self._browser, 60).until(found)


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_the_pairs_of_a_layer_under_conditions_and_their_sentences(lang, server, browser):
    show_on(browser, 1280, 720)
    browser.get(f"{server}/token-pairs?lang={lang}")
    title_of(browser)
    reader = Reader(browser)
    reader.click(".st-key-tp_layer [role=group] > [data-orientation]", along=0.98)
    reader.click(".st-key-tp_direction [role=combobox]")
    reader.click("[role=option]:nth-of-type(3)")
    reader.click(".st-key-tp_least [data-testid=stNumberInputStepUp]")
    reader.click(".st-key-tp_special button[aria-checked=false]")
    wait = WebDriverWait(browser, 60)
    wait.until(
        lambda d: (
            {key: parameters(d).get(key) for key in CHOSEN}
            == {key: [value] for key, value in CHOSEN.items()}
        )
    )
    wait.until(lambda d: d.find_elements(By.CSS_SELECTOR, MARKED))
    assert reader.clicks == 5
