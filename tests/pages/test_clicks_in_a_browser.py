"""A click in a real browser chooses what was clicked, and a fresh session shows it again."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.kit.chromium import (
    Patient,
    needs_chromium,
    parameters,
    title_of,
)

pytestmark = needs_chromium
REDRAWN = [NoSuchElementException, StaleElementReferenceException]
SHOWN = """
const values = [...document.querySelectorAll("[role=combobox]")].map(each => each.value ?? "");
return [document.body.innerText, ...values].some(each => each.includes(arguments[0]));
"""


def mark(*words: str) -> str:
    """Selector of a mark of a chart by words of its accessible label."""
    return "path" + "".join(f"[aria-label*='{word}']" for word in words)


@dataclass(frozen=True)
class Click:
    """A click on a mark of a chart, then on a button if there is one, with the expected result."""

    address: str
    chart: str
    mark: str = mark("layer: 2;", "head: 3;")
    chosen: dict[str, str] = field(default_factory=lambda: {"head": "2-3"})
    button: str = ""
    opened: dict[str, str] = field(default_factory=dict)
    shown: str = "L2·H3"

    def choose(self, browser: WebDriver) -> None:
        target = browser.find_element(By.CSS_SELECTOR, f"[class*=st-key-{self.chart}] {self.mark}")
        ActionChains(browser).move_to_element(target).click().perform()

    def open(self, browser: WebDriver) -> None:
        button = browser.find_element(By.XPATH, f"//button[contains(., '{self.button}')]")
        browser.execute_script("arguments[0].click()", button)

    def is_shown(self, browser: WebDriver) -> bool:
        """Return True if the result can be read, in a text or as the value of a picker."""
        return browser.execute_script(SHOWN, self.shown)


def until_address_has(
    expected: dict[str, str], click: Callable[[WebDriver], None]
) -> Callable[..., bool]:
    """Condition that the address has these choices; clicks until it holds."""
    patient = Patient(click)

    def is_chosen(browser: WebDriver) -> bool:
        return address_has(browser, expected) or bool(patient(browser))

    return is_chosen


def address_has(browser: WebDriver, expected: dict[str, str]) -> bool:
    """Return True if the address has these choices."""
    return all(parameters(browser).get(key) == [value] for key, value in expected.items())


OF_MAP = mark("layer: 2; head: 3")
CLICKS = [
    Click("head-map?hm_view=groups&head=1-1", "hm_groups_plane", OF_MAP),
    Click(
        "layer-mixing?lm_view=similarity",
        "lm_similarity",
        "[aria-roledescription='text mark']"
        "[aria-label^='compared with: whole layer; counted up to: after the residual;']",
        {"lm_scope_a": "attn_res", "lm_scope_b": "attn_res_ln_ff_res_ln"},
        shown="Where do “after the residual” and “whole layer” agree least?",
    ),
    Click("positions?po_view=content&head=1-1", "po_content_grid"),
    Click(
        "sequences?seq_view=map",
        "seq_map_panels",
        "[aria-label*='takes: 3;'][aria-label*='is taken from: 0;']",
        {"seq_token": "3"},
        shown="take from others, layer by layer?",
    ),
    Click(
        "syntax?sy_view=relations&sy_chosen_on=all&sy_least=1&lang=ja",
        "sy_relations_rows",
        ".mark-symbol " + mark("conj · 並列要素"),
        {"sy_relation": "conj"},
        shown="conj · 並列要素",
    ),
]


@pytest.fixture
def go(request, servers, browser):
    """Open an address on the files that suit the page; return a wait on the browser."""

    def open_page(address: str) -> WebDriverWait:
        page = address.partition("?")[0]
        name = {"relevance": "images", "coreference": "treebank", "syntax": "treebank"}.get(page)
        folder = request.getfixturevalue(f"{name or 'store'}_folder")
        browser.get(f"{servers(folder)}/{address}")
        title_of(browser)
        return WebDriverWait(browser, 60, ignored_exceptions=REDRAWN)

    return open_page


@pytest.mark.parametrize("click", CLICKS, ids=lambda click: click.chart)
def test_a_click_chooses_and_a_fresh_session_shows_it_again(click, go, browser):
    wait = go(click.address)
    wait.until(until_address_has(click.chosen, click.choose))
    wait.until(until_address_has(click.opened, click.open))
    wait.until(click.is_shown)
    browser.get(browser.current_url)  # nothing but the address tells what was chosen
    wait.until(click.is_shown)
    assert address_has(browser, click.chosen | click.opened)


def test_a_cell_of_all_layers_opens_its_pair_in_the_same_window(go, browser):
    wait = go("token-pairs?lang=ja&tp_view=tables&tp_effect=ff_res&tp_least=3")
    cell = Click("", "tp_tables_amplified", ".mark-rect path[aria-label*=' → ']")
    wait.until(until_address_has({"tp_view": "workbench"}, cell.choose))
    ((source,), (target,)) = (parameters(browser)[f"tp_{side}"] for side in ("source", "target"))
    asked = f"{source} → {target} は各層でどれだけ変わるか"
    wait.until(lambda d: asked in [heading.text for heading in d.find_elements(By.TAG_NAME, "h3")])
    assert address_has(browser, {"lang": "ja", "tp_effect": "ff_res", "tp_least": "3"})
    assert len(browser.window_handles) == 1
