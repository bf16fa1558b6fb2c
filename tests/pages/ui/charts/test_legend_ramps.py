"""Ramps of colours in legends stay when a choice changes the address."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.kit.chromium import Patient, is_idle, needs_chromium, parameters, settled

pytestmark = needs_chromium
RAMP = "[data-testid=stVegaLiteChart] svg .role-legend-gradient path"
DRAWN = """
const here = location.href.replace(/#.*/, "");
return [...document.querySelectorAll(arguments[0])].map(ramp => {
    const [, address, id] = ramp.getAttribute("fill").match(/^url\\(([^#]*)#([^)]*)\\)$/);
    return ["", here].includes(address) && document.getElementById(id) !== null;
});
"""
"""Script: whether each ramp is filled by a gradient of the document at its present address."""


@pytest.mark.parametrize("address", ["attention-norms?an_view=heads", "head-map?hm_view=distances"])
def test_ramps_are_drawn_after_a_step_to_the_next_head_and_back(address, browser, server):
    browser.get(f"{server}/{address}&head=1-3")
    settled(browser, RAMP)
    wait = WebDriverWait(browser, 30)

    def all_are_drawn(driver: WebDriver) -> bool:
        ramps = driver.execute_script(DRAWN, RAMP)
        return is_idle(driver) and bool(ramps) and all(ramps)

    for step, head in (("after", "2-1"), ("after", "2-2"), ("before", "2-1")):
        button = f".st-key-head_{step} button"
        click = Patient(lambda d, button=button: d.find_element(By.CSS_SELECTOR, button).click())
        wait.until(lambda d, head=head, click=click: _head(d) == head or click(d))
        wait.until(all_are_drawn)
    browser.back()
    wait.until(lambda d: _head(d) == "2-2")
    wait.until(all_are_drawn)


def _head(browser: WebDriver) -> str:
    return parameters(browser).get("head", [""])[0]
