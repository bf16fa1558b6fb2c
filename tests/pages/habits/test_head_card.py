"""The card of a head is the same on every page, and gives reasons for missing facts."""

import re
from html import unescape

import pytest

from pages.ui.fact_grid import Fact
from pages.ui.head.card import PLACES as PLACES_OF_A_HEAD
from pages.ui.head.card import places
from pages.ui.head.facts import MIN_WORDS
from pages.ui.head.facts import facts as facts_of
from pages.ui.store.chosen import open_store
from pages.ui.words.numbers import percent
from pages.ui.words.say import plain
from tests.pages.conftest import assert_sound, bodies, in_address, sentences
from tests.pages.kit.copies import lacking
from tests.pages.kit.inquiries import inquiry
from tests.pages.test_overview import assert_section
from tests.small_images import SIZES
from tests.tiny_vision import COLUMNS

HABITS = {"hh_view": "one_head", "head": "2-3"}
POSITIONS = {"po_view": "one_head", "head": "2-3"}


def facts(session) -> dict[str, tuple[str, str]]:
    """Value and note by label, as the card writes them."""
    label, value, note = (f'<div class="facts-{part}">(.*?)</div>' for part in Fact.__annotations__)
    parts = re.findall(label + value + note, bodies(session))
    return {unescape(label): (unescape(value), unescape(note)) for label, value, note in parts}


def test_the_card_is_the_same_on_every_page(opened, store_folder, answers):
    card = facts(opened("habits", store_folder, **HABITS))
    assert len(card) == 7
    ((share,),) = answers(
        "select sum(weighted_norm) filter (head = 3) / sum(weighted_norm) "
        "from token_type_mixing where layer = 2 and head is not null"
    )
    assert card["share of its layer's norm"][0] == percent(share)
    ((rate, n),) = answers(
        "select avg((attention > 0.3)::int), count(*) from sequence_sink "
        "where place = 'first' and layer = 2 and head = 3"
    )
    value, note = card["texts in which it rests on the first token"]
    assert value == percent(rate)
    assert note.startswith(f"of {n} texts: the first token gets more than 30%")
    for label, needed in (("best relation", "trees"), ("antecedents found", "coreference")):
        value, note = card[label]
        assert value == "—", "plain texts have no relations"
        assert needed in note
    session = opened("positions", store_folder, **POSITIONS)
    assert_sound(session)
    assert facts(session) == card
    without = opened("layer_mixing", store_folder, lm_view="ratio", head="2-3")
    assert in_address(without, "head") == ["2-3"], "kept for the next section with heads"
    assert not facts(without)


def test_offset_and_bars_are_those_of_the_file(opened, store_folder, after):
    after(
        "update stored.head_offset set attention_offset = -2, dependence = 0.25 "
        "where layer = 2 and head = 3",
        "update stored.head_pattern set mean = 0.625 where quantity = 'next' and head = 3",
        "delete from stored.head_pattern where quantity = 'cls'",
    )
    session = opened("habits", store_folder, **HABITS)
    value, note = facts(session)["preferred offset"]
    assert value == "−2"
    assert "η² 0.25" in note
    assert "width: 62.5%" in bodies(session)
    assert "No such tokens or pairs here: [CLS]." in unescape(bodies(session))


def test_what_the_file_lacks_is_told_with_the_statistic(opened, changed):
    labels = {
        "token_type_mixing": "share of its layer's norm",
        "head_offset": "preferred offset",
        "head_pattern": "main habit",
    }
    folder = changed(*(statement for table in labels for statement in lacking(table)))
    card = facts(opened("positions", folder, **POSITIONS))
    for table, label in labels.items():
        value, note = card[label]
        assert value == "—"
        assert table in note


def fact(label: str) -> Fact:
    """Fact of a label on layer 2, head 3."""
    return next(entry for entry in facts_of(inquiry(), 2, 3) if entry.label == label)


def test_the_relation_is_the_one_furthest_above_its_offset(opened, treebank_folder, after_trees):
    after_trees(
        "update stored.dependency_accuracy set accuracy = 0.5, low = 0.4, high = 0.6, "
        f"n = {MIN_WORDS}",
        "update stored.dependency_baseline set accuracy = 0.5",
        "update stored.dependency_accuracy set accuracy = 0.9, relation = '<b>' "
        "where relation = 'det' and merging = 'mean' and layer = 2 and head = 3 "
        "and direction = 'dependent_to_head'",
        "update stored.dependency_baseline set relation = '<b>' where relation = 'det'",
    )
    session = opened("habits", treebank_folder, **HABITS)
    value, note = facts(session)["best relation"]
    assert value == "<b> 90%"
    assert "<b>" not in bodies(session)
    assert "[40%, 60%]" in note
    assert "the best fixed offset: 50%" in note
    assert "dependents attend to their head" in note


def test_the_reason_stands_where_an_accuracy_has_no_interval(after_trees):
    after_trees(
        f"update stored.dependency_accuracy set low = null, high = null, n = {MIN_WORDS}",
        "update stored.coreference_accuracy set low = null, high = null",
        "update stored.dependency_baseline set accuracy = 0",
    )
    for label in ("best relation", "antecedents found"):
        assert "[too few texts for an interval]" in fact(label).note


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            "update stored.dependency_accuracy set n = 1",
            f"no relation in the corpus has {MIN_WORDS}",
        ),
        ("update stored.dependency_baseline set accuracy = 1", "correct more often than the best"),
    ],
)
def test_no_relation_is_told_with_its_reason(change, expected, after_trees):
    after_trees(f"update stored.dependency_accuracy set n = {MIN_WORDS}", change)
    assert fact("best relation").value == "none"
    assert expected in fact("best relation").note


def test_on_images_it_leads_to_no_words_and_names_are_escaped(opened, images_folder):
    session = opened("habits", images_folder, **HABITS, hh_texts="5")
    hostile = next(name for name in SIZES if "<" in name)
    assert plain(hostile) in sentences(session)
    assert hostile not in sentences(session)
    assert bodies(session).count(f"repeat({COLUMNS}, 1fr)") == len(SIZES)
    led_to = {page for page, _ in places(open_store())}
    assert "positions" in led_to
    assert led_to.isdisjoint({"syntax", "coreference"})


def test_every_place_that_the_card_leads_to_is_there():
    for page, view in PLACES_OF_A_HEAD:
        assert_section(page, view)
