"""The search box finds everything that has a place in the dashboard, with a link that opens."""

import pytest

from analysis.contracts import every_table
from pages.kit import search
from pages.services.inquiry import Inquiry
from pages.services.open_file import described, version_of
from pages.words.contracts import digest, japanese, parts_of
from tests.pages.conftest import assert_sound, in_address


@pytest.fixture(params=["store_folder"])
def folder(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def inquiry(folder) -> Inquiry:
    return Inquiry(described(version_of(folder / "tiny.duckdb")))


HEAD = ("2-1", "L2H1", "L2·H1", "l2h1", "layer 2 head 1", "層2ヘッド1", "第2層ヘッド1", "２－１")


@pytest.mark.parametrize("typed", HEAD)
def test_a_head_is_found_in_every_spelling(inquiry, typed):
    assert {"he_view": "profile", "head": "2-1"} in [
        place.choices for place in search.places(inquiry, typed)
    ]


KINDS = [
    ("store_folder", "dog ran", "token_pairs", {"tp_source": "dog", "tp_target": "ran"}),
    ("store_folder", "山本", "papers", {"pa_view": "yamamoto-2023"}),
    ("store_folder", "Clark figure 1", "habits", {"hh_quantity": ["next", "previous"]}),
    ("store_folder", "小林 Fig. 3", "norms", {"an_view": "relation"}),
    ("treebank_folder", "限定詞", "syntax", {"sy_relation": "det"}),
    ("store_folder", "schema_version", "query", {"qu_of": "run"}),
    ("store_folder", "the dog", "sequences", {}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "typed", "page", "chosen"), KINDS, indirect=["folder"], ids=str)
def test_what_is_found_opens(folder, inquiry, opened, typed, page, chosen):
    place = next(
        place
        for place in search.places(inquiry, typed)
        if place.page == page and chosen.items() <= place.choices.items()
    )
    session = opened(page, folder, **place.choices)
    assert_sound(session)
    assert not [*session.toast, *session.error, *session.warning]
    for key, names in place.choices.items():
        options = [names] if isinstance(names, str) else names
        assert set(in_address(session, key) or [str(session.session_state[key])]) <= set(options)


def test_the_box_shows_links(opened, store_folder):
    session = opened("methods", store_folder)
    session.text_input(key="search").set_value("singular value").run()
    assert_sound(session)
    assert "→ singular value" in [link.proto.label for link in session.get("page_link")]
    assert any("stretches" in caption.value for caption in session.sidebar.caption)


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
def test_a_statistic_is_found_by_what_it_is_called(inquiry, typed, page):
    entries = search.matching(search._statistics(inquiry), typed)
    assert page in {place.choices.get("me_page") for place in entries}


def test_relations_are_those_of_the_open_file(inquiry):
    assert not [place for place in search._relations(inquiry) if "sy_relation" in place.choices]


@pytest.mark.parametrize("table", every_table(), ids=lambda table: table.name)
def test_every_name_of_the_contract_is_found_in_both_languages(inquiry, table):
    entries = [place for place in search._statistics(inquiry) if table.name in place.shown]
    for view in table.all_views:
        names = [view.name, *(column.name for column in view.columns)]
        meanings = [column.definition for column in view.columns]
        meanings += [japanese()[digest(part)] for of in meanings for part in parts_of(of)]
        texts = (*names, *meanings)
        assert not [text for text in texts if not search.matching(entries, text)]
    assert not search.matching(entries, "nosuchname")
