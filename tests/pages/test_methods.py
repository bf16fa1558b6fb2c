"""Methods explains every statistic that can be computed, and needs no file to do so."""

from collections.abc import Callable
from pathlib import Path
from shutil import copyfile

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from analysis.models.proof import PARTS
from pages.kit.sections import sections_with
from pages.kit.statistic_method import methods
from pages.kit.table_documentation import citation
from pages.words.say import catalogue
from precompute.passes import STATISTICS
from tests.pages.conftest import assert_sound, sentences

NO_SECTION = {"massive_activation", "offset_term", "head_distance_agreement"}
"""Statistics whose numbers the file has and no section shows."""


def test_every_statistic_is_explained():
    explained = {table.name for method in methods().values() for table in method.tables}
    assert explained == {statistic.name for statistic in STATISTICS.values()}


@pytest.fixture
def entry(opened, tmp_path) -> Callable[..., AppTest]:
    """Opener of an entry without any file."""

    def open_entry(name: str, folder: Path = tmp_path, lang: str = "en") -> AppTest:
        place = {"me_page": methods()[name].page, "me_entry": name}
        session = opened("methods", folder, lang=lang, **place)
        assert_sound(session)
        assert not session.error
        assert [header.value for header in session.header] == [
            catalogue()[f"method.{name}.title"][lang]
        ]
        return session

    return open_entry


@pytest.mark.slow
@pytest.mark.parametrize("name", methods())
def test_every_entry_opens_without_any_file_with_its_formulas_tables_laws_and_sections(name, entry):
    session, method = entry(name), methods()[name]
    written, captions = sentences(session), "\n".join(text.value for text in session.caption)
    assert all(f"$$\n{formula.strip()}\n$$" in written for formula in method.formulas)
    views = [view for table in method.tables for view in table.all_views]
    assert all(f"**`{view.name}`**" in written for view in views)
    assert all(law in captions for table in method.tables for law in table.laws)
    assert all(citation(table.source) in captions for table in method.tables)
    places = [f"→ {place_of(*at)}" for at in sections_with(method.tables)]
    assert places == [
        link.proto.label for link in session.get("page_link") if link.proto.label.startswith("→")
    ]
    assert bool(places) == (bool(method.tables) and name not in NO_SECTION)


def place_of(page: str, view: str) -> str:
    return ": ".join(
        catalogue()[key]["en"] for key in (f"page.{page}.title", f"{page}.view_{view}")
    )


@pytest.mark.parametrize(
    ("reading", "lang", "expected"),
    [
        ("found", "en", "read in this way. Each part differs from the model's own by at most 2.5"),
        (
            "code",
            "ja",
            "モジュールの名前に基づいて読み取りました。各部分とモデル自身の値との差は、",
        ),
        (None, "en", "There is no list of models"),
    ],
)
def test_the_reading_of_the_open_file_is_told(
    plain_folder, entry, tmp_path, reading, lang, expected
):
    """A file of an older version has no such facts, and then nothing is said."""
    path = Path(copyfile(plain_folder / "tiny.duckdb", tmp_path / "tiny.duckdb"))
    with duckdb.connect(str(path)) as store:
        facts = dict(store.execute("from stored.provenance").fetchall())
        assert facts["reading"] == "found"
        assert all(0 <= float(facts[f"proof_{part}"]) < 1e-5 for part in PARTS)
        store.execute("update stored.provenance set value = '2.5e-06' where name = 'proof_sum'")
        if reading is None:
            store.execute("delete from stored.provenance where name ~ 'reading|proof_.*'")
        else:
            changed = "update stored.provenance set value = ? where name = 'reading'"
            store.execute(changed, [reading])
    text = sentences(entry("models", tmp_path, lang))
    assert expected in text
    assert ("2.5·10⁻⁶" in text) is (reading is not None)
