"""Methods explains every statistic, and the search box finds all that has a place."""

from pathlib import Path

import pytest

from analysis.contracts import every_table
from pages.kit import search
from pages.kit.sections import sections_with
from pages.kit.statistic_method import methods
from pages.kit.table_documentation import citation
from pages.services.inquiry import Inquiry
from pages.services.open_file import described, version_of
from pages.words.contracts import digest, japanese, parts_of
from pages.words.say import catalogue
from precompute.passes import STATISTICS
from tests.pages.conftest import assert_sound, in_address, sentences

NO_SECTION = {"massive_activation", "offset_term", "head_distance_agreement"}
"""Statistics whose numbers the file has and no section shows."""


@pytest.mark.slow
@pytest.mark.parametrize("name", methods())
def test_every_entry_opens_without_any_file_with_its_formulas_tables_laws_and_sections(
    name, opened, tmp_path
):
    method = methods()[name]
    session = opened("methods", tmp_path, me_page=method.page, me_entry=name)
    assert_sound(session)
    written, captions = sentences(session), "\n".join(text.value for text in session.caption)
    assert all(f"$$\n{formula.strip()}\n$$" in written for formula in method.formulas)
    views = [view for table in method.tables for view in table.all_views]
    assert all(f"**`{view.name}`**" in written for view in views)
    assert all(law in captions for table in method.tables for law in table.laws)
    assert all(citation(table.source) in captions for table in method.tables)
    places = [
        "→ "
        + ": ".join(catalogue()[key]["en"] for key in (f"page.{at}.title", f"{at}.view_{view}"))
        for at, view in sections_with(method.tables)
    ]
    links = [link.proto.label for link in session.get("page_link")]
    assert places == [label for label in links if label.startswith("→")]
    assert bool(places) == (bool(method.tables) and name not in NO_SECTION)


def test_every_statistic_is_explained():
    explained = {table.name for method in methods().values() for table in method.tables}
    assert explained == {statistic.name for statistic in STATISTICS.values()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reading", "lang", "expected"),
    [
        ("found", "en", "read in this way. Each part differs from the model's own by at most 2.5"),
        (
            "code",
            "ja",
            "モジュールの名前に基づいて読み取りました。各部分とモデル",
        ),
    ],
)
def test_the_reading_of_the_open_file_is_told(changed, opened, reading, lang, expected):
    value = "update stored.provenance set value = '{}' where name = '{}'".format
    folder = changed(value("2.5e-06", "proof_sum"), value(reading, "reading"))
    text = sentences(opened("methods", folder, lang=lang, me_entry="models"))
    assert expected in text
    assert "2.5·10⁻⁶" in text


def inquiry_of(folder: Path) -> Inquiry:
    return Inquiry(described(version_of(folder / "tiny.duckdb")))


@pytest.mark.parametrize("typed", ["2-1", "L2H1", "l2·h1", "第2層ヘッド1", "２－１"])
def test_a_head_is_found_in_every_spelling(typed, treebank_folder):
    found = [place.choices for place in search.places(inquiry_of(treebank_folder), typed)]
    assert {"he_view": "profile", "head": "2-1"} in found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "page", "chosen"),
    [
        ("dog ran", "token_pairs", {"tp_source": "dog", "tp_target": "ran"}),
        ("山本", "papers", {"pa_view": "yamamoto-2023"}),
        ("Clark figure 1", "habits", {"hh_quantity": ["next", "previous"]}),
        ("限定詞", "syntax", {"sy_relation": "det"}),
        ("schema_version", "query", {"qu_of": "run"}),
    ],
)
def test_what_is_found_opens(typed, page, chosen, treebank_folder, opened):
    place = next(
        place
        for place in search.places(inquiry_of(treebank_folder), typed)
        if place.page == page and chosen.items() <= place.choices.items()
    )
    session = opened(page, treebank_folder, **place.choices)
    assert_sound(session)
    assert not [*session.toast, *session.error, *session.warning]
    for key, names in place.choices.items():
        options = [names] if isinstance(names, str) else names
        assert set(in_address(session, key) or [str(session.session_state[key])]) <= set(options)


def test_the_box_shows_links(opened, treebank_folder):
    session = opened("methods", treebank_folder)
    session.text_input(key="search").set_value("singular value").run()
    assert_sound(session)
    assert "→ singular value" in [link.proto.label for link in session.get("page_link")]


def test_every_name_of_the_contracts_is_found_in_both_languages(treebank_folder):
    places = [*search._statistics(inquiry_of(treebank_folder))]
    for table in every_table():
        entries = [place for place in places if table.name in place.shown]
        for view in table.all_views:
            texts = [view.name, *(column.name for column in view.columns)]
            for of in (column.definition for column in view.columns):
                texts += [of, *(japanese()[digest(part)] for part in parts_of(of))]
            assert not [text for text in texts if not search.matching(entries, text)]
        assert not search.matching(entries, "nosuchname")
