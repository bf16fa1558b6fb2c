"""A file without a token type, without variation or without a statistic shows nothing empty."""

import json
from itertools import cycle

import pytest

from tests.pages.conftest import charts, frames, sentences
from tests.pages.kit.section_checks import stems

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
    ("view", "token_type"),
    list(zip(stems("attention_norms"), cycle(("cls", "sep", "comma_period")))),
)
def test_a_type_that_never_occurs_is_nowhere(view, token_type, after, section):
    after(*without(token_type))
    session = section(view)
    assert "nan" not in sentences(session).lower()
    assert f'"{token_type}"' not in json.dumps(charts(session))
    for frame in frames(session):
        assert len(frame)
        assert "token_type_named" not in frame or len(set(frame["token_type_named"])) == 3


def test_what_never_varies_is_told_and_draws_nothing(after, section):
    after(
        "update stored.attention_norm_correlation set spearman = null, median = null",
        "update stored.frequency_correlation set spearman = null, low = null, high = null",
        "update stored.singular_value set value = 0",
    )
    relation, frequency, spectra = map(section, ("relation", "frequency", "spectra"))
    assert len(charts(relation)) == 1, "only the pairs themselves"
    assert relation.info
    assert frames(relation)[0]["spearman"].isna().all()
    assert not charts(frequency)
    assert frequency.info
    assert "no ratio" in sentences(spectra), "a head that maps to nothing has none"
    assert len(charts(spectra)) == 1
