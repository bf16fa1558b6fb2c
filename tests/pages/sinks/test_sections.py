"""Sections on sinks: their numbers by hand, and the verdicts on planted ones."""

import pytest

from pages.kit.recorded import findings
from pages.services.chosen import open_store
from pages.sinks.page import PAGE
from tests.pages.conftest import options_of, sentences
from tests.pages.kit.frames import Frames, shown
from tests.pages.kit.inquiries import inquiry

OF_CLS = "place = 'cls' and head is null"


def drawn(stem: str, **choices: str) -> Frames:
    """Frames of a section of the first file, with their headlines, by the names of figures."""
    [section] = [section for section in PAGE.sections if section.name == stem]
    return shown(PAGE, section, open_store(), {name: [value] for name, value in choices.items()})


def planted(table: str, where: str = OF_CLS, half: float = 0.001, **means: float) -> list[str]:
    """SQL that sets means, with intervals of ± `half`, by quantity."""
    return [
        f"update stored.{table} set mean = {mean}, low = {mean - half}, high = {mean + half} "
        f"where quantity = '{quantity}' and {where}"
        for quantity, mean in means.items()
    ]


SINK = planted("sink", attention=0.27, even=0.01, neighbour=0.02, norm_share=0.03)
IN_LAYER_2 = planted("sink", f"{OF_CLS} and layer = 2", attention=0.37)
OF_HEADS = "update stored.sink set mean = if(head = 2 and layer = 1, 0.5, 0.1) where head >= 1"
OF_TYPES = [
    *planted("head_effect", "token_type in ('cls', 'sep')", length=0.05),
    *planted("head_effect", "token_type = 'comma_period'", length=0.3),
]
PARTS = planted("sink_score", excess=2, direction=2.5, norm=-0.5, query_bias=1.5)
PLANTS = [
    ("layers", SINK, "**Attention gathers on [CLS]**: attention to [CLS], of the queries that can"),
    (
        "layers",
        SINK,
        "27.0% [26.9%, 27.1%], above even attention, 1.0% [0.9%, 1.1%], and the token",
    ),
    ("layers", SINK, "**Less arrives from [CLS] than goes to it**"),
    ("layers", [*SINK, *IN_LAYER_2], "in layer 2, the largest of all layers, 37.0% [36.9%"),
    ("layers", planted("sink", attention=0.011, even=0.015, neighbour=0.008), "does not gather"),
    ("layers", [*SINK, *planted("sink", half=0.2, neighbour=0.2)], "does not clearly gather on"),
    ("layers", planted("sink", attention=0.1, even=0.2, neighbour=0.3), "**Attention avoids [CLS]"),
    ("layers", [*SINK, *planted("sink", norm_share=0.5)], "**More arrives from [CLS] than goes"),
    ("heads", planted("sink_rate", "layer is null", attention=0.25), "25.0% [24.9%, 25.1%]"),
    ("heads", [OF_HEADS], "On average, 1 of 6 heads are above 30%."),
    ("nothing", OF_TYPES, "if comma/period brings nothing in any layer 30.0% [29.9%, 30.1%]"),
    ("scores", PARTS, "**The score of [CLS] lies above those of the other keys**: score of [CLS]"),
    ("scores", PARTS, "Its largest part there, by the direction of the key, 2.500 [2.499, 2.501]"),
    ("scores", planted("sink_score", half=2, excess=1), "**In no layer does the score of [CLS] cl"),
    ("scores", planted("sink_score", excess=-1), "**In no layer does the score of [CLS] lie"),
]


@pytest.mark.parametrize(("stem", "statements", "expected"), PLANTS)
def test_a_verdict_is_that_of_planted_rows(after, stem, statements, expected):
    after(*statements)
    assert expected in " ".join(headline for _, headline in drawn(stem).values())


def test_the_overview_holds_a_sink_against_even_attention(after):
    after(*SINK)
    [finding] = findings(PAGE.sections[0], "sinks", inquiry())
    assert (finding.number, finding.side) == ("27.0%", "above")


ABOVE = "(attention > 0.3)::int"


@pytest.mark.parametrize(
    ("stem", "figure", "value"), [("layers", "weights", "attention"), ("heads", "rates", ABOVE)]
)
def test_numbers_are_those_of_all_texts_and_heads(store_folder, after, store, stem, figure, value):
    frame, _ = drawn(stem)[f"si_{stem}_{figure}"]
    expected = store.sql(
        f"select layer, avg({value}) as mean from sequence_sink where place = 'cls' "
        "group by layer order by layer"
    ).df()
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
