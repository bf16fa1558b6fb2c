"""Methods explains every statistic that can be computed, and needs no file to do so."""

from pathlib import Path
from shutil import copyfile

import duckdb
import pytest

from analysis.models.proof import PARTS
from analysis.scopes import ORDERS, ROLES, WEIGHTS, WHOLE
from analysis.sources import PAPERS
from pages.kit.statistic_method import mathematics, methods
from pages.words.names import scope_name
from pages.words.say import catalogue
from precompute.passes import STATISTICS
from tests.pages.conftest import assert_sound
from tests.pages.test_overview import assert_section

NO_SECTION = {"massive_activation"}
"""Statistics whose numbers the file has and no section shows."""
OF_PAGES = list(dict.fromkeys(method.page for method in methods().values()))


def test_every_statistic_is_explained():
    explained = {table.name for method in methods().values() for table in method.tables}
    assert explained == {statistic.name for statistic in STATISTICS.values()}


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_methods_opens_without_any_file(lang, opened, tmp_path):
    session = opened("methods", tmp_path, lang=lang)
    assert_sound(session)
    assert not session.error
    written = [text.value for text in session.markdown]
    assert not [text for text in written if text.startswith("Texts on methods")], "documentation"


def test_every_statistic_stands_under_its_page_with_its_formulas_its_laws_and_all_papers(
    opened, tmp_path
):
    drawn = [opened("methods", tmp_path, me_page=page) for page in OF_PAGES]
    titles, laws, shown = (
        [text.value for session in drawn for text in getattr(session, kind)]
        for kind in ("subheader", "caption", "markdown")
    )
    assert titles == [catalogue()[f"method.{name}.title"]["en"] for name in methods()]
    tables = (table for method in methods().values() for table in method.tables)
    assert all(law in "\n".join(laws) for table in tables for law in table.laws)
    general = mathematics("methods")
    of_statistics = [formula for method in methods().values() for formula in method.formulas]
    formulas = [*general["foundation"].values(), *general["layer"].values(), *of_statistics]
    assert all(f"$$\n{formula.strip()}\n$$" in "\n".join(shown) for formula in formulas)
    of_first = "\n".join(text.value for text in drawn[0].markdown)
    assert all(paper.title in of_first for paper in PAPERS.values())


def test_every_scope_is_named_as_in_the_charts(opened, tmp_path):
    text = "\n".join(paragraph.value for paragraph in opened("methods", tmp_path).markdown)
    for scope, role in ROLES.items():
        meaning = catalogue()[f"role.{role}.meaning"]["en"]
        if scope in WHOLE:
            meaning = catalogue()["role.whole"]["en"].format(meaning=meaning)
        paper = "Attn-w" if scope == WEIGHTS else scope.title().replace("_", "")
        assert f"|{scope_name(scope)}|{paper}|{meaning}|" in text
    for order in ORDERS.values():
        assert len(set(map(scope_name, order.of_ratios))) == len(order.of_ratios)


def test_every_statistic_that_is_shown_leads_to_its_section():
    shown = [method for method in methods().values() if method.page]
    assert len(shown) == len(methods())
    assert {name for name, method in methods().items() if not method.view} == NO_SECTION
    for method in (method for method in shown if method.view):
        assert_section(method.page, method.view)


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
    plain_folder, opened, tmp_path, reading, lang, expected
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
    session = opened("methods", tmp_path, lang=lang)
    assert_sound(session)
    text = "\n".join(paragraph.value for paragraph in session.markdown)
    assert expected in text
    assert ("2.5·10⁻⁶" in text) is (reading is not None)
