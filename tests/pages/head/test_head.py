"""The page on one head: its numbers and texts, and addresses of older versions."""

import pytest

from pages.ui.choices.links import current_place
from pages.ui.words.numbers import percent
from tests.pages.conftest import assert_sound, bodies, sentences

HEAD = "layer = 2 and head = 1"


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize("view", ["profile", "tokens", "offsets", "words", "waves"])
def test_every_section_is_sound(view, lang, opened, store_folder):
    assert_sound(opened("head", store_folder, lang=lang, he_view=view, head="2-1"))


def test_a_number_stands_beside_the_median_head(opened, store_folder, answers):
    ((rate, median),) = answers(
        "with heads as (select layer, head, avg((attention > 0.3)::int) as rate "
        "from sequence_sink where place = 'first' group by all) "
        f"select max(rate) filter ({HEAD}), median(rate) from heads"
    )
    shown = bodies(opened("head", store_folder, head="2-1"))
    assert f'<div class="facts-value">{percent(rate)}</div>' in shown
    assert f"Median head {percent(median)}; rank" in shown


def test_texts_are_those_in_which_the_habit_is_strongest(opened, store_folder, answers):
    chosen = {"he_by": "habit", "he_habit": "comma_period", "he_texts": "2"}
    session = opened("head", store_folder, he_view="tokens", head="2-1", **chosen)
    best = answers(
        f"select seq, comma_period from sequence_head_pattern where {HEAD} "
        "and comma_period is not null order by comma_period desc, seq limit 2"
    )
    for place, (seq, share) in enumerate(best, start=1):
        [line] = [line for line in sentences(session).splitlines() if f"**{place}.**" in line]
        assert f"Text {seq}," in line
        assert percent(share) in line


@pytest.mark.parametrize(
    ("page", "query", "current"),
    [
        ("attention-norms", "an_view=layers", "norms?an_view=layers"),
        (
            "attention-norms",
            "an_view=head&an_token=a&head=2-1",
            "head?he_token=a&head=2-1&he_view=tokens",
        ),
        ("head-habits", "hh_view=one_head&hh_head=2-1", "head?hh_head=2-1&he_view=profile"),
        ("sinks", "si_view=texts&file=x.duckdb", "head?file=x.duckdb&he_view=tokens"),
        ("positions", "po_view=one_head&po_reach=10", "head?he_reach=10&he_view=waves"),
        ("positions", "po_view=claim", "positions?po_view=claim"),
    ],
)
def test_an_older_address_leads_to_where_its_section_is(page, query, current):
    pairs = [tuple(pair.split("=")) for pair in query.split("&")]
    now, kept = current_place(page, pairs)
    assert f"{now}?" + "&".join("=".join(pair) for pair in kept) == current
