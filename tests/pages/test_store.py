"""Files are found, opened, told apart, replaced and refused without a fault."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copyfile

import duckdb
import pandas as pd
import pytest

from analysis.foreign_file import Locked, OtherSchema, attach
from pages.services import chosen as shell
from pages.services import open_file
from pages.services.commands import run_command
from pages.services.inquiry import Inquiry
from pages.services.open_file import cursor, described, version_of
from precompute.store.show import lines, remarks
from tests.pages.conftest import OTHER_SCHEMA, captions
from tests.pages.kit.stores import changed_copy, lacking

pytestmark = pytest.mark.usefixtures("fresh")
REQUIRE = """
import streamlit as st
from analysis.statistics.norms import TOKEN_TYPE_MIXING
from pages.services.chosen import file_picker, open_store
from pages.services.missing import require
file_picker()
require(open_store(), TOKEN_TYPE_MIXING)
st.text("goes on")
"""


def test_the_demo_stands_before_the_file_beside_it(monkeypatch, tmp_path):
    for name in ("demo-treebank.duckdb", "demo.duckdb"):
        (tmp_path / name).touch()
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(tmp_path))
    assert [path.name for path in shell.files()] == ["demo.duckdb", "demo-treebank.duckdb"]


def test_threads_ask_one_file_at_once(store_folder):
    version, asked = version_of(store_folder / "tiny.duckdb"), "from token_type_interval"

    def ask(_: int) -> list[int]:
        with cursor(version) as opened:
            return [len(opened.sql(asked).df()) for _ in range(20)]

    with ThreadPoolExecutor(6) as pool:
        counts = [n for found in pool.map(ask, range(6)) for n in found]
    assert len(counts) == 120
    assert len(set(counts)) == 1


def test_a_file_that_was_refused_is_not_opened_again_until_it_is_replaced(
    store_folder, tmp_path, monkeypatch
):
    opened = []
    monkeypatch.setattr(
        open_file, "attach", lambda store, path: opened.append(path) or attach(store, path)
    )
    folder = changed_copy(store_folder, tmp_path, "update stored.run set schema_version = 1")
    path = folder / "tiny.duckdb"
    for _ in range(3):
        with pytest.raises(OtherSchema, match="schema version 1"):
            described(version_of(path))
    assert len(opened) == 1
    os.replace(copyfile(store_folder / "tiny.duckdb", folder / "sound"), path)
    assert described(version_of(path)).rows["sequence"] == 3
    assert len(opened) == 2


def test_a_page_without_a_file_that_opens_names_the_remedy(
    opened, other_schema_folder, damaged_folder, tmp_path
):
    for folder, *words in (
        (other_schema_folder, str(OTHER_SCHEMA), "python -m precompute run"),
        (damaged_folder, r"damaged\.duckdb", "python -m precompute check"),
    ):
        [error] = opened("syntax", folder, alone=True).error
        assert all(word in error.value for word in words)
    session = opened("syntax", tmp_path)
    assert [button.label for button in session.button] == ["Build the demo"]
    assert any("precompute demo --output" in code.value for code in session.code)


def test_a_missing_statistic_names_the_files_that_have_it_and_the_command(
    store_folder, tmp_path, in_session
):
    changed_copy(store_folder, tmp_path, *lacking("token_type_mixing"))
    os.replace(tmp_path / "tiny.duckdb", tmp_path / "partial.duckdb")
    copyfile(store_folder / "tiny.duckdb", tmp_path / "whole.duckdb")
    session = in_session(REQUIRE, tmp_path, file="partial.duckdb")
    assert not session.text
    assert "token_type_mixing" in session.info[0].value
    assert r"whole\.duckdb" in captions(session)
    assert "--statistics token_type_mixing" in session.code[0].value
    assert "--max-tokens 36" in session.code[0].value
    assert in_session(REQUIRE, tmp_path, file="whole.duckdb").text[0].value == "goes on"


def test_the_command_repeats_the_settings_that_differ_from_the_defaults(store_folder):
    store = described(version_of(store_folder / "tiny.duckdb"))
    facts = store.facts | {"limit": "7", "packing": "sentences", "frequencies": "rank count.txt"}
    run = store.run.copy()
    run["model"], run["corpus"], run["mask_rate"] = "a model", "text.txt", 0.12
    command = run_command(run, facts, Path("statistics/new.duckdb"))
    assert command == (
        "python -m precompute run --model 'a model' --corpus text.txt "
        "--output statistics/new.duckdb --mask 0.12 --max-tokens 36 --limit 7 "
        "--check-sequences 32 "
        "--packing sentences --frequencies 'rank count.txt'"
    )
    command = run_command(
        store.run, store.facts | {"segments": "zero", "random_weights": "0"}, Path("new.duckdb")
    )
    settings = "--max-tokens 36 --check-sequences 32 --segments zero --random-weights 0"
    assert command.endswith(settings)


NAMED = """
from pathlib import Path
import streamlit as st
from pages.services.chosen import file_notes, file_picker, open_store
from pages.services.commands import run_command
from pages.services.live_model import identity

file_picker()
st.sidebar.text("beside the file")
file_notes()
store = open_store()
st.text(store.model_name)
st.text(identity(store).part)
st.text(run_command(store.run, store.facts, Path("other.duckdb")))
"""


@pytest.mark.parametrize(
    ("lang", "fact", "name", "note"),
    [
        ("en", ("weight_bits", "4"), "CLIP (4-bit weights made float)", "stored in 4 bits each"),
        ("ja", ("part", "vision"), "CLIP（画像部）", "画像部だけ"),
        ("en", ("part", "text"), "CLIP (text part)", "the text part alone was run"),
    ],
)
def test_quantised_weights_and_the_part_of_a_model_are_told(
    lang, fact, name, note, store_folder, tmp_path, in_session
):
    folder = changed_copy(
        store_folder,
        tmp_path,
        "update stored.run set model = 'CLIP'",
        f"delete from stored.provenance where name = '{fact[0]}'",
        f"insert into stored.provenance values {fact}",
    )
    session = in_session(NAMED, folder, lang=lang)
    assert session.text[0].value == name
    [said] = session.sidebar.info
    assert note in said.value
    kinds = [element.type for element in session.sidebar]
    assert kinds.index("text") < kinds.index("info"), "the note pushes others down"
    if fact[0] == "part":
        assert session.text[1].value == fact[1]
        assert f"--part {fact[1]}" in session.text[2].value
    else:
        [sentence] = remarks(folder / "tiny.duckdb")
        assert sentence.startswith("Weights of 4 bits each, made float")
        assert sentence in list(lines(folder / "tiny.duckdb"))


def by_layer(store: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    return store.sql("select layer, token_type, mean from token_type_interval").df()


def test_answers_are_wide_and_the_readers_own(store_folder):
    inquiry = Inquiry(described(version_of(store_folder / "tiny.duckdb")))
    frame = inquiry.ask(by_layer)
    assert {str(kind) for kind in frame.dtypes} == {"float64", "int64", "str"}
    frame["layer"] = 0
    assert inquiry.ask(by_layer)["layer"].max() == 2


def test_a_file_that_is_written_and_one_that_is_damaged_are_told_apart():
    locked = shell.why_unreadable(Path("x.duckdb"), Locked("x.duckdb", "PID 7"))
    damaged = shell.why_unreadable(Path("x.duckdb"), duckdb.IOException("x.duckdb is odd"))
    assert "is locked by a program that is writing to it" in locked
    assert locked.endswith("(PID 7)")
    assert "it is damaged" in damaged
