"""The grammar of findings, and the catalogue of words, which is whole in both languages."""

import ast
import re
import string
import tomllib
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from analysis.contracts import every_table
from pages.kit.found import Found
from pages.kit.found import rows_of as evidence_of
from pages.kit.grammar import sentences, written
from pages.kit.section import Finding
from pages.words import say
from pages.words.contracts import digest, japanese, parts_of
from pages.words.lines import width_of, wrapped
from pages.words.scope import words_of

WORDS = {
    "share": ("share of {token_type}", "{token_type} の割合"),
    "even": ("even attention", "均等な注意"),
    "neighbour": ("its neighbour", "隣のトークン"),
    "rho": ("ρ of {head}", "{head} の ρ"),
    "claimed": ("the rate", "比率"),
    "claimed_above": ("Heads rest on it", "ヘッドはそこにとどまる"),
    "claimed_unclear": ("Heads need not rest on it", "ヘッドがとどまるとは限らない"),
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
        "overlapping intervals are no difference, and the claim says so",
        [("claimed", 0.06, 0.04, 0.08), ("even", 0.05, 0.03, 0.07)],
        {},
        "**Heads need not rest on it**: the rate 6% [4%, 8%], not clearly different from even "
        "attention, 5% [3%, 7%].",
        "**ヘッドがとどまるとは限らない**：比率は 6% [4%, 8%] で、均等な注意（5% [3%, 7%]）との"
        "明確な差はありません。",
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
    for name, texts in WORDS.items():
        in_both = dict(zip(("en", "ja"), texts, strict=True))
        monkeypatch.setitem(say.catalogue(), f"planted.found_{name}", in_both)


@pytest.mark.parametrize(
    ("rows", "finding", "english", "japanese"),
    [plant[1:] for plant in PLANTS],
    ids=[plant[0] for plant in PLANTS],
)
def test_planted_rows_make_the_expected_sentence(planted, rows, finding, english, japanese):
    for language, expected in (("en", english), ("ja", japanese)):
        with patch.object(say, "_browser_language", return_value=language), words_of("planted"):
            assert list(sentences(rows_of(rows), Finding("", **finding))) == [expected]


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


@pytest.mark.parametrize(
    ("rows", "baseline", "strength", "side"),
    [
        ([("own", 0.5, 0.4, 0.6)], 0.2, 3.0, "above"),
        ([("own", 0.5, 0.4, 0.6)], 0.9, 4.0, "below"),
        ([("own", 0.5, 0.4, 0.6)], 0.4, 1.0, "unclear"),
        ([("own", 0.5, 0.4, 0.6), ("chance", 0.45)], "chance", 0.5, "unclear"),
        ([("own", 0.5, 0.4, 0.6), ("other", 0.2, 0.15, 0.25)], "other", 2.0, "above"),
        ([("own", 0.5, 0.4, 0.6), ("other", 0.35, 0.3, 0.4)], "other", 1.0, "unclear"),
    ],
)
def test_a_side_is_taken_only_where_no_interval_holds_the_other(rows, baseline, strength, side):
    """The strength is the distance from the baseline in halves of the intervals."""
    found = Found("label", "0.5", "A sentence.", evidence_of(rows), baseline=baseline)
    assert found.strength == pytest.approx(strength)
    assert found.side == side


PAGES = say.PAGES


def patterns(path: Path) -> Iterator[str]:
    """Regular expressions for the keys that a file says; what is filled in matches anything."""
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "say" and call.args:
            key, text = call.args[0], ast.unparse(call.args[0]).removeprefix("f")[1:-1]
            if isinstance(key, ast.Constant | ast.JoinedStr) and not text.startswith("{"):
                yield re.sub(r"\\\{.*?\\\}", "[a-z0-9_]+", re.escape(text))


def test_every_key_that_is_used_is_in_the_catalogue():
    every = {regex for path in sources("pages") for regex in patterns(path)}
    assert len(every) > 100
    keys = say.catalogue()
    assert not [regex for regex in every if not any(re.fullmatch(regex, key) for key in keys)]


def test_every_key_of_the_catalogue_is_used():
    """The code names a word, but for two parts of its name at most, which it may put together."""
    code = [path.read_text("utf-8") for of in ("pages", "analysis") for path in sources(of)]
    names = set(re.findall(r"\w+", "\n".join(code)))
    left = []
    for key in say.catalogue():
        parts = key.rpartition(".")[2].removeprefix("found_").split("_")
        ends = [(start, -end or None) for start in range(3) for end in range(3 - start)]
        if not names.intersection("_".join(parts[start:end]) for start, end in ends):
            left.append(key)
    assert not left


def sources(folder: str) -> list[Path]:
    return [*(PAGES.parent / folder).rglob("*.py")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[a.b]\nen = "x"\nja = "y"\n', "twice"),
        ('[c.d]\nen = "x"\n', "must have exactly en, ja"),
    ],
)
def test_a_broken_catalogue_is_refused(text, reason, tmp_path, monkeypatch):
    (tmp_path / "first.toml").write_text('[a.b]\nen = "x"\nja = "y"\n', encoding="utf-8")
    (tmp_path / "second.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(say, "PAGES", tmp_path)
    with pytest.raises(ValueError, match=reason):
        say.catalogue.__wrapped__()


def placeholders(text: str) -> set[str]:
    """The names of the values that a text takes."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_both_languages_take_the_same_values_and_variants_no_more_than_what_they_stand_for():
    texts_by_key = say.catalogue()
    for key, texts in texts_by_key.items():
        english, japanese = (placeholders(texts[lang]) for lang in say.LANGUAGES)
        assert english == japanese, key
        subject, _, rest = key.partition(".")
        if subject in (say.IMAGES, say.TURNED, say.DISTANCE, say.PATCHES):
            assert english <= placeholders(texts_by_key[rest]["en"]), key
            assert texts["en"] != texts_by_key[rest]["en"], key


def test_every_sentence_of_every_contract_is_told_in_japanese():
    said = {}
    for view in (view for table in every_table() for view in (table.shown(), *table.all_views)):
        texts = [text for of in view.columns for text in (of.definition, of.unit)]
        said |= {digest(part): part for text in (view.grain, *texts) for part in parts_of(text)}
    missing = {of: said[of] for of in said if of not in japanese()}
    assert not missing, f"write their Japanese as `NAME_{{digest}}` into {say.CONTRACTS.name}"
    idle = {of: text for of, text in japanese().items() if of not in said}
    assert not idle, "the Japanese of what no contract says any more"
    assert all(japanese().values())
    entries = tomllib.loads(say.CONTRACTS.read_text(encoding="utf-8")).values()
    assert sum(map(len, entries)) == len(japanese())


@pytest.mark.parametrize(
    "hostile", ["**bold**", "<b>x</b>", "[a](http://b)", "$x$", ":red[x]", "a_b", "# h"]
)
def test_hostile_text_is_shown_as_it_is(hostile):
    assert re.sub(r"\\(.)", r"\1", say.plain(hostile)) == hostile
    assert not re.search(r"(?<!\\)[*_<>\[\]$:`#]", say.plain(hostile))


@pytest.mark.parametrize(
    ("locale", "asked", "expected"),
    [("ja-JP", None, "ja"), ("de-DE", None, "en"), ("ja-JP", "en", "en"), ("en", "xx", "en")],
)
def test_the_language_is_the_browsers_until_one_is_chosen(locale, asked, expected):
    session = AppTest.from_string(
        "import streamlit as st\nfrom pages.words.say import language, language_picker\n"
        "language_picker()\nst.markdown(language())"
    )
    session.context = {"locale": locale}
    if asked:
        session.query_params["lang"] = asked
    assert session.run().markdown[0].value == expected


@pytest.mark.parametrize(
    "text",
    [
        "72 ヘッド中 57 ヘッド（79%）で、相対位置が一致します（95%区間：69%〜88%）。",
        "Of 106 words, layer 3, head 9 finds 65% [54%, 73%], the best fixed offset 50%.",
        "x" * 50,
    ],
)
@pytest.mark.parametrize("width", [20, 60])
def test_no_letter_is_lost_and_no_line_is_too_wide(text, width):
    lines = wrapped(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    closing = 2 * len("）。")  # what may not begin a line hangs over the end of one
    longest = max(map(width_of, text.split())) if text.isascii() else 0
    assert all(width_of(line) <= max(width + closing, longest) for line in lines)
