"""Published numbers stand beside a file's own only where both are of one experiment."""

from itertools import cycle, pairwise
from pathlib import Path

import pandas as pd
import pytest

from analysis.published.numbers import MODEL, N_SEQUENCES, numbers
from analysis.published.pairs import AMPLIFIED, ATTENUATED
from pages.kit.links import VIEWS
from pages.token_pairs.lists import in_both
from tests.pages.conftest import assert_sound
from tests.pages.kit.copies import changed_copy
from tests.pages.published.conftest import of_run

PAIR_COLUMNS = ["direction", "layer", "source", "target"]
NORMS, RATIOS = "Not Only a Weight", "Analysis of Masked Language Models"
NETWORK = "through the Lens of Attention Maps"
PLACES = [
    ("norms", "transformation", 0.0, NORMS),
    ("norms", "relation", 0.0, NORMS),
    ("layer_mixing", "similarity", 0.12, NETWORK),
    ("layer_mixing", "ratio", 0.12, RATIOS),
    ("layer_mixing", "frequency", 0.0, RATIOS),
    ("token_pairs", "tables", 0.12, NETWORK),
]
PLACES.sort(key=lambda place: place[2])
each_place = pytest.mark.parametrize(
    ("page", "view", "mask_rate", "paper", "lang"),
    [(*place, lang) for place, lang in zip(PLACES, cycle(("en", "ja")))],
)


def published_tables(session) -> list[pd.DataFrame]:
    return [frame.value for frame in session.dataframe if "published" in frame.value]


def folded(session) -> list:
    return [fold for fold in session.expander if MODEL in fold.label]


@pytest.fixture(scope="module")
def of_rate(store_folder, tmp_path_factory) -> dict[float, Path]:
    """Folders of files of the papers' run by their share of masked tokens."""
    return {
        rate: changed_copy(store_folder, tmp_path_factory.mktemp("same"), *of_run(mask_rate=rate))
        for rate in (0.0, 0.12)
    }


@each_place
def test_the_same_experiment_is_compared_in_the_page(
    page, view, mask_rate, paper, lang, opened, of_rate
):
    session = opened(page, of_rate[mask_rate], lang=lang, **{VIEWS[page]: view})
    assert_sound(session)
    assert not folded(session)
    assert all("difference" in table for table in published_tables(session))
    assert any(paper in caption.value for caption in session.caption)


@each_place
def test_another_experiment_is_folded_and_not_compared(
    page, view, mask_rate, paper, lang, opened, store_folder
):
    session = opened(page, store_folder, lang=lang, **{VIEWS[page]: view})
    assert_sound(session)
    [place] = folded(session)
    assert f"{N_SEQUENCES}" in "".join(text.value for text in place.markdown)
    assert all(list(table) == ["of", "published", "ours"] for table in published_tables(session))


def test_agreement_and_difference_are_those_of_the_file(opened, file_of):
    folder = file_of(
        "update stored.attention_norm_correlation set spearman = -0.6881 "
        "where token_type = 'sep' and layer is null",
    )
    session = opened("norms", folder, an_view="relation")
    [shown] = published_tables(session)
    row = shown[shown["published"] == "−0.69"].iloc[0]
    assert row["ours"] == "−0.688"
    assert row["difference"] == "+0.002"
    assert any("1 of 8 values" in caption.value for caption in session.caption)


def test_similarities_are_those_of_the_steps_around_the_network(opened, store_folder, answers):
    [shown] = published_tables(opened("layer_mixing", store_folder, lm_view="similarity"))
    assert shown["published"].tolist() == ["0.79", "0.96", "0.73"]
    steps = ("attn_res_ln", "attn_res_ln_ff", "attn_res_ln_ff_res", "attn_res_ln_ff_res_ln")
    expected = [
        answers(
            "select spearman from scope_similarity "
            f"where layer is null and scope_a = '{before}' and scope_b = '{after}'"
        )[0][0]
        for before, after in pairwise(steps)
    ]
    assert [float(value) for value in shown["ours"]] == pytest.approx(expected, abs=5e-4)


def test_ratios_by_layer_are_there_for_the_scopes_of_the_paper(opened, store_folder, answers):
    address = {"lm_view": "ratio", "lm_scope": "attn_res"}
    pooled, by_layer = published_tables(opened("layer_mixing", store_folder, **address))
    assert len(pooled) == 15
    assert len(by_layer) == 60
    expected = answers(
        "select mean from mixing_ratio "
        "where layer = 2 and scope = 'attn_res' and token_type = 'sep'"
    )
    ours = by_layer.set_index("of")["ours"]["layer 2: [SEP]: mixing ratio"]
    assert float(ours.removesuffix("%")) == pytest.approx(100 * expected[0][0], abs=0.051)
    [only] = published_tables(opened("layer_mixing", store_folder, lm_view="ratio"))
    assert only.equals(pooled), "the paper has no ratios behind the feed-forward network"


def test_ranks_of_the_corpus_are_not_compared_with_those_of_a_list(opened, file_of):
    folder = file_of(
        "insert into stored.ratio_frequency_correlation "
        "select * replace ('file' as source, -0.8601 as spearman) "
        "from stored.ratio_frequency_correlation where scope = 'attn_res' and not special_tokens"
    )
    session = opened("layer_mixing", folder, lm_view="frequency")
    assert_sound(session)
    [shown] = published_tables(session)
    assert len(shown) == len(numbers("ratio_frequency")) == 10
    compared = shown[shown["ours"].notna()]
    assert compared[["published", "ours"]].to_numpy().tolist() == [["−0.860", "−0.8601"]]


def test_a_pair_is_found_in_the_papers_list_of_its_layer_and_direction_alone():
    pair = ATTENUATED[1][0]
    places = [("attenuated", 1), ("attenuated", 2), ("amplified", 1)]
    listed = pd.DataFrame([(*place, *pair) for place in places], columns=PAIR_COLUMNS)
    printed = in_both(listed)
    assert len(printed) == sum(map(len, (*AMPLIFIED.values(), *ATTENUATED.values())))
    expected = {(*place, *pair) for place in places} & set(
        printed[PAIR_COLUMNS].itertuples(index=False, name=None)
    )
    shared = printed[printed["in_both"]]
    assert set(shared[PAIR_COLUMNS].itertuples(index=False, name=None)) == expected
    assert ("attenuated", 1, *pair) in expected


def test_pairs_of_another_step_are_not_beside_those_of_the_network(opened, store_folder):
    session = opened("token_pairs", store_folder, tp_view="tables", tp_effect="ff_ln")
    assert not folded(session)
