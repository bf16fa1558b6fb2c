"""Sections on sinks agree with the file, with their baselines."""

import pytest

from pages.sinks.layers import layers
from tests.pages.conftest import bodies, captions, charts, options_of, sentences
from tests.pages.kit.figures import frame_of
from tests.pages.kit.inquiries import inquiry

CLS = "place = 'cls' and head is null"


def _sink(quantity: str, mean: float, more: str = "") -> str:
    ends = f"low = {mean - 0.01}, high = {mean + 0.01}"
    return (
        f"update stored.sink set mean = {mean}, {ends} "
        f"where quantity = '{quantity}' and {CLS}{more}"
    )


def test_places_are_those_of_the_corpus_and_the_opening_token_comes_first(section, gpt2_folder):
    session = section("layers")
    names = ["the first token", "the text's first token"]
    names += ["[CLS]", "[SEP]", "comma/period", "other"]
    assert options_of(session, "si_place") == names
    assert session.session_state["si_place"] == "cls"
    session = section("layers", gpt2_folder)
    names = [*names[:2], *names[4:]]
    assert options_of(session, "si_place") == names
    assert session.session_state["si_place"] == "first"


def test_the_layer_with_most_is_told_beside_what_is_nothing_special(section, after):
    after(
        _sink("attention", 0.2),
        _sink("attention", 0.6, " and layer = 2"),
        _sink("even", 0.1),
        _sink("neighbour", 0.05),
        _sink("norm_share", 0.03),
    )
    text = sentences(section("layers"))
    assert "most of a query's attention in layer 2: 60% [59%, 61%]" in text
    assert "The 95% interval lies above even attention and above the token beside." in text
    assert "Mean over the layers: 40% of the attention, 3% of what arrives" in text
    assert "Even attention would give it 10%, and the token beside it gets 5%" in text
    assert "Of what arrives, by norms, 3% comes from it" in text


def test_a_token_that_gets_no_more_than_its_neighbour_is_no_sink(section, after):
    for neighbour, expected in ((0.2, "no clear difference"), (0.3, "lies below even attention")):
        after(_sink("attention", 0.2), _sink("even", 0.1), _sink("neighbour", neighbour))
        assert expected in sentences(section("layers"))


def test_the_rate_is_that_of_the_threshold(section, after, exported):
    after(
        "update stored.sink_rate set mean = 0.25, low = 0.2, high = 0.3 where layer is null",
        "update stored.sink_rate set mean = 0.75, low = 0.7, high = 0.8 "
        "where layer is null and threshold < 0.15",
        "update stored.sink set mean = 0.1 where head is not null",
        "update stored.sink set mean = 0.5 where head = 2 and layer = 1 and quantity = 'attention'",
    )
    session = section("heads")
    assert "The sink rate is 25% [20%, 30%] of heads" in sentences(session)
    assert "1 of 6 heads are above the threshold" in sentences(session)
    assert "A dot marks heads above 30%" in captions(session)
    frame = frame_of(exported, "si_heads_map")
    assert frame[~frame["below"]][["layer", "head"]].to_numpy().tolist() == [[1, 2]]
    session = section("heads", si_threshold="0.1")
    assert "The sink rate is 75% [70%, 80%] of heads" in sentences(session)
    assert "By norms the rate is 25%" in sentences(section("heads", si_quantity="norm_share"))
    after("update stored.sink_rate set mean = 0, low = 0, high = 0 where quantity = 'attention'")
    assert "No head gives [CLS] more than 30%" in sentences(section("heads"))


def test_parts_of_a_score_are_told_and_what_is_not_clear_of_0(section, after):
    set_part = (
        "update stored.sink_score set mean = {}, low = {}, high = {} "
        "where place = 'cls' and head is null and quantity = '{}'"
    )
    after(
        set_part.format(2, 1.9, 2.1, "excess"),
        set_part.format(2.5, 2.4, 2.6, "direction"),
        set_part.format(-0.5, -1.1, 0.1, "norm"),
        set_part.format(1.5, 1.4, 1.6, "query_bias"),
    )
    text = sentences(section("scores"))
    assert "by 2.00 [1.90, 2.10]" in text
    assert "The 95% interval of that difference lies above 0." in text
    assert "most by the direction of the key" in text
    assert "direction of the key 2.50 [2.40, 2.60]" in text
    assert "length of the key −0.50 [−1.10, 0.10] (not clear of 0)" in text
    assert "bias alone, whatever they are about, makes 1.50" in text
    assert "No part is due to key biases" in text
    after(set_part.format(-1, -1.1, -0.9, "excess"))
    assert "in no layer does its score lie above" in sentences(section("scores"))
    after(set_part.format(1, -0.1, 2, "excess"))
    assert "does its score clearly lie above" in sentences(section("scores"))


@pytest.mark.parametrize("order", ["most", "least"])
def test_texts_come_with_the_share_and_a_way_to_look_into_them(order, section, answers):
    session = section("texts", si_order=order, si_texts=1, head="2-1")
    sign = "desc" if order == "most" else "asc"
    [(seq, share)] = answers(
        "select seq, attention from sequence_sink where place = 'cls' and layer = 2 and head = 1 "
        f"order by attention {sign}, seq limit 1"
    )
    assert f"**1.** Text {seq}, " in sentences(session)
    assert f"{share:.0%} of the attention" in sentences(session)
    [(n_kept, n_tokens)] = answers(
        "select (select n from exemplar_attention e where e.seq = s.seq and layer = 2 and "
        f"head = 1), n_tokens from sequence s where seq = {seq}"
    )
    has_all = n_kept == n_tokens
    assert len(charts(session)) == has_all, "lines between the tokens"
    assert ("an-text" in bodies(session)) != has_all


LAYER = "update stored.sink set mean = {}, low = {}, high = {} where place = 'cls' and head is null"


def _set(quantity: str, mean: float) -> str:
    return LAYER.format(mean, mean - 0.01, mean + 0.01) + f" and quantity = '{quantity}'"


def test_a_sink_is_set_against_even_attention_and_what_arrives_over_all_layers(after):
    after(
        _set("attention", 0.38),
        _set("attention", 0.18) + " and layer = 1",
        _set("even", 0.01),
        _set("norm_share", 0.04),
    )
    [finding] = layers.findings(inquiry())
    assert finding.number == "28% → 4%"
    assert "even attention would give it 1%" in finding.sentence
    assert "by norms, 4% comes from it" in finding.sentence
    row = finding.evidence.iloc[0]
    assert (row["low"], row["high"]) == pytest.approx((0.27, 0.29))
    assert finding.side == "above"
    after(_set("attention", 0.01), _set("even", 0.01))
    [finding] = layers.findings(inquiry())
    assert finding.side == "unclear", "even attention is no sink"
