"""The claim over all heads: numbers agree with the file, and contradicting heads are described."""

import numpy as np
import pandas as pd
import pytest

from analysis.published.numbers import EXPERIMENTS
from analysis.published.positions import NUMBERS, OFFSETS, SHIFT
from pages.positions.claim import _disagreement, _finding, published_offsets
from pages.ui.words.numbers import offset_label, signed
from pages.ui.words.scope import words_of
from tests.pages.conftest import sentences
from tests.pages.kit.figures import frame_of
from tests.pages.kit.inquiries import view_of

VIEW = view_of("po", "claim")


def over_all_heads(**other: float) -> pd.DataFrame:
    """Agreement of all ten heads, as a query of a file returns it."""
    row = {"layer": np.nan, "n_heads": 10, "agreement": 0.8, "chance": 0.3}
    row |= dict.fromkeys(("agreement_low", "agreement_high"), np.nan)
    row |= dict.fromkeys(("spearman", "spearman_low", "spearman_high"), np.nan)
    return pd.DataFrame([row | other])


def all_heads(*offsets: tuple[int, int, float]) -> pd.DataFrame:
    """Heads of the first layer with the offset of the score, that of attention, and eta squared."""
    frame = pd.DataFrame(offsets, columns=["score", "attention", "dependence"])
    same = frame["score"] == frame["attention"]
    return frame.assign(layer=1, head=range(1, len(frame) + 1), agree=same)


def finding(heads: pd.DataFrame, **other: float) -> str:
    with words_of("positions", "claim"):
        return _finding(VIEW, over_all_heads(**other).iloc[0], heads)


def disagreement(heads: pd.DataFrame) -> str:
    with words_of("positions", "claim"):
        return _disagreement(VIEW, heads)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.6, 0.9, "That is more than chance"),
        (0.2, 0.9, "That is not clearly more than chance"),
        (0.1, 0.2, "That is less than chance"),
        (np.nan, np.nan, "Whether that is more than chance is not known"),
    ],
)
def test_a_verdict_is_beside_chance_only_if_the_whole_interval_is(low, high, verdict):
    text = finding(all_heads((1, 1, 0.3)), agreement_low=low, agreement_high=high)
    assert ("95% interval over heads" in text) == (low == low)
    assert f"would. {verdict}" in text, "right after the interval that it is about"


def test_spearman_is_told_or_said_to_be_missing():
    heads = all_heads((1, 1, 0.3))
    parts = {"within_layers": -0.05, "between_layers": 0.3, "between_layers_spearman": 0.6}
    parts |= dict.fromkeys(("between_layers_spearman_low", "between_layers_spearman_high"), np.nan)
    known = finding(heads, spearman=0.25, spearman_low=-0.5, spearman_high=0.75, **parts)
    assert f"{signed(0.25)} [{signed(-0.5)}, {signed(0.75)}]" in known
    assert "ρ is the sum of −0.05 within layers, +0.30 between layers." in known
    assert "Most of it is between layers, where ρ by itself is +0.60, of too few" in known
    assert ": not clear of 0." in known
    clear = finding(heads, spearman=0.25, spearman_low=0.1, spearman_high=0.75, **parts)
    assert "not clear of 0" not in clear
    assert "no rank correlation" in finding(heads)


def test_what_disagrees_is_told_with_its_side_and_edge():
    text = disagreement(all_heads((-1, -1, 0.3), (10, 2, 0.4), (3, -2, 0.3)))
    assert "**2 heads disagree.** 1 of them still agree on the side" in text
    assert "In 1 of them the score peaks at ±10" in text
    assert "is layer 1, head 2 (η² = 0.40): score +10, attention +2." in text
    assert "No head disagrees." in disagreement(all_heads((4, 4, 0.3)))


def test_agreement_on_the_token_itself_is_told_apart():
    text = finding(all_heads((1, 1, 0.3), (0, 0, 0.3), (0, 0, 0.3), (0, 1, 0.3)))
    assert "Of the 3 that agree, 2 do so at offset 0" in text
    assert "at offset 0" not in finding(all_heads((1, 1, 0.3)))


def test_heads_that_depend_less_on_position_are_left_out(section, changed, exported):
    folder = changed(
        "update stored.head_offset set dependence = 0.05",
        "update stored.head_offset set dependence = 0.3 where layer = 1 and head < 3",
        "delete from stored.offset_agreement where min_dependence = 0.25",
    )
    session = section("claim", folder, po_least="0.25")
    assert "too few for an agreement" in sentences(session)
    shown = frame_of(exported, "po_claim_map")
    assert shown[["layer", "head"]].to_numpy().tolist() == [[1, 1], [1, 2]]
    session = section("claim", folder, po_least="0.5")
    assert "No head has η² ≥ 0.5" in session.info[0].value


@pytest.mark.parametrize(("offset", "written"), [(0, "0"), (3, "+3"), (-10, "−10")])
def test_offsets_are_written_with_their_sign(offset, written):
    assert offset_label(offset) == written


ROBERTA = (
    "update stored.run set model = 'roberta-base', n_layers = 12, n_heads = 12, hidden_size = 768"
)


def published(session) -> pd.DataFrame:
    [table] = [frame.value for frame in session.dataframe if "published" in frame.value]
    return table


def test_the_same_model_is_compared_whatever_the_texts(section, changed):
    session = section("embeddings", changed(ROBERTA))
    assert not [fold for fold in session.expander if "roberta-base" in fold.label]
    assert "difference" in published(session)
    assert any("0 of 3 values" in caption.value for caption in session.caption)


HEADS = pd.DataFrame({"layer": [1, 8], "head": [1, 9], "score_offset": [-2, 3]})


def test_a_shift_is_told_of_the_highest_wave():
    phases = pd.DataFrame(
        {"phase": [0.5, -np.pi / 4, 1.0], "frequency": [0.0, 64.0, 8.0], "amplitude": [99, 3, 2]}
    )
    rows = published_offsets(HEADS, phases)
    assert [row.published for row in rows] == [*OFFSETS, SHIFT]
    assert [row.ours for row in rows] == [-2, 3, pytest.approx(-1)]
    assert [row.agrees for row in rows] == [True, False, True]


def test_a_head_that_the_model_lacks_is_left_open():
    rows = published_offsets(
        HEADS.iloc[:1], pd.DataFrame({"phase": [], "frequency": [], "amplitude": []})
    )
    assert [row.ours for row in rows] == [-2, None, None]


def test_every_number_is_of_an_experiment():
    assert all(number.experiment in EXPERIMENTS for number in NUMBERS)
