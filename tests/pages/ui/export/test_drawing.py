"""Faults of a chart end only the process that draws it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from queue import LifoQueue

import pytest

import pages.ui
from pages.ui.export import drawing
from pages.ui.export.drawing import NotDrawn, svg_of
from pages.ui.limited_process.process import BoundedProcess, Limits
from tests.pages.kit.hostile_charts import ENDLESS, SOUND

PATIENT = Limits(seconds=60, memory=2**30, letters=2**20)


@pytest.fixture
def idle(monkeypatch) -> Iterator[LifoQueue[BoundedProcess | None]]:
    """The one process that draws."""
    kept: LifoQueue[BoundedProcess | None] = LifoQueue()
    kept.put(None)
    monkeypatch.setattr(drawing, "_idle", kept)
    monkeypatch.setattr(drawing, "LIMITS", PATIENT)
    yield kept
    if process := kept.get():
        process.close()


def test_a_chart_that_goes_on_ends_its_own_process_and_the_next_is_drawn(idle, monkeypatch):
    monkeypatch.setattr(drawing, "LIMITS", replace(PATIENT, seconds=1.0))
    with pytest.raises(NotDrawn, match="slow"):
        svg_of(ENDLESS["a sequence"][0])
    monkeypatch.setattr(drawing, "LIMITS", PATIENT)
    assert svg_of(SOUND).startswith("<svg")


@pytest.mark.slow
def test_a_chart_that_takes_all_memory_ends_its_own_process(idle):
    with pytest.raises(NotDrawn, match="ended"):
        svg_of(ENDLESS["a wide chart"][0])
    assert svg_of(SOUND).startswith("<svg")


def test_a_process_is_kept_for_the_next_chart_also_after_one_that_is_none(idle):
    svg_of(SOUND)
    [process] = idle.queue
    with pytest.raises(NotDrawn, match="TypeError"):
        svg_of({"mark": 3})
    assert svg_of(SOUND)
    assert [*idle.queue] == [process]
    assert process.is_alive


def test_a_process_that_ended_meanwhile_and_a_large_drawing_cost_no_chart(idle, monkeypatch):
    svg_of(SOUND)
    [process] = idle.queue
    process.close()
    monkeypatch.setattr(drawing, "_LARGE", 10)
    assert svg_of(SOUND)
    assert [*idle.queue] == [None]


def test_no_page_draws_by_itself():
    sources = Path(pages.ui.__file__).parents[1].rglob("*.py")
    drawing = [path.name for path in sources if "import vl_convert" in path.read_text()]
    assert drawing == ["renderer.py"]


def test_a_drawing_of_too_many_letters_is_none(idle, monkeypatch):
    monkeypatch.setattr(drawing, "LIMITS", replace(PATIENT, letters=100))
    with pytest.raises(NotDrawn, match="large"):
        svg_of(SOUND)
