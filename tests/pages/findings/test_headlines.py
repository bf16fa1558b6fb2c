"""Headlines of sections agree with their numbers, their intervals and the other language."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from pages.ui import stage
from pages.ui.choices.links import VIEWS
from pages.ui.store import chosen
from pages.ui.words import say as words
from tests.pages.conftest import assert_sound
from tests.pages.findings.numbers import is_among, numbers, values_of
from tests.pages.kit.openings import Opener
from tests.pages.kit.section_checks import sections

pytestmark = pytest.mark.slow
FOLDERS = {"treebank_folder": "bert", "turned_folder": "llama", "images_folder": "vit"}
PAGES = [page for page in VIEWS if page not in ("compare", "query", "sequences")]
"""Of one file, and without those that run its model for what they show."""
FOR_ALL = {"sy_least": "1", "an_least": "1", "tp_min_count": "1"}
CLAIMS = ("above", "below", "clear", "rare", "frequent", "shorter", "longer", "alike")
"""Ends of words of which another, `unclear`, is said where the interval does not bear them out."""
BY_CHANCE = {"head_map.weighing.finding_within_clear"}
"""Claims by how often chance does as well, which no interval tells."""
HOLDS_ALL = (0, 1000)  # ends of an interval within which every number lies, and 0 and 1


@pytest.fixture(params=FOLDERS)
def folder(request) -> Path:
    return request.getfixturevalue(request.param)


@pytest.fixture
def opener(monkeypatch, offered) -> Opener:
    """Open each section anew, to record its findings."""
    return Opener(monkeypatch, offered, {})


@contextmanager
def heard() -> Iterator[tuple[list[str], list[str], list[Any], list[pd.DataFrame]]]:
    """Record headlines, keys of words, their values, and the file's answers during drawing."""
    headlines, keys, values, answers = [], [], [], []
    ask = chosen.ask_store
    announce, filled, catalogue = stage.Stage.announce, words._filled, words.catalogue

    class Heard(dict):
        def __getitem__(self, key: str) -> Any:
            keys.append(key)
            return super().__getitem__(key)

    def noting(text: str, given: Any) -> str:
        values.extend(given.values())
        return filled(text, given)

    def keep(self: Any, finding: str) -> None:
        headlines.append(finding)
        announce(self, finding)

    def asked(*given: Any, **named: Any) -> Any:
        answer = ask(*given, **named)
        if isinstance(answer, pd.DataFrame):
            answers.append(answer)
        return answer

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chosen, "ask_store", asked)
        every = Heard(catalogue())
        patched.setattr(words, "catalogue", lambda: every)
        patched.setattr(words, "_filled", noting)
        patched.setattr(stage.Stage, "announce", keep)
        yield headlines, keys, values, answers


@pytest.mark.parametrize("page", PAGES)
def test_numbers_of_a_headline_are_those_of_its_section_in_both_languages(
    page, folder, opener, offered
):
    with duckdb.connect(str(folder / "tiny.duckdb"), read_only=True) as store:
        [(n_layers, n_heads)] = store.execute("select n_layers, n_heads from run").fetchall()
    facts = {str(n) for n in (n_layers, n_heads, n_layers * n_heads)}
    for section in sections(page):
        offered.clear()
        place = {VIEWS[page]: section.stem, **FOR_ALL}
        with heard() as (headlines, _, values, answers):
            session = opener(page, folder, lang="en", **place)
        assert_sound(session)
        english, given = _all_numbers(headlines), _all_numbers(values)
        frames = [frame for frame, _ in offered.values()]
        frames += [table.value for table in session.dataframe]
        shown = values_of([*frames, *answers])
        missing = {n for n in english & given - facts - LEVELS if not is_among(n, shown)}
        assert len(missing) <= NOT_SHOWN.get((page, section.stem), 0), f"{headlines}: {missing}"
        with heard() as (headlines, _, values, _):
            opener(page, folder, lang="ja", **place)
        given |= _all_numbers(values)
        given = {number for number in given if len(number) > 1}  # below ten one may have words
        assert english & given == _all_numbers(headlines) & given, section.stem


def _all_numbers(texts: list[Any]) -> set[str]:
    return {number for text in texts for number in numbers(f"{text}")}


LEVELS = {"95%", "90%"}  # of intervals, and above which a head counts as the same in all texts
NOT_SHOWN = {
    ("attention_norms", "layers"): 2,  # shares of all special types together
    ("relevance", "map"): 2,  # the share of what is not special, and its mean
    ("relevance", "text"): 2,
}
"""Numbers that are sums or means of what is shown that `values_of` does not form, counted."""


@pytest.fixture(scope="module")
def unclear(request, tmp_path_factory) -> Any:
    """Folders of files in which every interval holds every possible baseline."""
    made: dict[Path, Path] = {}

    def make(folder: Path) -> Path:
        if folder not in made:
            made[folder] = _with_wide_intervals(folder, tmp_path_factory.mktemp("unclear"))
        return made[folder]

    return make


def _with_wide_intervals(folder: Path, to: Path) -> Path:
    copy = to / "tiny.duckdb"
    copy.write_bytes((folder / "tiny.duckdb").read_bytes())
    ends = """
        select table_name, column_name from duckdb_columns()
        where schema_name = 'stored' and regexp_matches(column_name, '(^|_)(low|high|p_value)$'
            || '|^error_|^error$')
    """
    with duckdb.connect(str(copy)) as store:
        for table, column in store.execute(ends).fetchall():
            value = HOLDS_ALL[0] if column.endswith("low") else HOLDS_ALL[1]
            value = 1 if column == "p_value" else value
            store.execute(f'update stored."{table}" set "{column}" = {value} '
                          f'where "{column}" is not null')  # fmt: skip
    return to


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_claimed_where_every_interval_holds_everything(page, folder, opener, unclear):
    for section in sections(page):
        with heard() as (headlines, keys, _, _):
            place = {VIEWS[page]: section.stem, **FOR_ALL}
            assert_sound(opener(page, unclear(folder), lang="en", **place))
        claimed = {key for key in keys if _is_claim(key)} - BY_CHANCE
        assert not claimed, f"{section.stem}: {headlines}"


def _is_claim(key: str) -> bool:
    stem, _, end = re.sub(r"_(?=[a-z]+$)", " ", key).rpartition(" ")
    if key.rpartition(".")[2] in CLAIMS:
        stem, end = key.rpartition(".")[0], key.rpartition(".")[2]
        return f"{stem}.unclear" in words.catalogue()
    return end in CLAIMS and f"{stem}_unclear" in words.catalogue()
