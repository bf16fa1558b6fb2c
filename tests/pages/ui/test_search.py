"""The search box finds everything that has a place in the dashboard, with a link."""

import pytest

from tests.pages.conftest import assert_sound


@pytest.mark.parametrize(
    ("typed", "shown"),
    [("2-1", "layer 2, head 1"), ("mixing ratio", "Mixing ratio"), ("構文", "Syntax")],
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
