"""Weights or norms: one choice for the page, and a section that compares both."""

import pytest

from pages.ui.words.numbers import percent
from tests.pages.conftest import charts, in_address, sentences
from tests.pages.kit.figures import frame_of


@pytest.mark.parametrize("view", ["layers", "breadth", "heads", "one_head"])
def test_the_choice_is_in_the_address_and_changes_every_number(view, section, exported):
    by_weight = section(view)
    weights = dict(exported)
    exported.clear()
    by_norm = section(view, hh_weighing="norm")
    assert in_address(by_norm, "hh_weighing") == ["norm"]
    assert not in_address(by_weight, "hh_weighing")
    key = {"layers": "hh_layers", "breadth": "hh_breadth", "heads": "hh_heads_map"}.get(
        view, "hh_one_head_question"
    )
    weighted, other = (frame_of(figures, key) for figures in (weights, exported))
    assert len(weighted) == len(other)
    assert (weighted["mean"].to_numpy() != other["mean"].to_numpy()).any()


def test_axes_say_what_is_shown_and_published_numbers_stand_beside_weights_alone(section):
    by_weight, by_norm = (
        section("layers", hh_group="neighbours", hh_weighing=weighing)
        for weighing in ("weight", "norm")
    )
    titles = [str(charts(session)) for session in (by_weight, by_norm)]
    assert "share of a token's attention" in titles[0]
    assert "‖αf(x)‖" in titles[1]
    assert "share of a token's attention" not in titles[1]
    folds = [" ".join(fold.label for fold in session.expander) for session in (by_weight, by_norm)]
    assert "Published" in folds[0]
    assert "Published" not in folds[1]


def test_the_choice_stays_from_section_to_section(section):
    session = section("layers", hh_weighing="norm")
    session.session_state["hh_view"] = "heads"
    session.run()
    assert session.session_state["hh_weighing"] == "norm"
    assert "‖αf(x)‖" in str(charts(session))


def test_the_finding_counts_heads_that_are_clear_of_0(section, after, answers):
    after(
        "update stored.head_pattern_difference set weight = 0.4, norm = 0.1, difference = -0.3, "
        "low = -0.4, high = 0.1 where quantity = 'cls'",
        "update stored.head_pattern_difference set high = -0.2 "
        "where quantity = 'cls' and layer = 1",
        "update stored.head_pattern_difference set low = 0.2, high = 0.3 "
        "where quantity = 'cls' and layer = 2 and head = 1",
    )
    ((less,),) = answers("select count(*) from head_pattern where layer = 1")
    ((n,),) = answers("select count(*) from head_pattern")
    text = sentences(section("weighing", hh_quantity="cls"))
    assert f"[CLS]: {percent(0.4)} by weights, {percent(0.1)} by norms" in text
    assert f"smaller in {less} and larger in 1 of {n} heads" in text
    assert f"{n - less - 1} show no clear difference" in text
