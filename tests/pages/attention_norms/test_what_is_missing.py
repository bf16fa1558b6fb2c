"""A file without a token type, without variation or without a statistic shows nothing empty."""

import json
from itertools import cycle

import pytest

from tests.pages.attention_norms.conftest import SECTIONS
from tests.pages.conftest import charts, frames, sentences

TYPED = (
    "token_type_mixing",
    "attention_norm_correlation",
    "attention_norm_histogram",
    "attention_norm_sample",
    "head_token",
)


def without(token_type: str) -> list[str]:
    return [f"delete from stored.{table} where token_type = '{token_type}'" for table in TYPED]


@pytest.mark.parametrize(
    ("view", "token_type"), list(zip(SECTIONS, cycle(("cls", "sep", "comma_period"))))
)
def test_a_type_that_never_occurs_is_nowhere(view, token_type, changed, section):
    session = section(view, changed(*without(token_type)))
    assert "nan" not in sentences(session).lower()
    assert f'"{token_type}"' not in json.dumps(charts(session))
    for frame in frames(session):
        assert len(frame)
        assert "token_type_named" not in frame or len(set(frame["token_type_named"])) == 3


@pytest.mark.parametrize("view", ["layers", "heads", "head", "relation"])
def test_a_model_without_special_tokens_has_its_sections(view, changed, section):
    deleted = [line for kind in ("cls", "sep", "comma_period") for line in without(kind)]
    session = section(view, changed(*deleted))
    assert "nan" not in sentences(session).lower()
    assert charts(session) or view == "head"


def test_a_corpus_of_other_tokens_alone_is_told(changed, section):
    deleted = [line for kind in ("cls", "sep", "comma_period") for line in without(kind)]
    assert "neither special tokens" in sentences(section("layers", changed(*deleted)))


def test_correlations_of_what_never_varies_are_told_and_draw_nothing(changed, section):
    session = section(
        "relation", changed("update stored.attention_norm_correlation set spearman = null")
    )
    assert len(charts(session)) == 1, "only the pairs themselves"
    assert session.info
    assert frames(session)[0]["spearman"].isna().all()


def test_frequencies_that_never_vary_are_told_and_draw_nothing(changed, section):
    session = section(
        "frequency",
        changed("update stored.frequency_correlation set spearman = null, low = null, high = null"),
    )
    assert not charts(session)
    assert session.info


def test_a_head_that_maps_to_nothing_has_no_ratio(changed, section):
    session = section("spectra", changed("update stored.singular_value set value = 0"))
    assert "no ratio" in sentences(session)
    assert len(charts(session)) == 1
    assert section("spectra", changed("select 1"), an_spectrum="log").get("vega_lite_chart")


@pytest.mark.parametrize("view", ["heads", "head", "relation", "dispersion"])
def test_a_card_leaves_out_what_the_file_lacks(view, changed, section):
    lacking = [
        "singular_value",
        *(["token_type_mixing"] if view != "heads" else []),
        *(["attention_norm_correlation"] if view != "relation" else []),
    ]
    folder = changed(
        *(f"delete from stored.{table}" for table in lacking),
        *(f"update stored.manifest set n_rows = 0 where name = '{table}'" for table in lacking),
    )
    assert section(view, folder).header
