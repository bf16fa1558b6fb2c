"""Links restore every choice; clicks in charts and tables open a pair, and only once."""

import re
from html import unescape
from urllib.parse import parse_qs

import numpy as np

from analysis.scopes import POST_NORM
from analysis.statistics.pairs import pair, pair_delta, pair_occurrence
from pages.token_pairs.chosen_pair import PAGE as A_PAGE
from pages.token_pairs.chosen_pair import marked
from pages.token_pairs.lists import pair_name
from pages.token_pairs.page import PAGE
from pages.ui.choices.address import LONGEST_TEXT
from pages.ui.words.say import plain
from tests.pages.conftest import bodies, captions, charts, frames, in_address, sentences
from tests.pages.kit.figures import click, frame_of

PAIR = {"source": "cat", "target": "sat"}


def test_a_text_of_a_link_is_cut_to_what_can_be_typed(section):
    session = section("workbench", tp_text="<" * 999)
    assert session.session_state["tp_text"] == "<" * LONGEST_TEXT


def test_every_cell_of_the_overview_links_to_its_pair(section, opened, store_folder):
    filters = {"tp_effect": "ff_res", "tp_least": "3", "tp_special": "out", "tp_rank": "mean"}
    session = section("tables", lang="ja", **filters)
    links = [part.split('"')[0] for part in bodies(session).split('href="')[1:]]
    assert len(links) > 10
    address = {}
    for link in links:
        address = {key: values[0] for key, values in parse_qs(unescape(link)[1:]).items()}
        assert address["lang"] == "ja"
        assert address["tp_view"] == "workbench"
        assert {key: address[key] for key in filters} == filters
    pair = opened("token_pairs", store_folder, **address)
    assert {key: str(pair.session_state[key]) for key in filters} == filters
    assert pair.text_input(key="tp_source").value == address["tp_source"]
    assert not pair.info


def chosen(session) -> tuple[str, str]:
    """The pair that is looked at."""
    source, target = (session.text_input(key=f"tp_{side}").value for side in PAIR)
    return source, target


def test_the_row_that_was_clicked_is_the_one_that_was_drawn(section):
    session = section("workbench", tp_text="dog", tp_layer="2")
    row = frames(session)[0].iloc[1]
    click(session, "tp_pairs_table", "rows", 1)
    assert chosen(session) == (row["source"], row["target"])


def test_a_click_leads_to_the_first_sentences_and_does_not_undo_a_newer_choice(section):
    session = section("workbench", tp_source="cat", tp_target="sat", tp_page="2")
    click(session, "tp_pairs_table", "rows", 1)
    assert session.session_state["tp_page"] == 1
    session.text_input(key="tp_source").set_value("cat").run()
    session.text_input(key="tp_target").set_value("sat").run()
    session.run()
    assert chosen(session) == ("cat", "sat")
    session.segmented_control(key="tp_view").set_value("tables").run()
    session.run()
    assert in_address(session, "tp_view") == ["tables"]


def test_addresses_of_sections_that_were_lead_to_what_they_showed(section):
    written = {"tp_layer": "2", "tp_least": "3", "tp_clear": "only", "tp_text": "cat"}
    session = section("browse", **written, tp_source="cat", tp_target="sat")
    assert session.session_state["tp_view"] == "workbench"
    assert {key: str(session.session_state[key]) for key in written} == written
    assert chosen(session) == ("cat", "sat")
    assert in_address(session, "tp_view") == ["browse"], "Back would lead here again"
    assert set(PAGE.moved) == {"layer", "browse", "pair"}
    assert set(PAGE.moved.values()) == {"workbench"}


ASKED = ("What does each step of each layer do to ", "各層の各モジュールは ")
HOSTILE = '"><img src=x onerror=a()><script>alert(1)</script>`code` $x$ **bold**'
CHOSEN = {"tp_source": "cat", "tp_target": "sat"}


def shown(session) -> str:
    """The pair whose changes are drawn."""
    (question,) = (
        heading.value for heading in session.subheader if heading.value.startswith(ASKED)
    )
    return re.sub("|".join(ASKED) + r"|\?$| をどう変えるか？$", "", question)


def ids(store, source="cat", target="sat") -> dict[str, int]:
    row = pair.look_up(store, source=source, target=target).iloc[0]
    return {name: int(row[name]) for name in ("source_id", "target_id")}


def test_the_pair_that_changes_most_is_shown_until_another_is_chosen(section, store):
    [first] = pair_delta.browse(
        store, effect="ff", layer=2, min_count=2, text="", relation="all", special=True, limit=1
    ).to_dict("records")
    session = section("workbench", tp_layer="2")
    assert [session.text_input(key=f"tp_{side}").value for side in PAIR] == ["", ""]
    assert shown(session) == plain(pair_name(first["source"], first["target"]))


def test_its_numbers_are_those_of_the_file(section, answers):
    shown_captions = captions(section("workbench", **CHOSEN))
    ((n, n_sequences, pmi),) = answers(
        """
        select n, n_sequences, pmi from pair
        join vocabulary as s on s.token_id = source join vocabulary as t on t.token_id = target
        where s.token = 'cat' and t.token = 'sat'
        """
    )
    assert f"**{n}** occurrences in **{n_sequences}** sequences" in shown_captions
    assert f"PMI **{pmi:.2f}** bits".replace("-", "−") in shown_captions


def test_a_pair_with_a_special_token_has_no_pmi(section):
    session = section("workbench", tp_source="[CLS]", tp_target="sat")
    assert "no PMI" in captions(session)


def test_every_place_where_it_stands_is_marked_once(section, store):
    places = pair_occurrence.of_pair(store, layer=1, effect="ff", limit=1000, **ids(store))
    pages = -(-len(places) // A_PAGE)
    assert pages > 1, "this test could not have failed"
    shown = []
    for page in range(1, pages + 1):
        place = {"tp_page": str(page)} if page > 1 else {}
        session = section("workbench", **place, **CHOSEN)
        texts = [part for part in bodies(session).split('class="an-text"') if "title=" in part]
        for text in texts:
            assert re.findall(r'<span class="an-(\w+)"[^>]*>([^<]*)<', text) in (
                [("source", "cat"), ("target", "sat")],
                [("target", "sat"), ("source", "cat")],
            )
        shown += re.findall(
            r"Sequence (\d+), source at position (\d+), target at position (\d+)",
            sentences(session),
        )
    expected = places[["seq", "source_pos", "target_pos"]].astype(str)
    assert shown == list(expected.itertuples(index=False, name=None))


def test_the_other_direction_is_one_click_away(section):
    session = section("workbench", **CHOSEN)
    session.button(key="tp_swap").click().run()
    assert in_address(session, "tp_source") == ["sat"]
    assert shown(session) == plain("sat → cat")


def test_a_pair_that_does_not_occur_is_told(section):
    session = section("workbench", tp_source=HOSTILE + "x" * 500, tp_target="sat")
    assert "does not occur" in session.info[0].value
    assert len(charts(session)) == 1


def test_marks_keep_their_place_among_pieces_of_words():
    body = marked(["[CLS]", "em", "##bed", "##ding", "[SEP]"], 2, 1)
    assert re.sub(r"<[^>]*>", "", body).strip() == "[CLS] em◂bedding [SEP]"
    assert re.findall(r'<span class="an-(\w+)"[^>]*>([^<]*)<', body) == [
        ("target", "em"),
        ("source", "bed"),
    ]


def test_an_arrow_leads_along_the_text_from_source_to_target():
    text = ["the", "cat", "sat", "on", "a", "mat"]
    body = marked(text, 1, 3, around=1)
    assert re.sub(r"<span[^>]*>|</span>|</?div[^>]*>", "", body) == "the cat<u> sat ▸</u>on a …"
    body = marked(text, 4, 2, around=0)
    assert re.sub(r"<span[^>]*>|</span>|</?div[^>]*>", "", body) == "…  sat<u>◂ on </u>a …"


def test_the_next_pair_of_the_list_is_a_key_away(section, store):
    listed = pair_delta.browse(
        store, effect="ff", layer=1, min_count=2, text="", relation="all", special=True, limit=30
    )
    session = section("workbench")
    assert session.button(key="tp_before").disabled
    assert [session.button(key=f"tp_{name}").proto.shortcut for name in ("before", "after")] == [
        "p",
        "n",
    ]
    for place in (1, 2):
        session.button(key="tp_after").click().run()
        assert in_address(session, "tp_source") == [listed["source"][place]]
        assert in_address(session, "tp_target") == [listed["target"][place]]
    session.button(key="tp_before").click().run()
    assert shown(session) == plain(pair_name(listed["source"][1], listed["target"][1]))
    far = {"tp_source": listed["source"][24], "tp_target": listed["target"][24]}
    session = section("workbench", **far)
    session.button(key="tp_before").click().run()
    assert in_address(session, "tp_list_page") == []
    session.button(key="tp_after").click().run()
    assert in_address(session, "tp_list_page") == ["2"]


def test_a_pair_goes_through_the_steps_of_a_layer(section, store, exported):
    section("workbench", **CHOSEN)
    steps = frame_of(exported, "tp_workbench_waterfall_mean")
    means = pair_delta.of_pair(store, **ids(store))
    means = means[means["layer"] == 1].set_index("effect")["mean_delta"]
    assert [*steps["scope"]] == ["attn_res_ln", *POST_NORM.scopes[4:]]
    expected = 100 * means[[*POST_NORM.effects]].to_numpy()
    np.testing.assert_allclose(steps["in_points_change"], expected, atol=1e-9)
    np.testing.assert_allclose(steps["in_points_after"], expected.cumsum(), atol=1e-9)
    np.testing.assert_allclose(steps["in_points_before"], expected.cumsum() - expected, atol=1e-9)


def test_a_run_of_the_model_shows_every_step_in_the_sentence(section, store, exported):
    section("workbench", tp_live="live", **CHOSEN)
    steps = frame_of(exported, "tp_workbench_waterfall_live").set_index("scope")
    assert [*steps.index] == [*POST_NORM.scopes[1:]]
    np.testing.assert_allclose(steps["in_percent_before"][1:], steps["in_percent_after"][:-1])
    first = pair_occurrence.of_pair(store, layer=1, effect="ff", limit=1, **ids(store)).iloc[0]
    network = steps["in_percent_change"]["attn_res_ln_ff"]
    np.testing.assert_allclose(network, 100 * first["delta"], atol=2e-4)
    assert steps["in_percent_before"].iloc[0] == 0
