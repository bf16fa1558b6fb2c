"""First tokens as a type of their own, in a causal model without BOS (GPT-2)."""

import duckdb
import pytest

from analysis.comparison.numbers import unit_values
from pages.habits.page import MATTERS
from pages.head.texts import TOKENS
from pages.kit.page import findings
from tests.pages.conftest import assert_sound, sentences
from tests.pages.kit.after import after_of
from tests.pages.kit.inquiries import inquiry

after = after_of("gpt2_folder")
after_bos = after_of("turned_folder")
ABSENCE = "The first token of a text, which all of its tokens see, is a type of its own"


@pytest.fixture
def page_text(opened, gpt2_folder):
    """Return the text of a section or a page."""

    def said(page: str, view: str = "", folder=None, lang: str = "en") -> str:
        place = dict([view.split("=")]) if view else {}
        session = opened(page, folder or gpt2_folder, lang=lang, **place)
        assert_sound(session)
        captions = (caption.value for caption in session.caption)
        return "\n".join([sentences(session), *captions])

    return said


def test_the_first_token_is_named_where_it_draws_most(after, page_text):
    after(
        "update stored.token_type_mixing set mean = if(token_type = 'first', 0.8, 0.1) "
        "where quantity = 'attention'",
        "update stored.token_type_mixing set mean = if(token_type = 'first', 0.3, 0.35) "
        "where quantity = 'norm_share'",
    )
    text = page_text("norms", "an_view=layers")
    assert "that arrives from the first token, over all layers, 30%" in text
    assert "its share of the weight, 80%" in text


def test_what_comes_from_the_first_token_is_said(page_text, turned_folder):
    of = ("layer_mixing", "lm_view=rollout")
    assert "hare of the first token in a token, by “vectors”" in page_text(*of)
    assert "hare of BOS in a token, by “vectors”" in page_text(*of, turned_folder)


def test_a_page_says_that_it_is_a_type_of_its_own_where_it_is(
    page_text, store_folder, turned_folder, images_folder
):
    assert ABSENCE in page_text("overview")
    for folder in (store_folder, turned_folder, images_folder):
        assert ABSENCE not in page_text("overview", folder=folder)


def test_a_head_that_rests_on_the_first_token_is_named_so(after, page_text):
    after("update stored.head_pattern set mean = 0.7, low = 0.65 where quantity = 'first'")
    assert "“first token”, mean over layers and heads, 70.0%" in page_text(
        "habits", "hh_view=layers"
    )


@pytest.mark.parametrize(
    ("fixture", "token_type", "importance", "sentence"),
    [
        ("after_bos", "bos", 6, "attention to BOS has 66.7%, "),
        ("after", "first", 1, "attention to the first token has 25.0%, "),
    ],
)
def test_gradients_are_set_against_the_attention(
    request, fixture, token_type, importance, sentence
):
    request.getfixturevalue(fixture)(
        "update stored.head_pattern set mean = 0.1 where quantity <> 'uniform'",
        "update stored.head_pattern set mean = 0.5 where quantity = 'first'",
        "update stored.gradient_importance "
        f"set importance = if(token_type = '{token_type}', {importance}, 3)",
        f"delete from stored.gradient_importance where token_type not in ('{token_type}', 'other')",
    )
    finding, *_ = findings(MATTERS, "habits", inquiry())
    assert sentence in finding.sentence
    assert "its share of the weight, 50.0%" in finding.sentence


def test_an_entry_of_the_vocabulary_is_first_where_it_is_nothing_else(gpt2_folder):
    with duckdb.connect(str(gpt2_folder / "tiny.duckdb"), read_only=True) as store:
        elsewhere = dict(
            store.sql("""
                select token, bool_and(token_type = 'first') from token group by token
                having bool_or(token_type = 'first')""").fetchall()
        )
        assert set(elsewhere.values()) == {True, False}
        frame = store.execute(TOKENS, {"layer": 1, "head": 1, "least": 1}).df()
        types = dict(zip(frame["token"], frame["token_type"], strict=True))
        assert {token: types[token] == "first" for token in elsewhere} == elsewhere


def test_compared_files_tell_what_the_first_token_gets(gpt2_folder):
    with duckdb.connect(str(gpt2_folder / "tiny.duckdb"), read_only=True) as store:
        rows = unit_values(store)
        wide = rows.pivot(index=["unit", "layer"], columns="number", values="value")
        given = store.sql("select avg(first) from sequence_head_pattern").fetchall()
    assert not {"cls_weight", "sep_weight"} & set(wide.columns)
    for weighing in ("weight", "norm"):
        both = wide[f"first_{weighing}"] + wide[f"rest_{weighing}"]
        assert both.dropna().to_numpy() == pytest.approx(1)
    assert wide["first_weight"].mean() == pytest.approx(given[0][0])
