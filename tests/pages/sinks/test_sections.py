"""Sections on sinks: their numbers by hand, and the verdicts on planted ones."""

import pytest

from pages.sinks.page import PAGE
from pages.ui.store.chosen import open_store
from tests.freeze import Frames, shown
from tests.pages.conftest import bodies, charts, options_of, sentences
from tests.pages.kit.inquiries import inquiry

OF_CLS = "place = 'cls' and head is null"


def drawn(stem: str, **choices: str) -> Frames:
    """Frames of a section of the first file, with their headlines, by the names of figures."""
    [section] = [section for section in PAGE.sections if section.stem == stem]
    return shown(PAGE, section, open_store(), {name: [value] for name, value in choices.items()})[1]


def planted(table: str, where: str, **means: float | tuple[float, float, float]) -> list[str]:
    """SQL that sets means, with intervals of ± 0.001 unless ends are given, by quantity."""
    rows = {
        quantity: mean if isinstance(mean, tuple) else (mean, mean - 0.001, mean + 0.001)
        for quantity, mean in means.items()
    }
    return [
        f"update stored.{table} set mean = {mean}, low = {low}, high = {high} "
        f"where quantity = '{quantity}' and {where}"
        for quantity, (mean, low, high) in rows.items()
    ]


def of_types(**means: float) -> list[str]:
    return [
        line
        for token_type, mean in means.items()
        for line in planted("head_effect", f"token_type = '{token_type}'", length=mean)
    ]


SINK = planted("sink", OF_CLS, attention=0.27, even=0.01, neighbour=0.02, norm_share=0.03)
PLANTS = [
    (
        "layers",
        SINK,
        "**Attention gathers on [CLS]**: attention to [CLS], of the queries that can see it, 27.0% "
        "[26.9%, 27.1%], above even attention, 1.0% [0.9%, 1.1%], and the token beside it, 2.0% "
        "[1.9%, 2.1%]. **Less arrives from [CLS] than goes to it**",
    ),
    (
        "layers",
        [*SINK, *planted("sink", f"{OF_CLS} and layer = 2", attention=0.37)],
        "Share of the attention in layer 2, the largest of all layers, 37.0% [36.9%, 37.1%].",
    ),
    (
        "layers",
        planted("sink", OF_CLS, attention=0.011, even=0.015, neighbour=0.008),
        "**Attention does not gather on [CLS]**",
    ),
    (
        "layers",
        [*SINK, *planted("sink", OF_CLS, neighbour=(0.2, 0.1, 0.3))],
        "**It is not clear that attention gathers on [CLS]**",
    ),
    (
        "layers",
        planted("sink", OF_CLS, attention=0.1, even=0.2, neighbour=0.3),
        "**Attention avoids [CLS]**",
    ),
    (
        "layers",
        [*SINK, *planted("sink", OF_CLS, norm_share=0.5)],
        "**More arrives from [CLS] than goes to it**",
    ),
    (
        "heads",
        planted("sink_rate", "layer is null", attention=0.25, neighbour=0.0, even=0.0),
        "more than 30% of their attention, 25.0% [24.9%, 25.1%], above even attention, 0.0%",
    ),
    (
        "heads",
        [
            "update stored.sink set mean = 0.1 where head is not null",
            "update stored.sink set mean = 0.5 where head = 2 and layer = 1",
        ],
        "On average, 1 of 6 heads are above 30%.",
    ),
    (
        "nothing",
        of_types(cls=0.05, sep=0.06, comma_period=0.3),
        "if comma/period brings nothing in any layer 30.0% [29.9%, 30.1%], above [SEP], 6.0% "
        "[5.9%, 6.1%], and [CLS], 5.0% [4.9%, 5.1%].",
    ),
    (
        "scores",
        planted("sink_score", OF_CLS, excess=2, direction=2.5, norm=-0.5, query_bias=1.5),
        "**The score of [CLS] lies above those of the other keys**: score of [CLS] above others, "
        "in nats, in layer 1, where it is highest, 2.000 [1.999, 2.001], above 0. Its largest "
        "part there, by the direction of the key, 2.500 [2.499, 2.501], above 0. Excess there by "
        "the query's bias alone, whatever the query is about, 1.500 [1.499, 1.501], above 0.",
    ),
    (
        "scores",
        planted("sink_score", OF_CLS, excess=(1, -0.1, 2)),
        "**In no layer does the score of [CLS] clearly lie above",
    ),
    (
        "scores",
        planted("sink_score", OF_CLS, excess=-1),
        "**In no layer does the score of [CLS] lie above",
    ),
]


@pytest.mark.parametrize(("stem", "statements", "expected"), PLANTS)
def test_a_verdict_is_that_of_planted_rows(after, stem, statements, expected):
    after(*statements)
    assert expected in " ".join(headline for _, headline in drawn(stem).values())


def test_the_overview_holds_a_sink_against_even_attention(after):
    after(*SINK)
    [finding] = PAGE.sections[0].findings(inquiry())
    assert (finding.number, finding.side) == ("27%", "above")


@pytest.mark.parametrize(
    ("stem", "figure", "by_hand"),
    [
        (
            "layers",
            "si_layers_weights",
            "select layer, avg(attention) as mean from sequence_sink where place = 'cls'",
        ),
        (
            "heads",
            "si_heads_rates",
            "select layer, avg((attention > 0.3)::int) as mean from sequence_sink "
            "where place = 'cls'",
        ),
    ],
)
def test_numbers_are_those_of_all_texts_and_heads(
    store_folder, after, store, stem, figure, by_hand
):
    frame, _ = drawn(stem)[figure]
    expected = store.sql(f"{by_hand} group by layer order by layer").df()
    of_weights = frame[frame["quantity"] == "attention"]
    assert of_weights["layer"].tolist() == expected["layer"].tolist()
    assert of_weights["mean"].tolist() == pytest.approx(expected["mean"].tolist(), abs=1e-6)


def test_no_token_is_a_place_where_heads_have_sink_logits(section, sink_logits_folder, monkeypatch):
    assert "no token" not in options_of(section("layers"), "si_place")
    session = section("layers", sink_logits_folder, si_place="no_token")
    assert options_of(session, "si_place")[-1] == "no token"
    assert "Attention to no token " in sentences(session)
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(sink_logits_folder))
    of_no_token, places, _ = (frame for frame, _ in drawn("layers", si_place="no_token").values())
    assert set(of_no_token["quantity"]) == {"no_token", "even", "first", "early", "late"}
    nowhere = of_no_token[of_no_token["quantity"] == "no_token"]["mean"].tolist()
    assert places[places["place"] == "no_token"]["mean"].tolist() == nowhere
    [(frame, headline)] = drawn("heads", si_place="no_token").values()
    assert frame.groupby("layer")["mean"].mean().tolist() == pytest.approx(nowhere)
    assert "of 8 heads are above 30%" in headline


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
