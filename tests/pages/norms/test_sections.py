"""Every section shows the numbers that the file holds."""

import json
from html import unescape
from itertools import cycle

import duckdb
import numpy as np
import pandas as pd
import pytest

from analysis.statistics.norms import attention_norm_distribution
from pages.norms.pair_panels import edges
from tests.pages.conftest import bodies, charts, frames, in_address, sentences
from tests.pages.kit.copies import lacking
from tests.pages.kit.figures import click
from tests.pages.kit.section_checks import stems


def test_only_the_chosen_section_is_drawn(section, gpt2_folder):
    session = section("frequency")
    assert len(session.header) == len(charts(session)) == len(frames(session)) == 1
    [shown] = frames(section("frequency", gpt2_folder))
    assert len(shown) == shown["name"].nunique() == 2, "no special tokens are left out of"


def test_shares_of_the_norm_add_up_to_1_in_every_layer(section):
    shown = frames(section("layers"))[0]
    assert shown.groupby("layer")["norm_share"].sum().tolist() == pytest.approx([1.0, 1.0])


def test_the_card_tells_what_the_file_says_of_the_head(section, answers):
    session = section("heads", head="2-3")
    ((mean, std, cv),) = answers(
        "select mean, std, cv from value_norm_dispersion where layer = 2 and head = 3"
    )
    ((largest,),) = answers("select max(value) from singular_value where layer = 2 and head = 3")
    values = [metric.value for metric in session.metric]
    assert values[:3] == [f"{mean:.2f} ± {std:.2f}", f"{cv:.2f}", f"{largest:.2f}"]


def test_density_cells_hold_every_pair_of_every_type(section, answers, store_folder):
    with duckdb.connect(str(store_folder / "tiny.duckdb"), read_only=True) as store:
        cells = attention_norm_distribution.densities(store, layer=None, head=None)
    pairs = dict(
        answers("select token_type, n from attention_norm_correlation where layer is null")
    )
    assert cells.groupby("token_type")["n"].sum().to_dict() == pairs
    (panels, *_) = charts(section("relation"))
    assert len(panels["concat"]) == len(pairs)


def test_cells_of_the_density_have_the_edges_of_their_values():
    values = np.array([2.0**-24, 0.1, 0.75, 0.999], dtype=np.float32)
    bins = pd.Series(values.view(np.int32) >> 22)
    low, high = edges(bins, 22), edges(bins + 1, 22)
    assert (low <= values).all()
    assert (values < high).all()
    assert (high / low).max() <= 1.5


def test_every_pair_of_the_sample_lies_in_a_cell_of_the_density(store_folder):
    with duckdb.connect(str(store_folder / "tiny.duckdb"), read_only=True) as store:
        cells = attention_norm_distribution.densities(store, layer=None, head=None)
        pairs = attention_norm_distribution.scatter(store, layer=None, head=None, limit=1000)
    drawn = {tuple(row) for row in cells[["token_type", "attention_bin", "norm_bin"]].to_numpy()}
    bits = pairs[["attention", "value_norm"]].to_numpy(np.float32).view(np.int32)
    lowest, highest = np.float32(2**-24).view(np.int32), np.float32(1).view(np.int32) - 1
    alpha, norm = np.clip(bits[:, 0], lowest, highest) >> 22, bits[:, 1] >> 21
    assert set(zip(pairs["token_type"], alpha, norm, strict=True)) <= drawn


def test_the_tables_of_dispersion_name_the_extreme_heads(section, answers):
    tables = {next(iter(frame)): frame for frame in frames(section("dispersion"))}
    heads, inputs = tables["which_heads"], tables["which_inputs"]
    (largest, smallest) = answers(
        "select max(cv), min(cv) from value_norm_dispersion where layer is not null "
        "union all select max(cv), min(cv) from input_norm_dispersion where layer is not null"
    )
    assert heads["cv"].tolist()[:2] == pytest.approx(list(largest))
    assert inputs["cv"].tolist()[:2] == pytest.approx(list(smallest))
    assert not heads["which_heads"].str.contains("nan|\\.0").any()


def test_a_click_on_a_ratio_draws_the_spectrum_of_its_head(section):
    session = section("spectra")
    assert session.session_state["an_heads"] == ["1-1", "2-1"]
    click(session, "an_map", "cell", {"layer": 2, "head": 3})
    assert session.session_state["an_heads"] == ["1-1", "2-1", "2-3"]
    click(session, "an_map", "cell", {"layer": 1, "head": 1})
    assert session.session_state["an_heads"] == ["2-1", "2-3"]


def test_a_click_on_a_row_reads_its_token_until_another_is_chosen(section):
    session = section("head", an_least="1")
    tokens = frames(session)[1]["token"].tolist()
    assert session.selectbox(key="an_token").value != tokens[2]
    click(session, "an_ranked_weighted_norm", "rows", 2)
    assert session.selectbox(key="an_token").value == tokens[2]
    assert in_address(session, "an_token") == [tokens[2]]
    session.selectbox(key="an_token").set_value("cat").run()
    session.run()
    assert session.selectbox(key="an_token").value == "cat", "an older row undid a newer choice"


def test_each_list_tells_the_place_in_the_other(section):
    by_weight, by_norm, *_ = frames(section("head", an_least="1"))
    places = dict(zip(by_norm["token"], by_norm["place"], strict=True))
    seen = dict(zip(by_weight["token"], by_weight["weighted_norm_place"], strict=True))
    assert seen == places


def test_a_number_that_no_token_reaches_is_told_and_shows_no_empty_list(section):
    session = section("head", an_least="10000")
    assert len(frames(session)) == 1
    assert "10000" in session.info[0].value


def test_the_sequence_that_is_read_is_the_one_where_the_token_gets_most(section, answers):
    session = section("head", head="1-1", an_least="1", an_token="dog")
    ((seq, value),) = answers(
        """
        select seq, attention_received / n_tokens as value
        from head_token join token using (seq, pos) join sequence using (seq)
        where layer = 1 and head = 1 and token = 'dog' order by value desc, seq limit 1
        """
    )
    first = next(line for line in sentences(session).splitlines() if line.startswith("**1.**"))
    assert f"Sequence {seq}," in first
    assert f"{value:.2%}" in first


def test_every_token_is_shaded_once_by_weight_and_once_by_norm(section, answers):
    session = section("head", head="1-1", an_least="1", an_passages="1")
    body = bodies(session)
    assert body.count('class="an-text"') == 2
    titles = [unescape(part.split('"')[0]) for part in body.split('title="')[1:]]
    half = len(titles) // 2
    assert titles[:half] == titles[half:]
    norms = answers("select value_norm from head_token where layer = 1 and head = 1")
    known = {f"‖f(x)‖ {norm:.3f}" for (norm,) in norms}
    assert all(any(name in title for name in known) for title in titles)


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
    list(zip(stems("norms"), cycle(("cls", "sep", "comma_period")))),
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


@pytest.mark.parametrize(
    ("kind", "stem", "said"),
    [
        ("gated", "head", "a token has no length ‖f(x)‖ of its own"),
        ("gated", "dispersion", "a token has no length ‖f(x)‖ of its own"),
        ("gated", "spectra", "f differs from query to query"),
        ("latent", "spectra", "f is no linear map of [x 1]"),
    ],
)
def test_a_section_says_why_the_model_has_no_such_numbers(kind, stem, said, section, changed):
    folder = changed(
        f"update stored.provenance set value = '{kind}' where name = 'transforms'",
        *(statement for table in ("head_token", "singular_value") for statement in lacking(table)),
    )
    session = section(stem, folder)
    assert said in session.info[0].value
    assert not charts(session)
