"""The overview says what the file says, and what else is in the folder."""

import json
import os
import socket
from dataclasses import asdict
from shutil import copyfile
from urllib.parse import parse_qsl

import pytest

from pages.overview.ranked_findings import findings
from pages.services.chosen import open_store
from pages.services.note import Note
from pages.words.numbers import scientific
from tests.pages.conftest import captions, frames, sentences

pytestmark = pytest.mark.slow


def test_an_untrained_model_is_called_so_wherever_it_is_named_and_its_errors_are_told(
    opened, changed
):
    folder = changed(
        "update stored.provenance set value = '3' where name = 'random_weights'",
        "update stored.completeness set relative_error = 0.5",
    )
    session = opened("overview", folder, lang="ja")
    texts = [text.value.replace("\\", "") for text in (*session.title, *session.caption)]
    name = "（未学習の重み、シード 3）"
    assert name in texts[0]
    sources = [line for line in texts if "tiny.duckdb" in line]
    assert sources
    assert all(name in source for source in sources)
    [note] = session.sidebar.warning
    assert "このモデルは何も学習していません" in note.value
    assert "--random-weights 3" in "".join(code.value for code in session.code)
    assert not session.success, "an error above the limit is none"
    assert scientific(0.5) in session.main.warning[0].value


def test_the_clearest_finding_comes_first_and_checks_are_none(opened, treebank_folder):
    numbers = [heading.value for heading in opened("overview", treebank_folder).subheader]
    ranked = findings(open_store())
    assert {finding.page for finding in ranked} == {
        *("norms", "habits", "head_map", "layer_mixing", "positions", "relevance"),
        *("sinks", "syntax"),  # too few mentions for one of coreference
    }
    strengths = [finding.strength for finding in ranked]
    known = [strength for strength in strengths if strength > 0]
    assert len(known) > 2
    assert strengths[: len(known)] == sorted(known, reverse=True)
    assert numbers[:5] == [finding.number for finding in ranked[:5]]
    assert not any("10⁻" in finding.number for finding in ranked)


def test_first_tokens_are_told_where_they_are_a_type_of_their_own(
    opened, gpt2_folder, turned_folder
):
    note = "The first token of a text, which all of its tokens see, is a type of its own"
    for folder, is_told in ((gpt2_folder, True), (turned_folder, False)):
        session = opened("overview", folder)
        assert (note in f"{captions(session)} {sentences(session)}") == is_told


def test_what_could_not_be_used_of_the_corpus_is_said(opened, changed):
    folder = changed(
        "delete from stored.provenance where name like '%_left_out'",
        "insert into stored.provenance values ('corpus blank_rows_left_out', '1234'), "
        "('corpus malformed_rows_left_out', '1'), ('corpus padding_tokens_left_out', '0'), "
        "('corpus coreference_left_out', '3'), ('corpus images_left_out', '2'), "
        "('corpus masks_left_out', 'many')",
    )
    assert (
        "Left out of the corpus, since it could not be used: images (2), rows without text "
        "(1,234), malformed rows (1), such as sentences that are no tree, coreference of "
        "documents (3) whose sentences are read."
    ) in [caption.value for caption in opened("overview", folder).caption]
    whole = changed("checkpoint")
    assert not any("Left out" in caption.value for caption in opened("overview", whole).caption)


def test_what_a_run_still_adds_is_said_until_it_ends(opened, changed):
    folder = changed("checkpoint")
    path = folder / ".tiny.duckdb.computing.1.unfinished"
    for stage in ("sequences", "tables"):
        note = Note(stage, 1, 3, None, socket.gethostname(), os.getpid())
        path.write_text(json.dumps(asdict(note)))
        captions = [caption.value for caption in opened("overview", folder).caption]
        assert any("run is adding" in caption for caption in captions), captions
    path.unlink()
    assert not any(
        "run is adding" in caption.value for caption in opened("overview", folder).caption
    )


def test_a_figure_of_a_sample_says_so(opened, changed):
    folder = changed("insert into stored.provenance values ('sample head_token', '5/3000')")
    said = captions(opened("head", folder, he_view="tokens", he_least="1"))
    assert "head_token holds a random sample: 5 of 3,000 sequences." in said


def test_other_files_are_listed_readable_or_not(opened, store_folder, tmp_path):
    for name in ("a.duckdb", "b.duckdb"):
        copyfile(store_folder / "tiny.duckdb", tmp_path / name)
    (tmp_path / "c.duckdb").write_text("not a database")
    text = sentences(opened("overview", tmp_path, file="b.duckdb"))
    assert "on text\\.txt, 3 texts" in text
    assert "c\\.duckdb cannot be read" in text


@pytest.mark.parametrize("page", ["overview", "habits", "compare"])
def test_a_name_that_is_no_text_hides_no_other_file(opened, store_folder, tmp_path, page):
    copyfile(store_folder / "tiny.duckdb", tmp_path / "tiny.duckdb")
    copyfile(store_folder / "tiny.duckdb", os.fsencode(tmp_path) + b"/\xff\xfe*.duckdb")
    session = opened(page, tmp_path)
    [warning] = session.sidebar.warning
    assert r"\\xff\\xfe\*\.duckdb is left out" in warning.value
    assert session.sidebar.selectbox(key="file").options == ["tiny.duckdb"]


def test_a_file_with_trees_is_a_click_away_from_one_without(
    opened, store_folder, treebank_folder, tmp_path
):
    copyfile(store_folder / "tiny.duckdb", tmp_path / "plain.duckdb")
    copyfile(next(treebank_folder.glob("*.duckdb")), tmp_path / "trees.duckdb")
    session = opened("syntax", tmp_path, file="plain.duckdb", sy_view="relations")
    [link] = [link.proto for link in session.main.get("page_link")]
    assert link.label == r"→ trees\.duckdb"
    place = dict(parse_qsl(link.query_string))
    assert place == {"file": "trees.duckdb", "lang": "en", "sy_view": "relations"}
    assert frames(opened("syntax", tmp_path, **place))
