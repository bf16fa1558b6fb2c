"""The catalogue is whole: nothing missing, nothing left over, nothing said in one language only."""

import ast
import re
import string
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.contracts import every_table
from pages.papers.entries import ENTRIES
from pages.words import say as words
from pages.words.contracts import digest, japanese, parts_of

PAGES = words.PAGES
VARIANTS = (words.IMAGES, words.TURNED, words.DISTANCE, words.PATCHES)
ANY = "[a-z0-9_]+"
FRAME = {"title", "lead", "view", "meaning", "interval_kind", "interval_absent", "head_help"}
"""Words that the frame asks of every page and section."""
COLUMN = re.compile(r"\bcolumn\.\w+$")


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """All calls in a file, with the last name of the called function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args:
            yield ast.unparse(node.func).rpartition(".")[2], node


def pattern(node: ast.AST) -> set[str]:
    """Regular expression for the values of a string expression; unknown parts match anything."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {re.escape(node.value), re.escape(node.value.rpartition("/")[2])}
    if isinstance(node, ast.JoinedStr):
        parts = [
            re.escape(str(part.value)) if isinstance(part, ast.Constant) else ANY
            for part in node.values
        ]
        return {"".join(parts)} if parts and parts[0] != ANY else set()
    return set()


def strings(folder: Path) -> set[str]:
    """Regular expressions for all strings in a folder's code."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in folder.rglob("*.py")]
    return {regex for tree in trees for node in ast.walk(tree) for regex in pattern(node)}


def test_every_key_that_is_used_is_in_the_catalogue():
    keys = words.catalogue()
    patterns = {
        regex
        for path in PAGES.rglob("*.py")
        for name, call in calls(path)
        if name == "say" and ast.unparse(call.func) == "say"
        for regex in pattern(call.args[0])
    }
    assert len(patterns) > 100
    assert not [regex for regex in patterns if not any(re.fullmatch(regex, key) for key in keys)]


def used_by(page: str) -> re.Pattern:
    """Pattern of the last names of a page's words.

    The frame appends to them, the button to a section puts `to_` before its name, and the grammar
    of findings `found_` before the names of rows, which SQL may put together.
    """
    last_names = strings(PAGES if page == "words" else PAGES / page) | FRAME
    return re.compile(f"found_{ANY}|(?:to_)?(?:{'|'.join(sorted(last_names))})(?:_{ANY})?")


def test_every_key_of_the_catalogue_is_used():
    keys = set(map(usual, words.catalogue())) - {f"papers.{entry.word}" for entry in ENTRIES}
    used = re.compile("|".join(f"(?:{regex})" for regex in strings(PAGES)))
    left = {key for key in keys if not used.fullmatch(key)}
    columns = {column.name for table in every_table() for column in table.columns}
    names = {re.escape(column) for column in columns} | strings(PAGES)
    of_columns = re.compile("|".join(f"(?:{name})" for name in names))
    left = {key for key in left if not (COLUMN.search(key) and of_columns.fullmatch(leaf(key)))}
    of_pages = {page: used_by(page) for page in {key.partition(".")[0] for key in left}}
    left = {key for key in left if not of_pages[key.partition(".")[0]].fullmatch(leaf(key))}
    assert not sorted(left)


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


def test_no_text_is_empty():
    assert not [key for key, texts in words.catalogue().items() if not all(texts.values())]


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


def test_an_unknown_key_is_an_error_that_names_it():
    with pytest.raises(KeyError, match=r"no\.such\.key"):
        words.say("no.such.key")


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
