"""The catalogue is whole: nothing missing, nothing left over, nothing said in one language only."""

import ast
import re
import string
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.contracts import every_table
from pages.words import say as words
from pages.words.contracts import digest, japanese, parts_of
from pages.words.lines import width_of, wrapped
from pages.words.numbers import percent

PAGES = words.PAGES
VARIANTS = (words.IMAGES, words.TURNED, words.DISTANCE, words.PATCHES)


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
    keys = words.catalogue()
    assert not [regex for regex in every if not any(re.fullmatch(regex, key) for key in keys)]


def test_every_key_of_the_catalogue_is_used():
    """The code names a word, but for two parts of its name at most, which it may put together."""
    code = [path.read_text("utf-8") for of in ("pages", "analysis") for path in sources(of)]
    names = set(re.findall(r"\w+", "\n".join(code)))
    left = []
    for key in words.catalogue():
        parts = leaf(key).removeprefix("found_").split("_")
        ends = [(start, -end or None) for start in range(3) for end in range(3 - start)]
        if not names.intersection("_".join(parts[start:end]) for start, end in ends):
            left.append(key)
    assert not left


def sources(folder: str) -> list[Path]:
    return [*(PAGES.parent / folder).rglob("*.py")]


def usual(key: str) -> str:
    """Key without the subject of a variant, such as that of images."""
    subject, _, rest = key.partition(".")
    return rest if subject in VARIANTS else key


def leaf(key: str) -> str:
    return key.rpartition(".")[2]


def placeholders(text: str) -> set[str]:
    """The names of the values that a text takes."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_both_languages_take_the_same_values():
    for key, texts in words.catalogue().items():
        english, japanese = (placeholders(texts[lang]) for lang in words.LANGUAGES)
        assert english == japanese, key


@pytest.mark.parametrize("subject", VARIANTS)
def test_what_is_said_of_some_files_stands_in_place_of_something_and_takes_no_more_values(subject):
    texts_by_key = words.catalogue()
    varied = {key: texts_by_key[key] for key in texts_by_key if key.startswith(f"{subject}.")}
    assert varied
    for key, texts in varied.items():
        other = texts_by_key[usual(key)]
        assert placeholders(texts["en"]) <= placeholders(other["en"]), key
        assert texts["en"] != other["en"], key


def contracts() -> dict[str, str]:
    """Every sentence of every contract, with a column or a view that has it."""
    sources = {}
    for table in every_table():
        for view in (table.shown(), *table.all_views):
            texts = {view.grain: view.name}
            for column in view.columns:
                texts[column.definition] = f"{view.name}.{column.name}"
                texts[column.unit] = f"unit of {view.name}.{column.name}"
            sources |= {part: place for text, place in texts.items() for part in parts_of(text)}
    return sources


def test_every_sentence_of_every_contract_is_told_in_japanese():
    said = {digest(english): (place, english) for english, place in contracts().items()}
    missing = {of: said[of] for of in said if of not in japanese()}
    assert not missing, f"write their Japanese as `NAME_{{digest}}` into {words.CONTRACTS.name}"
    idle = {of: text for of, text in japanese().items() if of not in said}
    assert not idle, "the Japanese of what no contract says any more"
    assert all(japanese().values())
    entries = tomllib.loads(words.CONTRACTS.read_text(encoding="utf-8")).values()
    assert sum(map(len, entries)) == len(japanese()) == len(contracts())


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
    monkeypatch.setattr(words, "PAGES", tmp_path)
    with pytest.raises(ValueError, match=reason):
        words.catalogue.__wrapped__()


@pytest.mark.parametrize(
    "hostile", ["**bold**", "<b>x</b>", "[a](http://b)", "$x$", ":red[x]", "a_b", "# h", "1. x"]
)
def test_hostile_text_is_shown_as_it_is(hostile):
    assert re.sub(r"\\(.)", r"\1", words.plain(hostile)) == hostile
    assert not re.search(r"(?<!\\)[*_<>\[\]$:`#]", words.plain(hostile))


@pytest.mark.parametrize(
    ("locale", "asked", "expected"),
    [("ja-JP", None, "ja"), ("de-DE", None, "en"), ("ja-JP", "en", "en"), ("en", "xx", "en")],
)
def test_the_language_is_the_browsers_until_one_is_chosen(locale, asked, expected):
    from streamlit.testing.v1 import AppTest

    session = AppTest.from_string(
        "import streamlit as st\nfrom pages.words.say import language, language_picker\n"
        "language_picker()\nst.markdown(language())"
    )
    session.context = {"locale": locale}
    if asked:
        session.query_params["lang"] = asked
    assert session.run().markdown[0].value == expected


@pytest.mark.parametrize(
    ("value", "filled"),
    [
        ("句点", "第1層では**句点**が最も多く、句点です"),
        ("[CLS]", "第1層では **[CLS]** が最も多く、[CLS] です"),
        ("句点 と読点", "第1層では**句点 と読点**が最も多く、句点 と読点です"),
    ],
)
def test_no_space_stands_between_japanese_letters_but_those_of_a_value(value, filled):
    text = "第{layer}層では **{value}** が最も多く、{value} です"
    assert words._filled(text, {"layer": 1, "value": value}) == filled


JAPANESE = (
    "72 ヘッド中 57 ヘッド（79%）で、重み付き和が最大になる相対位置と、"
    "注意が最も集まる相対位置が一致します（95%区間：69%〜88%）。"
)
ENGLISH = "Of 106 words, layer 3, head 9 finds 65% [54%, 73%], the best fixed offset 50%."


@pytest.mark.parametrize("text", [JAPANESE, ENGLISH, "", "x" * 50])
@pytest.mark.parametrize("width", [20, 33, 60])
def test_no_letter_is_lost_and_no_line_is_too_wide(text, width):
    lines = wrapped(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    closing = 2 * len("）。")  # what may not begin a line hangs over the end of one
    longest = max(map(width_of, text.split()), default=0) if text.isascii() else 0
    assert all(width_of(line) <= max(width + closing, longest) for line in lines)


@pytest.mark.parametrize(
    ("value", "text"), [(0.364, "36%"), (0.004, "0.4%"), (-0.0001, "0.0%"), (-0.2, "−20.0%")]
)
def test_percentages_are_whole_where_that_says_enough(value, text):
    assert percent(value) == text
