"""One text: its tokens, heads and start layers, and a text of the reader's own."""

import numpy as np
import pytest

from tests.pages.conftest import assert_sound, bodies, charts, sentences
from tests.pages.kit.figures import frame_of
from tests.tiny import HEADS, LAYERS


def test_a_text_has_its_map_its_heads_and_its_layers(section, answers):
    session = section("text")
    assert bodies(session).count('class="an-text"') == 1 + HEADS
    assert "[CLS]" in sentences(session)
    assert len(charts(session)) == 1
    html = bodies(session).split('class="an-text"')[1]
    ((n,),) = answers("select count(*) from token where seq = 0 and token_type in ('cls', 'sep')")
    first = html.split("</div>")[0]
    assert first.count('class="an-apart"') == n, "special tokens are framed and have no ground"
    assert "[CLS]" in first.split("background", 1)[0]


def test_the_sentence_tells_what_special_tokens_keep_and_who_has_most(section, after):
    relevance = "[0.5, 0.1, 0.2] || list_resize([]::float[], len(relevance) - 4, 0.0) || [0.2]"
    after(f"update stored.relevance_map set relevance = {relevance}")
    text = sentences(section("text"))
    assert r"\[CLS\] 50%" in text
    assert r"\[SEP\] 20%" in text
    assert "The other 30% lies on the text: most on **cat** 20.00%, **the** 10.00%" in text


def test_a_method_of_no_single_head_has_one_map(section, exported):
    session = section("text", re_rule="norm_rollout")
    assert bodies(session).count('class="an-text"') == 1
    assert not any(key.startswith("re_text_heads") for key in exported)
    assert len(charts(session)) == 1


def test_a_scale_of_its_own_makes_every_text_reach_the_strongest_ground(section):
    shared, own = (bodies(section("text", re_scale=scale)) for scale in ("shared", "own"))
    strongest = "rgba(44, 156, 124, 0.660)"
    assert own.count(strongest) > shared.count(strongest)


def test_relevance_starts_at_the_last_token_of_a_causal_model_without_marks_of_its_tokenizer(
    section, gpt2_folder, exported
):
    session = section("text", gpt2_folder)
    frame = frame_of(exported, "re_text_layers")
    apart = frame.loc[frame["layer"] == 1, "apart"].to_numpy()
    assert np.flatnonzero(apart).tolist() == [len(apart) - 1]
    assert "Kept by special tokens" in sentences(session)
    html = bodies(session)
    assert "Ġ" not in html
    assert "Ċ" not in html
    assert 'title="␣: ' in html
    assert "></span>" not in html, "white space alone can be pointed at"


def test_a_text_of_ones_own_has_the_maps_that_a_run_would_keep(section, exported, answers):
    ((text, n_tokens),) = answers("select text, n_tokens from sequence where seq = 1")
    session = section("text", re_source="own", re_rule="iv")
    assert not charts(session)
    session.text_area[0].set_value(text)
    exported.clear()
    session.button[0].click().run()
    frame = frame_of(exported, "re_text_heads")
    assert len(frame) == n_tokens
    for head, relevance in answers(
        "select head, relevance from relevance_map "
        f"where seq = 1 and rule = 'iv' and layer = {LAYERS} and head is not null"
    ):
        assert frame[f"head_{head}"].tolist() == pytest.approx(relevance, abs=1e-5)
    assert any("your text" in caption.value for caption in session.caption)


def test_a_text_that_is_too_long_is_said_to_be_cut(section):
    session = section("text", re_source="own")
    session.text_area[0].set_value("the cat sat " * 200)
    session.button[0].click().run()
    assert any("first 36 tokens" in caption.value for caption in session.caption)
    assert charts(session)


def test_without_the_model_there_is_no_map_of_ones_own(section, changed):
    folder = changed("update stored.run set model = '/no such folder/model-bert'")
    session = section("text", folder, re_source="own")
    session.text_area[0].set_value("the cat")
    session.button[0].click().run()
    assert_sound(session)
    assert session.warning
    assert not charts(session)
