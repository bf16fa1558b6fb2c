"""Files are found, opened, told apart, replaced and refused without a fault."""

import os
import threading
from pathlib import Path
from shutil import copyfile

import duckdb
import pytest
import streamlit as st

from analysis.foreign_file import OtherSchema, attach
from pages.services import chosen as shell
from pages.services import open_file
from pages.services.commands import run_command
from pages.services.open_file import cursor, described, version_of
from pages.words.say import plain
from precompute.store.show import lines, remarks
from tests.pages.conftest import OTHER_SCHEMA, captions, in_address
from tests.pages.kit.copies import changed_copy, lacking

ASK = """
import streamlit as st
from pages.services.chosen import file_picker, open_store
from pages.services.inquiry import Inquiry
file_picker()
st.text(open_store().name)
inquiry = Inquiry(open_store())
def by_layer(store):
    return store.sql("select layer, token_type, mean from token_type_interval").df()
frame = inquiry.ask(by_layer)
st.text(sorted(set(map(str, frame.dtypes))))
frame["layer"] = 0
st.text(inquiry.ask(by_layer)["layer"].max())
"""
REQUIRE = """
import streamlit as st
from analysis.statistics.norms import TOKEN_TYPE_MIXING
from pages.services.chosen import file_picker, open_store
from pages.services.missing import require
file_picker()
require(open_store(), TOKEN_TYPE_MIXING)
st.text("goes on")
"""
NAMED = """
import streamlit as st
from pages.services.chosen import file_notes, file_picker, open_store
file_picker()
st.sidebar.text("beside the file")
file_notes()
st.text(open_store().model_name)
"""
OF_A_PART = """
from pathlib import Path
from pages.services.live_model import identity
from pages.services.commands import run_command
store = open_store()
st.text(identity(store).part)
st.text(run_command(store.run, store.facts, Path("other.duckdb")))
"""
HOSTILE = "<b>a & 'quoted' [x](y) $z$ ?file=1.duckdb"


@pytest.fixture(autouse=True)
def fresh():
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture
def folder(store_folder, tmp_path) -> Path:
    """A folder with two whole files and one hidden one."""
    for name in ("a.duckdb", HOSTILE, ".hidden.duckdb"):
        copyfile(store_folder / "tiny.duckdb", tmp_path / name)
    (tmp_path / "notes.txt").write_text("no statistics")
    return tmp_path


def test_the_demo_stands_before_the_file_beside_it(monkeypatch, tmp_path):
    for name in ("demo-treebank.duckdb", "demo.duckdb"):
        (tmp_path / name).touch()
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(tmp_path))
    assert [path.name for path in shell.files()] == ["demo.duckdb", "demo-treebank.duckdb"]


def test_a_link_to_a_file_that_is_gone_stops_until_another_is_chosen(folder, in_session):
    session = in_session(ASK, folder, file="gone.duckdb")
    assert not session.exception
    assert r"no file gone\.duckdb" in session.error[0].value
    assert [caption.value for caption in session.caption] == [plain(HOSTILE), r"a\.duckdb"]
    assert not session.text
    assert in_address(session, "file") == ["gone.duckdb"]
    session.sidebar.selectbox(key="file").set_value("a.duckdb").run()
    assert not session.error
    assert session.text[0].value == "a.duckdb"


@pytest.mark.parametrize(
    ("lang", "name", "note"),
    [
        ("en", "SmolLM2-135M-Instruct (4-bit weights made float)", "stored in 4 bits each"),
        ("ja", "SmolLM2-135M-Instruct（4ビット量子化重みを浮動小数点数に復元）", "4ビットに量子化"),
    ],
)
def test_weights_that_were_quantised_are_said_to_be(
    lang, name, note, store_folder, tmp_path, in_session
):
    folder = changed_copy(
        store_folder,
        tmp_path,
        "update stored.run set model = 'demo-decoder'",
        "insert into stored.provenance values ('weight_bits', '4')",
    )
    session = in_session(NAMED, folder, lang=lang)
    assert session.text[0].value == name
    [said] = session.sidebar.info
    assert note in said.value
    kinds = [element.type for element in session.sidebar]
    assert kinds.index("text") < kinds.index("info"), "the note pushes others down"
    sentence = "Weights of 4 bits each, made float: close to the trained ones, not the same."
    assert remarks(folder / "tiny.duckdb") == [sentence]
    assert sentence in list(lines(folder / "tiny.duckdb"))


@pytest.mark.parametrize(
    ("lang", "part", "name", "note"),
    [
        ("en", "text", "CLIP (text part)", "the text part alone was run"),
        ("ja", "vision", "CLIP（画像部）", "画像部だけ"),
        ("ja", "encoder", "CLIP（エンコーダ）", "エンコーダだけ"),
    ],
)
def test_the_part_of_a_model_stands_behind_its_name(
    lang, part, name, note, store_folder, tmp_path, in_session
):
    folder = changed_copy(
        store_folder,
        tmp_path,
        "update stored.run set model = 'CLIP'",
        f"update stored.provenance set value = '{part}' where name = 'part'",
    )
    session = in_session(NAMED + OF_A_PART, folder, lang=lang)
    assert session.text[0].value == name
    assert session.text[1].value == part
    assert f"--part {part}" in session.text[2].value
    [said] = session.sidebar.info
    assert note in said.value


def test_answers_are_wide_and_the_readers_own(folder, in_session):
    session = in_session(ASK, folder)
    assert session.text[1].value == "['float64', 'int64', 'str']"
    assert session.text[2].value == "2"


def test_threads_ask_one_file_at_once(store_folder):
    version = version_of(store_folder / "tiny.duckdb")
    counts, failed = [], []

    def ask() -> None:
        try:
            with cursor(version) as opened:
                asked = "from token_type_interval where head is null"
                counts.extend(len(opened.sql(asked).df()) for _ in range(20))
        except duckdb.Error as error:
            failed.append(error)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
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


def test_a_file_that_is_being_written_is_said_to_be_locked(store_folder, tmp_path, in_session):
    session = in_session(
        "import duckdb\nfrom pathlib import Path\nimport streamlit as st\n"
        "from analysis.foreign_file import Locked\n"
        "from pages.services.chosen import why_unreadable\n"
        "st.text(why_unreadable(Path('x.duckdb'), Locked('x.duckdb', 'PID 7')))\n"
        "st.text(why_unreadable(Path('block.duckdb'), duckdb.IOException('block.duckdb is odd')))"
    )
    locked, damaged = (text.value for text in session.text)
    assert "duckdb is locked by a program that is writing to it" in locked
    assert locked.endswith("(PID 7)")
    assert "duckdb cannot be read: it is damaged" in damaged


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
