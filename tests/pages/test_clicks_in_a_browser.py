"""A click in a real browser chooses what was clicked, and a fresh session shows it again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

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


def test_the_arcs_of_a_sentence_are_drawn(go, browser):
    wait = go("syntax?sy_view=sentences&sy_relation=det&head=2-3")
    arcs = "[aria-label^='Does L2·H3 point to the governor?'] svg .mark-line path"
    wait.until(lambda d: d.find_elements(By.CSS_SELECTOR, arcs))


def test_a_patch_tells_its_place_and_its_value_and_a_click_chooses_its_head(go, browser):
    wait = go("relevance?re_view=map&re_head=1")
    cell = "[class*=st-key-re_map_grid] " + mark("map: iv · 2;", "row: 3;", "column: 4;")

    def pointed_at(driver: WebDriver) -> str:
        """Tooltip of the pointed cell, once charts above that come later have stopped moving it."""
        title = driver.find_element(By.TAG_NAME, "h1")
        target = driver.find_element(By.CSS_SELECTOR, cell)
        ActionChains(driver).move_to_element(title).move_to_element(target).perform()
        return driver.find_element(By.CSS_SELECTOR, "#vg-tooltip-element.visible").text

    shown = wait.until(pointed_at)
    for words in ("iv · 2", "row", "column", "share of all relevance", "times the even share"):
        assert words in shown
    choose = Click("", "re_map_grid", mark("map: iv · 2;", "row: 3;", "column: 4;")).choose
    wait.until(until_address_has({"re_head": "2"}, choose))


def test_a_cell_of_all_layers_opens_its_pair_in_the_same_window(go, browser):
    wait = go("token-pairs?lang=ja&tp_view=tables&tp_effect=ff_res&tp_least=3")
    cell = Click("", "tp_tables_amplified", ".mark-rect path[aria-label*=' → ']")
    wait.until(until_address_has({"tp_view": "workbench"}, cell.choose))
    ((source,), (target,)) = (parameters(browser)[f"tp_{side}"] for side in ("source", "target"))
    asked = f"{source} → {target} は各層でどれだけ変わるか"
    wait.until(lambda d: asked in [heading.text for heading in d.find_elements(By.TAG_NAME, "h3")])
    assert address_has(browser, {"lang": "ja", "tp_effect": "ff_res", "tp_least": "3"})
    assert len(browser.window_handles) == 1


def test_a_name_opens_its_pair_and_again_after_back(go, browser):
    wait = go("token-pairs?tp_view=workbench&tp_layer=2")

    def open_pair(place: int) -> dict[str, str]:
        """Click at the left end of a row, on the pair's name; return its tokens."""
        cell = f"[class*=st-key-tp_workbench_pairs] .mark-rect {mark(f'place: {place};')}"

        def pair(driver: WebDriver) -> list[str] | None:
            """Tokens of the row, once it has its label."""
            label = driver.find_element(By.CSS_SELECTOR, cell).accessible_name
            return (
                label.split("pair: ")[1].split(";")[0].split(" → ") if "pair: " in label else None
            )

        source, target = wait.until(pair)
        tokens: dict[str, str] = {"tp_source": source, "tp_target": target}

        def click(driver: WebDriver) -> None:
            row = driver.find_element(By.CSS_SELECTOR, cell)
            at = int(12 - row.size["width"] / 2)
            ActionChains(driver).move_to_element_with_offset(row, at, 0).click().perform()

        wait.until(until_address_has(tokens, click))
        return tokens

    first, second = open_pair(3), open_pair(5)
    browser.back()
    wait.until(lambda d: address_has(d, first))
    assert open_pair(5) == second


def act(wait: WebDriverWait, selector: str, along: float, shows: str, chosen: dict) -> None:
    """Click so far along an element until something is shown and the address has choices.

    A click that is lost, since the page was drawn anew beneath it, is made again.
    """

    def click(driver: WebDriver) -> None:
        target = driver.find_element(By.CSS_SELECTOR, selector)
        at = int((along - 0.5) * target.size["width"])
        ActionChains(driver).move_to_element_with_offset(target, at, 0).click().perform()

    patient = Patient(click)

    def is_done(driver: WebDriver) -> bool:
        is_shown = not shows or bool(driver.find_elements(By.CSS_SELECTOR, shows))
        return (address_has(driver, chosen) and is_shown) or bool(patient(driver))

    wait.until(lambda d: d.find_elements(By.CSS_SELECTOR, selector) and is_idle(d))
    wait.until(is_done)


SECOND = "[role=option]:nth-of-type(2)"
MARKED = "[data-testid=stMain] .an-text :is(.an-source, .an-target)[title]"


@pytest.fixture
def low_screen(browser) -> Iterator[None]:
    show_on(browser, 1280, 720)
    yield
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_six_clicks_lead_to_pairs_under_conditions_and_their_sentences(go, low_screen):
    wait = go("token-pairs?lang=ja")
    for selector, along, shows, chosen in (
        (".st-key-tp_layer [role=combobox]", 0.5, SECOND, {}),
        (SECOND, 0.5, "", {"tp_layer": "2"}),
        (".st-key-tp_direction [role=combobox]", 0.5, SECOND, {}),
        (SECOND, 0.5, "", {"tp_direction": "attenuated"}),
        (".st-key-tp_least [data-testid=stNumberInputStepUp]", 0.5, "", {"tp_least": "3"}),
        (".st-key-tp_special button[aria-checked=false]", 0.5, "", {"tp_special": "out"}),
    ):
        act(wait, selector, along, shows, chosen)
    wait.until(lambda d: d.find_elements(By.CSS_SELECTOR, MARKED))
