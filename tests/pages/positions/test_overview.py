"""What the overview says of positions is what the file says."""

import pytest

from pages.ui.words.numbers import percent
from tests.pages.conftest import sentences

PEAK = "frequency between 63.9 and 64.1"


def numbers(session) -> list[str]:
    return [each.value for each in session.subheader]


def test_the_agreement_of_all_heads_is_told_with_its_interval(findings_of, changed, told):
    [(n, share, chance)] = told(
        "select n_heads, agreement, chance from offset_agreement "
        "where counting = 'sum' and min_dependence = 0 and layer is null"
    )
    between = "update stored.offset_agreement set agreement_low = 0.25, agreement_high = 0.75"
    session = findings_of("positions", changed(between))
    assert percent(share) in numbers(session)
    said = sentences(session)
    assert f"Of all {n} heads, {percent(share)}" in said
    assert f"(95 % interval over heads: 25 % to 75 %); {percent(chance)} would" in said


def test_too_few_heads_have_no_interval(findings_of, store_folder):
    assert "(too few heads for an interval); " in sentences(findings_of("positions", store_folder))


def test_no_head_that_depends_on_position_is_no_sentence(findings_of, changed):
    folder = changed("delete from stored.offset_agreement where min_dependence > 0.01")
    said = sentences(findings_of("positions", folder))
    assert "Of all" in said
    assert "depends on relative position" not in said


def test_agreement_where_nothing_is_shifted_is_told_apart(findings_of, changed):
    agree = "update stored.head_offset set score_offset = 1, attention_offset = 1, dependence = "
    here = "update stored.head_offset set score_offset = 0, attention_offset = 0 "
    folder = changed(
        agree + "0.05",
        here + "where layer = 2",
        "update stored.head_offset set dependence = 0.3 where head = 1",
        "update stored.head_offset set attention_offset = 2 where layer = 1 and head = 3",
        "update stored.offset_agreement set agreement = 0.5",
        "delete from stored.offset_agreement where min_dependence = 0.1",
        "insert into stored.offset_agreement select * replace (0.1 as min_dependence, 2 as n_heads)"
        " from stored.offset_agreement where min_dependence = 0",
    )
    said = sentences(findings_of("positions", folder))
    assert "Of the 5 that agree, 3 do so at offset 0, the token itself" in said
    assert "(η² ≥ 0.1), 50% do, 1 of them at offset 0; by chance" in said.replace(" %", "%")
    folder = changed(agree + "0.3")
    assert "do so at offset 0" not in sentences(findings_of("positions", folder))


def test_heads_whose_attention_never_varies_are_not_told_apart(findings_of, changed):
    folder = changed(
        "update stored.head_offset set score_offset = 0, attention_offset = 0",
        "update stored.head_offset set dependence = null where layer = 1",
    )
    assert "Of the 3 that agree, 3 do so" in sentences(findings_of("positions", folder))


def test_no_head_at_all_is_no_finding(findings_of, changed):
    said = sentences(findings_of("positions", changed("delete from stored.offset_agreement")))
    assert "queries and keys correlate" not in said


def test_a_wave_of_the_embeddings_is_told_where_one_stands_out(findings_of, changed):
    level = "update stored.embedding_spectrum set mean = 1, q25 = 1, q75 = 1, max = 100"
    wave = f"update stored.embedding_spectrum set mean = 50 where control = 'kept' and {PEAK}"
    assert "f = 64" in numbers(findings_of("positions", changed(level, wave)))
    assert not [
        each for each in numbers(findings_of("positions", changed(level))) if each[0] == "f"
    ]


@pytest.mark.parametrize(("first", "last"), [(8, 3), (2, 2)])
def test_the_waves_of_queries_are_told_in_the_first_layer_and_the_last(
    first, last, findings_of, changed
):
    as_it_is = "update stored.state_spectrum set max = {} * n_sequences where control = 'compared'"
    folder = changed(
        "update stored.state_spectrum set max = n_sequences",
        as_it_is.format(first) + " and layer = 1",
        as_it_is.format(last) + " and layer = 2",
    )
    assert f"× {first}.0 → × {last}.0" in numbers(findings_of("positions", folder))


def test_texts_that_are_too_short_for_a_spectrum_are_no_finding(findings_of, changed):
    session = findings_of("positions", changed("delete from stored.state_spectrum"))
    assert not session.exception
    assert not [each for each in numbers(session) if each.startswith("×")]
