"""Model families in the documentation agree with their table in the code."""

from pathlib import Path

import pytest
from analysis.models.adapter import ADAPTERS

from analysis.families import FAMILIES, Family
from pages.ui.words.say import catalogue
from tests.tiny import TINY, tiny_model

ROOT = Path(__file__).parents[2]


def row(family: Family) -> str:
    """A line of the table of models in the documentation."""
    words = catalogue()
    orders = ", ".join(words[f"order.{order.name}"]["en"] for order in family.orders)
    cells = (", ".join(family.names), family.reads, orders, words[f"family.{family.stem}"]["en"])
    return f"| {' | '.join(cells)} |"


def test_every_family_that_is_read_is_in_the_table_once():
    types = [model_type for family in FAMILIES for model_type in family.types]
    assert len(types) == len(set(types))
    assert set(types) == set(ADAPTERS)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.stem)
def test_layers_have_the_order_that_the_table_says(family):
    for model_type in family.types:
        if model_type in TINY:
            assert tiny_model(model_type).layers[0].order in family.orders


def test_the_guide_to_running_has_the_table():
    text = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    head = "| models | read | order of a layer | what is particular, and what is refused |"
    table = "\n".join([head, "| --- | --- | --- | --- |", *map(row, FAMILIES)])
    assert table in text, table


def test_the_first_page_names_them_all():
    names = ", ".join(name for family in FAMILIES for name in family.names)
    assert f"Models: {names};" in (ROOT / "README.md").read_text(encoding="utf-8")
