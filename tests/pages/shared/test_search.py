"""The search box finds everything that has a place in the dashboard, with a link."""

import pytest

from analysis.contracts import every_table
from pages.kit import search
from pages.words.contracts import digest, japanese
from tests.pages.conftest import assert_sound


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("2-1", "layer 2, head 1"),
        ("mixing ratio", "Mixing ratio"),
        ("構文", "Syntax"),
        ("singular value", "stretches"),
    ],
)
def test_what_is_typed_leads_to_its_place(opened, store_folder, typed, shown):
    session = opened("methods", store_folder)
    session.text_input(key="search").set_value(typed).run()
    assert_sound(session)
    labels = [link.proto.label for link in session.get("page_link")]
    assert any(shown in label for label in labels)


def test_what_is_called_nothing_says_so_and_shows_as_it_is(opened, store_folder):
    session = opened("methods", store_folder)
    session.text_input(key="search").set_value("<script>$x$ no such thing").run()
    assert_sound(session)
    assert "Nothing is called that" in " ".join(
        caption.value for caption in session.sidebar.caption
    )


@pytest.mark.parametrize(
    ("typed", "page"),
    [
        ("entropy", "habits"),
        ("rollout", "layer_mixing"),
        ("spectrum", "positions"),
        ("singular values", "norms"),
        ("エントロピー", "habits"),
        ("特異値", "norms"),
        ("ロールアウト", "layer_mixing"),
    ],
)
def test_a_statistic_is_found_by_what_it_is_called(typed, page):
    assert page in {place.page for place in search._statistics(typed)}


@pytest.mark.parametrize("table", every_table(), ids=lambda table: table.name)
def test_every_name_of_the_contract_is_found_in_both_languages(table):
    for view in table.all_views:
        names = [view.name, *(column.name for column in view.columns)]
        meanings = [column.meaning for column in view.columns]
        meanings += [japanese()[digest(meaning)] for meaning in meanings]
        missing = [text for text in (*names, *meanings) if not any(search._statistics(text))]
        assert not missing
