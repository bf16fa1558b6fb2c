"""The grammar of findings: planted rows, and the sentence that they must make in both languages."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

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
