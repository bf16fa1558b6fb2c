"""Every view of every section fits on a slide, at both sizes of a projector."""

from typing import Any

import pytest

from pages.drawn import shading
from pages.export.item import item_of
from pages.kit.page import _content_of
from pages.kit.presentation import _STYLE, MOST_ROWS, _slide
from tests.pages.kit.chromium import needs_chromium, show_on
from tests.pages.test_running_a_section import SECTIONS, run, shown_in  # noqa: F401

pytestmark = needs_chromium
SMALLEST, LOWEST = 16, 200  # pixels of a list's letters, and of the room of a view
FAULTS = """
const [rows, smallest, lowest] = arguments, faults = [];
for (const slide of document.querySelectorAll(".slide")) {
  const box = slide.getBoundingClientRect(), title = slide.querySelector("h1");
  const note = (fault, of) => faults.push(`${title.textContent}: ${fault} ${of ?? ""}`);
  if (Math.abs(box.width / box.height - 16 / 9) > 0.01) note("is no 16:9");
  const parts = [...slide.querySelectorAll("h1, .shown, .more, .source, img, table")];
  for (const part of parts) {
    const {left, right, top, bottom} = part.getBoundingClientRect();
    const fits = left >= box.left && right <= box.right && top >= box.top && bottom <= box.bottom;
    if (!fits) note("has no room for", part.outerHTML.slice(0, 40));
  }
  const line = parseFloat(getComputedStyle(title).lineHeight);
  if (title.clientHeight > 2 * line + 2) note("has a long headline");
  const source = slide.querySelector(".source");
  if (source.clientHeight > 2 * parseFloat(getComputedStyle(source).fontSize)) note("long source");
  const shown = slide.querySelector(".shown").clientHeight;
  if (shown < lowest) note("leaves little room", shown);
  const body = slide.querySelectorAll("tbody tr"), cell = slide.querySelector("td");
  if (body.length > rows) note("has a long list", body.length);
  if (cell && parseFloat(getComputedStyle(cell).fontSize) < smallest) note("has small letters");
}
return [document.querySelectorAll(".slide").length, faults];
"""


@pytest.mark.parametrize(("page", "section"), SECTIONS)
def test_every_view_fits(page, section, run, browser, tmp_path):  # noqa: F811
    views: list[Any] = [view for view in shown_in(run(page, section)) if hasattr(view, "shown")]
    still = [view for view in views if not callable(getattr(view, "body", ""))]
    slides = "".join(_slide(item_of(_content_of(view, None))) for view in still)
    path = tmp_path / "slides.html"
    markup = f"<!doctype html><meta charset='utf-8'>{_STYLE}{shading.STYLE}{slides}"
    path.write_text(markup, encoding="utf-8")
    browser.get(path.as_uri())
    try:
        for width, height in ((1280, 720), (1920, 1080)):
            show_on(browser, width, height)
            given = (MOST_ROWS, SMALLEST, LOWEST)
            assert browser.execute_script(FAULTS, *given) == [len(still), []], (width, height)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
