"""Lists and numbers are those of the file, and findings say how sure they are."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.scopes import POST_NORM
from pages.kit.address import LONGEST_TEXT
from pages.token_pairs.charts import grid, pair_rows
from pages.token_pairs.lists import CHANGE, HIGH, LOW, with_pair_names
from pages.token_pairs.page import PAGE
from pages.token_pairs.pair import PAGE as A_PAGE
from pages.token_pairs.pair import marked
from pages.token_pairs.ranking import listed
from pages.words.scope import words_of
from tests.pages.conftest import bodies, captions, frames, in_address, sentences
from tests.pages.kit.copies import changed_copy
from tests.pages.kit.figures import click, frame_of

PAIR = {"source": "cat", "target": "sat"}
CHOSEN = {f"tp_{side}": token for side, token in PAIR.items()}
HOSTILE = '"><img src=x onerror=a()><script>alert(1)</script>`code` $x$ **bold**'
PLANTED = (
    "update stored.pair_delta set error_ff = error_ff / 64 where (source + target) % 3 = 0",
    "update stored.pair_extreme set error = error / 64 where (source + target) % 3 = 0",
)


def pairs_of(frame) -> list[tuple[str, str, float]]:
    """Pairs with their changes in percentage points."""
    shown = frame if CHANGE in frame else with_pair_names(frame)
    return list(zip(shown["source"], shown["target"], shown[CHANGE].round(6), strict=True))


def chosen(session) -> tuple[str, str]:
    """The pair that is looked at."""
    entered = (session.text_input(key=f"tp_{side}") for side in PAIR)
    source, target = (entry.value or entry.placeholder for entry in entered)
    return source, target


@pytest.fixture
def ids(store) -> dict[str, int]:
    named = dict(store.execute("select token, token_id from vocabulary").fetchall())
    return {f"{side}_id": named[token] for side, token in PAIR.items()}


@pytest.fixture(scope="module")
def planted(store_folder, tmp_path_factory) -> Path:
    """A folder with a file that has pairs with clear, crossing and missing intervals."""
    return changed_copy(store_folder, tmp_path_factory.mktemp("planted"), *PLANTED)


@pytest.mark.parametrize("direction", ["amplified", "attenuated"])
def test_lists_are_those_of_the_file_and_begin_with_the_papers(direction, section, store, exported):
    section("tables")
    asked = {"order": direction, "min_count": 2}
    expected = listed(store, layers=[1, 2], effect="ff", rank="mean", limit=10, **asked)
    assert pairs_of(frame_of(exported, f"tp_tables_{direction}")) == pairs_of(expected)
    session = section("workbench", tp_layer="2", tp_effect="ff_ln", tp_direction=direction)
    expected = listed(store, layers=[2], effect="ff_ln", limit=1000, **asked)
    assert pairs_of(frames(session)[0]) == pairs_of(expected)
    assert pairs_of(frame_of(exported, "tp_workbench_pairs_2")) == pairs_of(expected)[:24]
    assert chosen(session) == pairs_of(expected)[0][:2], "the first until another is chosen"


@pytest.mark.parametrize(
    ("address", "holds"),
    [
        ({"tp_text": "CAT"}, lambda row: "cat" in row.source or "cat" in row.target),
        (
            {"tp_source_text": '"cat"', "tp_target_text": "t", "tp_special": "out"},
            lambda row: row.source == "cat" and "t" in row.target and "[" not in row.target,
        ),
        (
            {"tp_relation": "adjacent", "tp_least": "4"},
            lambda row: row.relation_named == "neighbours",
        ),
        ({"tp_text": "%"}, lambda row: False),
    ],
)
def test_what_is_listed_fulfils_every_condition(address, holds, section):
    session = section("workbench", tp_direction="both", **address)
    everything = frames(section("workbench", tp_direction="both", tp_least="1"))[0]
    shown = frames(session)[0] if session.dataframe else everything.head(0)
    least = int(address.get("tp_least", 2))
    fits = [row for row in everything.itertuples() if holds(row) and row.n >= least]
    assert len(shown) == len(fits)
    assert all(map(holds, shown.itertuples()))
    assert bool(session.info) == (not fits)


def test_a_pair_has_the_numbers_of_the_file(section, answers, store, exported, ids):
    session = section("workbench", **CHOSEN)
    ((n, n_sequences, pmi),) = answers(
        """
        select n, n_sequences, pmi from pair
        join vocabulary as s on s.token_id = source join vocabulary as t on t.token_id = target
        where s.token = 'cat' and t.token = 'sat'
        """
    )
    assert f"**{n}** occurrences in **{n_sequences}** sequences" in captions(session)
    assert f"PMI **{pmi:.2f}** bits".replace("-", "−") in captions(session)
    steps = frame_of(exported, "tp_workbench_modules")
    [means] = answers(
        f"""
        select columns(['mean_' || name for name in {[*POST_NORM.effects]}]) from pair_delta_wide
        where layer = 1 and source = {ids["source_id"]} and target = {ids["target_id"]}"""
    )
    np.testing.assert_allclose(steps[CHANGE], 100 * np.array(means), atol=1e-9)
    assert "no PMI" in captions(section("workbench", tp_source="[CLS]", tp_target="sat"))


def test_every_place_where_it_stands_is_marked_once(section, store, ids):
    places = store.execute(
        """
        select seq, s.pos as source_pos, t.pos as target_pos from token as s join token as t
        using (seq) where s.token_id = $source_id and t.token_id = $target_id and s.pos <> t.pos""",
        ids,
    ).df()
    pages = -(-len(places) // A_PAGE)
    assert pages > 1, "this test could not have failed"
    shown = []
    for page in range(1, pages + 1):
        session = section("workbench", **({"tp_page": str(page)} if page > 1 else {}), **CHOSEN)
        texts = [part for part in bodies(session).split('class="an-text"') if "title=" in part]
        for text in texts:
            spans = re.findall(r'<span class="an-(\w+)"[^>]*>([^<]*)<', text)
            assert sorted(spans) == [("source", "cat"), ("target", "sat")]
        shown += re.findall(
            r"Sequence (\d+), source at position (\d+), target at position (\d+)",
            sentences(session),
        )
    expected = places[["seq", "source_pos", "target_pos"]].astype(str)
    assert sorted(shown) == sorted(expected.itertuples(index=False, name=None))


def test_an_arrow_leads_along_the_text_from_source_to_target():
    text, tags = ["the", "cat", "sat", "on", "a", "mat"], r"<span[^>]*>|</span>|</?div[^>]*>"
    with words_of("token_pairs", "workbench"):
        forth, back = marked(text, 1, 3, around=1), marked(text, 4, 2, around=0)
        pieces = marked(["[CLS]", "em", "##bed", "##ding", "[SEP]"], 2, 1)
    assert re.sub(tags, "", forth) == "the cat<u> sat ▸</u>on a …"
    assert re.sub(tags, "", back) == "…  sat<u>◂ on </u>a …"
    assert re.sub(r"<[^>]*>", "", pieces).strip() == "[CLS] em◂bedding [SEP]"


def test_pairs_are_a_click_or_a_key_away_and_newer_choices_stay(section, store):
    session = section("workbench", tp_page="2", **CHOSEN)
    row = frames(session)[0].iloc[1]
    click(session, "tp_pairs_table", "rows", 1)
    assert chosen(session) == (row["source"], row["target"])
    assert session.session_state["tp_page"] == 1
    session.button(key="tp_swap").click().run()
    assert chosen(session) == (row["target"], row["source"])
    asked = {"effect": "ff", "order": "amplified", "min_count": 2, "limit": 1000}
    rows = listed(store, layers=[1], **asked)
    session = section("workbench")
    assert session.button(key="tp_before").disabled
    session.button(key="tp_after").click().run()
    assert chosen(session) == (rows["source"][1], rows["target"][1])
    session.run()
    assert in_address(session, "tp_source") == [rows["source"][1]]


def test_links_of_sections_that_were_and_of_strangers(section):
    session = section("browse", tp_layer="2", tp_least="3", tp_clear="only", **CHOSEN)
    assert session.session_state["tp_view"] == "workbench"
    assert chosen(session) == ("cat", "sat")
    assert set(PAGE.moved.values()) == {"workbench"}
    session = section("workbench", tp_text="<" * 999)
    assert session.session_state["tp_text"] == "<" * LONGEST_TEXT
    session = section("workbench", tp_source=HOSTILE + "x" * 500, tp_target="sat")
    assert "does not occur" in session.info[0].value


@pytest.mark.parametrize("rank", ["bound", "mean"])
def test_what_is_faint_has_no_interval_without_0(rank, planted, section, exported):
    section("tables", planted, tp_ranking=rank)
    section("workbench", planted, tp_rank=rank, tp_direction="both")
    lists = (("tp_tables_amplified", grid), ("tp_workbench_pairs_1", pair_rows))
    for key, chart in lists:
        frame = frame_of(exported, key)
        clear = (frame[LOW] > 0) | (frame[HIGH] < 0)
        assert 0 < clear.sum() < len(frame) or (key, rank) == ("tp_workbench_pairs_1", "bound")
        with words_of("token_pairs", "workbench"):
            drawn = chart(frame, "pairs", PAIR)
        data = [part.data for part in (*drawn.layer, drawn)]
        rows = [part for part in data if isinstance(part, pd.DataFrame) and "clear" in part]
        assert {tuple(part["clear"]) for part in rows} == {tuple(clear)}
