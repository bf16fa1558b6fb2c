"""The grammar of findings: planted rows, and the sentence that they must make in both languages."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from pages.kit.found import Found
from pages.kit.found import rows_of as evidence_of
from pages.kit.grammar import sentences, verdict, written
from pages.kit.section import Finding
from pages.words import say
from pages.words.scope import words_of

WORDS = {
    "share": ("share of {token_type}", "{token_type} の割合"),
    "even": ("even attention", "均等な注意"),
    "neighbour": ("its neighbour", "隣のトークン"),
    "rho": ("ρ of {head}", "{head} の ρ"),
    "claimed": ("the rate", "比率"),
    "claimed_above": ("Heads rest on it", "ヘッドはそこにとどまる"),
    "claimed_unclear": ("Heads need not rest on it", "ヘッドがとどまるとは限らない"),
    "heads": ("{n} of {of} heads do", "{of} ヘッド中 {n} ヘッド"),
    "token": ("share of “{token}”", "「{token}」の割合"),
}
CLS = {"name": "share", "token_type": "cls"}
PLANTS = [
    (
        "a result above what it is held against",
        [CLS | {"value": 0.27, "low": 0.25, "high": 0.29}, ("even", 0.05, 0.05, 0.05)],
        {},
        "Share of [CLS] 27% [25%, 29%], above even attention, 5%.",
        "[CLS] の割合は 27% [25%, 29%] で、均等な注意（5%）を上回ります。",
    ),
    (
        "a result below what it is held against",
        [("claimed", 0.02, 0.01, 0.03), ("even", 0.05, 0.04, 0.06)],
        {},
        "The rate 2% [1%, 3%], below even attention, 5% [4%, 6%].",
        "比率は 2% [1%, 3%] で、均等な注意（5% [4%, 6%]）を下回ります。",
    ),
    (
        "overlapping intervals are no difference, and the claim says so",
        [("claimed", 0.06, 0.04, 0.08), ("even", 0.05, 0.03, 0.07)],
        {},
        "**Heads need not rest on it**: the rate 6% [4%, 8%], not clearly different from even "
        "attention, 5% [3%, 7%].",
        "**ヘッドがとどまるとは限らない**：比率は 6% [4%, 8%] で、均等な注意（5% [3%, 7%]）との"
        "明確な差はありません。",
    ),
    (
        "the claim of a clear result comes first",
        [("claimed", 0.9, 0.8, 0.95), ("even", 0.05, 0.05, 0.05)],
        {},
        "**Heads rest on it**: the rate 90% [80%, 95%], above even attention, 5%.",
        "**ヘッドはそこにとどまる**：比率は 90% [80%, 95%] で、均等な注意（5%）を上回ります。",
    ),
    (
        "above one baseline and below another",
        [("claimed", 0.3, 0.28, 0.32), ("even", 0.05, 0.05, 0.05), ("neighbour", 0.5, 0.4, 0.6)],
        {},
        "The rate 30% [28%, 32%], above even attention, 5%, but below its "
        "neighbour, 50% [40%, 60%].",
        "比率は 30% [28%, 32%] で、均等な注意（5%）を上回ります。一方、"
        "隣のトークン（50% [40%, 60%]）は"
        "下回ります。",
    ),
    (
        "below one baseline, and not clearly different from another",
        [
            ("claimed", 0.011, 0.01, 0.012),
            ("even", 0.015, 0.015, 0.015),
            ("neighbour", 0.012, 0.01, 0.014),
        ],
        {},
        "**Heads need not rest on it**: the rate 1.1% [1.0%, 1.2%], below even "
        "attention, 1.5%, but "
        "not clearly different from its neighbour, 1.2% [1.0%, 1.4%].",
        "**ヘッドがとどまるとは限らない**：比率は 1.1% [1.0%, 1.2%] で、"
        "均等な注意（1.5%）を下回ります。"
        "一方、隣のトークン（1.2% [1.0%, 1.4%]）との明確な差はありません。",
    ),
    (
        "an interval has the digits at which its ends differ",
        [("claimed", 0.00796, 0.00792, 0.00801)],
        {},
        "The rate 0.80% [0.79%, 0.80%].",
        "比率は 0.80% [0.79%, 0.80%] です。",
    ),
    (
        "a number beside the result is compared with nothing",
        [
            {"name": "claimed", "value": 0.3, "low": 0.2, "high": 0.4, "beside": False},
            {"name": "even", "value": 0.1, "low": 0.1, "high": 0.1, "beside": False},
            {"name": "neighbour", "value": 0.3, "low": 0.3, "high": 0.3, "beside": True},
        ],
        {},
        "**Heads rest on it**: the rate 30% [20%, 40%], above even attention, "
        "10%; its neighbour 30%.",
        "**ヘッドはそこにとどまる**：比率は 30% [20%, 40%] で、均等な注意（"
        "10%）を上回ります（隣のトークンは "
        "30%）。",
    ),
    (
        "clear, but not worth mentioning",
        [("claimed", 0.021, 0.0202, 0.0218), ("even", 0.02, 0.02, 0.02)],
        {"least": 0.01},
        "The rate 2.1% [2.0%, 2.2%], hardly different from even attention, 2.0%.",
        "比率は 2.1% [2.0%, 2.2%] で、均等な注意（2.0%）とほとんど変わりません。",
    ),
    (
        "without an interval nothing is clear",
        [("claimed", 0.9, np.nan, np.nan), ("even", 0.05, 0.05, 0.05)],
        {},
        "The rate 90%, against even attention, 5% (without intervals).",
        "比率は 90%、比較対象は均等な注意（5%）です（区間なし）。",
    ),
    (
        "a correlation against 0, with a true minus sign",
        [{"name": "rho", "layer": 3, "head": 9, "value": -0.04, "low": -0.06, "high": -0.02}],
        {"level": 0.0, "format": "+.2f"},
        "ρ of L3·H9 −0.04 [−0.06, −0.02], below 0.",
        "L3·H9 の ρは −0.04 [−0.06, −0.02] で、0を下回ります。",
    ),
    (
        "a weak correlation is hardly different from 0",
        [{"name": "rho", "layer": 3, "head": 9, "value": -0.04, "low": -0.06, "high": -0.02}],
        {"level": 0.0, "format": "+.2f", "least": 0.1},
        "ρ of L3·H9 −0.04 [−0.06, −0.02], hardly different from 0.",
        "L3·H9 の ρは −0.04 [−0.06, −0.02] で、0とほとんど変わりません。",
    ),
    (
        "a number alone",
        [("claimed", 0.3, np.nan, np.nan)],
        {},
        "The rate 30%.",
        "比率は 30% です。",
    ),
    (
        "a count is a sentence of its own",
        [{"name": "heads", "value": np.nan, "n": 7, "of": 72}],
        {},
        "7 of 72 heads do",
        "72 ヘッド中 7 ヘッド",
    ),
    (
        "text of a corpus cannot style the sentence",
        [{"name": "token", "token": "**<b>", "value": 0.5, "low": 0.4, "high": 0.6}],
        {},
        r"Share of “\*\*\<b\>” 50% [40%, 60%].",
        r"「\*\*\<b\>」の割合は 50% [40%, 60%] です。",
    ),
]


def rows_of(plants) -> pd.DataFrame:
    columns = ("name", "value", "low", "high")
    named = [
        plant if isinstance(plant, dict) else dict(zip(columns, plant, strict=True))
        for plant in plants
    ]
    return pd.DataFrame(named)


@pytest.fixture
def planted(monkeypatch):
    for name, (english, japanese) in WORDS.items():
        monkeypatch.setitem(
            say.catalogue(), f"planted.found_{name}", {"en": english, "ja": japanese}
        )


@pytest.mark.parametrize(
    ("rows", "finding", "english", "japanese"),
    [plant[1:] for plant in PLANTS],
    ids=[plant[0] for plant in PLANTS],
)
def test_planted_rows_make_the_expected_sentence(planted, rows, finding, english, japanese):
    for language, expected in (("en", english), ("ja", japanese)):
        with patch.object(say, "_browser_language", return_value=language), words_of("planted"):
            assert list(sentences(rows_of(rows), Finding("", **finding))) == [expected]


def test_rows_put_together_from_several_answers_are_told_apart(planted):
    rows = rows_of([("claimed", 0.3, 0.2, 0.4), ("even", 0.1, 0.1, 0.1)])
    with words_of("planted"):
        [together] = sentences(rows.set_axis([0, 0]), Finding(""))
        assert [together] == list(sentences(rows, Finding("")))


def test_rows_of_several_sentences_make_one_each_in_their_order(planted):
    rows = rows_of([("claimed", 0.3, 0.2, 0.4), ("even", 0.1, 0.1, 0.1)] * 2)
    rows["sentence"] = ["second", "second", "first", "first"]
    with words_of("planted"):
        assert len(list(sentences(rows, Finding("")))) == 2


@pytest.mark.parametrize(
    ("numbers", "form", "expected"),
    [
        ((0.271, 0.268), ".0%", ["27.1%", "26.8%"]),  # digits at which they differ
        ((0.27, 0.27), ".0%", ["27%", "27%"]),
        ((0.003, 0.5), ".0%", ["0.3%", "50%"]),  # not 0%
        ((0.9997, 0.5), ".0%", [">99.9%", "50%"]),  # not 100%
        ((1.0, 0.0), ".0%", ["100%", "0%"]),
        ((-0.0004, 1.25), ".2f", ["0.00", "1.25"]),  # no −0.00
        ((float("nan"), 0.5), ".0%", ["–", "50%"]),
        ((12345, 7), ",d", ["12,345", "7"]),
    ],
)
def test_numbers_have_the_digits_that_tell_them_apart(numbers, form, expected):
    assert written(numbers, form) == expected


@pytest.mark.parametrize("seed", range(20))
def test_a_verdict_turns_around_with_its_rows(seed):
    ends = np.sort(np.random.default_rng(seed).normal(size=(2, 3)), axis=1)
    frame = pd.DataFrame(ends, columns=["low", "value", "high"]).assign(name=["claimed", "even"])
    turned = {"above": "below", "below": "above", "unclear": "unclear"}
    assert verdict(frame[::-1], Finding("")) == turned[verdict(frame, Finding(""))]


BY_SIDE = {
    "coreference.rules.found_gain": ("better", "as well", "うまく", "ルールの方が高い"),
    "habits.heads.found_norm_mean": ("is more", "is less", "大きい", "小さい"),
    "habits.layers.found_sep_to_sep": ("more than", "less than", "強く", "弱い"),
    "head_map.layers.found_p": ("do not clearly", "layer attend", "言えない", "どうしは"),
    "head_map.map.found_stress": ("only roughly", "well", "大まかな", "よく"),
    "layer_mixing.frequency.found_scope": ("rarer", "more frequent", "低頻度", "高頻度"),
    "layer_mixing.ratio.found_ratio": ("bring in more", "overstates", "増える", "過大"),
    "layer_mixing.rollout.found_own": ("more of", "less of", "多く残る", "少ない"),
    "layer_mixing.similarity.found_step": ("is not", "Of all steps", "ではない", "層内で"),
    "norms.frequency.found_attention": ("more", "less", "大きな", "小さい"),
    "norms.frequency.found_value_norm": ("longer", "shorter", "長い", "短い"),
    "norms.layers.found_norm_share_most": ("even more", "but less", "さらに多い", "少ない"),
    "norms.relation.found_within_heads": ("longer", "shorter", "長い", "短い"),
    "positions.claim.found_agreement": ("more often", "less often", "多くの", "少ない"),
    "positions.content.found_position": ("Position decides", "Content", "内容より位置", "位置より"),
    "positions.waves.found_wave": ("hold waves", "no higher", "含む", "超えない"),
    "sequences.vectors.found_weight": ("less than", "more than", "長くない", "以上に長い"),
    "sinks.layers.found_attention": ("gathers", "avoids", "集まる", "避ける"),
    "sinks.layers.found_no_token": ("More", "Little", "よりも", "少ない"),
    "sinks.layers.found_norm_share": ("More", "Less", "多い", "少ない"),
    "sinks.scores.found_excess": ("lies above", "In no layer", "スコアは", "層はない"),
    "turned.positions.claim.found_agreement": ("more often", "less", "多くの", "少ない"),
}
"""Claims of a finding whose number is above, or below, what it is held against, by language."""


def test_claims_are_of_the_side_that_they_are_made_for():
    known, ends = say.catalogue(), ("above", "below")
    both = {key.removesuffix("_above") for key in known if ".found_" in key}
    assert set(BY_SIDE) == {key for key in both if all(f"{key}_{end}" in known for end in ends)}
    for key, expected in BY_SIDE.items():
        texts = [known[f"{key}_{end}"][lang] for lang in ("en", "ja") for end in ends]
        assert all(part in text for part, text in zip(expected, texts, strict=True)), key
        assert not any(part in texts[at ^ 1] for at, part in enumerate(expected)), key


def finding(evidence, baseline=None) -> Found:
    return Found("label", "0.5", "A sentence.", evidence, baseline=baseline)


@pytest.mark.parametrize(
    ("rows", "baseline", "strength"),
    [
        ([("own", 0.5, 0.4, 0.6)], 0.2, 3.0),
        ([("own", -0.5, -0.6, -0.4)], 0.0, 5.0),
        ([("own", 0.5, 0.4, 0.6), ("chance", 0.45)], "chance", 0.5),
        ([("own", 0.5, 0.4, 0.6), ("other", 0.2, 0.15, 0.25)], "other", 2.0),
    ],
)
def test_strength_is_the_distance_from_the_baseline_in_halves_of_the_interval(
    rows, baseline, strength
):
    assert finding(evidence_of(rows), baseline).strength == pytest.approx(strength)


@pytest.mark.parametrize(
    ("rows", "baseline", "side"),
    [
        ([("own", 0.5, 0.4, 0.6)], 0.2, "above"),
        ([("own", 0.5, 0.4, 0.6)], 0.9, "below"),
        ([("own", 0.5, 0.4, 0.6)], 0.4, "unclear"),
        ([("own", 0.5)], 0.2, "unsure"),
        ([("own", 0.5, 0.4, 0.6), ("chance", 0.45)], "chance", "unclear"),
        ([("own", 0.5, 0.4, 0.6), ("other", 0.35, 0.3, 0.39)], "other", "above"),
        ([("own", 0.5, 0.4, 0.6), ("other", 0.35, 0.3, 0.4)], "other", "unclear"),
        ([("own", 0.5, 0.4, 0.6), ("other", 0.7, 0.61, 0.8)], "other", "below"),
    ],
)
def test_a_side_is_taken_only_where_no_interval_holds_the_other(rows, baseline, side):
    assert finding(evidence_of(rows), baseline).side == side
