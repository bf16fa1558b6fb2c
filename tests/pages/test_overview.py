"""The overview says what the file says."""

import json
import os
import socket
from dataclasses import asdict
from functools import partial

import pytest
import streamlit as st

from pages.overview.ranked_findings import findings
from pages.services import live_model
from pages.services.chosen import open_store
from pages.services.note import Note
from pages.words.numbers import scientific
from pages.words.say import plain
from tests.pages.conftest import captions, changes_of, sentences
from tests.pages.kit.copies import changed_copy, lacking
from tests.small_images import MASKED, SIZES
from tests.tiny_vision import COLUMNS, ROWS

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


def test_the_overview_asks_three_questions_and_for_a_sentence(opened, plain_folder, monkeypatch):
    """A sentence leads to its vectors; an empty field to those of the example that it shows."""
    led = []
    monkeypatch.setattr(st, "switch_page", lambda page, query_params: led.append(query_params))
    monkeypatch.setattr(live_model, "begin_to_load", lambda store: True)
    session = opened("overview", plain_folder)
    asked = [link.proto.label for link in session.get("page_link")][:3]
    assert all(label.endswith("?") for label in asked)
    for text in (" two words ", " "):
        session.text_input[0].set_value(text)
        session.button[0].click().run()
    example = session.text_input[0].placeholder
    assert [query["seq_text"] for query in led] == ["two words", example]
    assert led[0].items() >= {"seq_view": "vectors", "seq_whose": "own"}.items()


def test_the_overview_tells_images_and_grid(opened, images_folder):
    session = opened("overview", images_folder)
    text = sentences(session)
    assert f"**{len(SIZES)}** images" in text
    assert f"**{ROWS} × {COLUMNS}** patches each, after \\[CLS\\]" in text
    assert f"{len(MASKED)} of the images have a mask" in text
    names = [picture.proto.imgs[0].caption for picture in session.get("image")]
    assert names == [plain(name) for name in SIZES]
    assert f"{COLUMNS} tokens further on is the patch below" in captions(session)


def test_a_file_of_one_statistic_without_the_proof_has_no_findings_and_is_not_trusted(
    opened, plain_folder, tmp_path
):
    session = opened("overview", changed_copy(plain_folder, tmp_path, *lacking("completeness")))
    assert not session.exception
    assert "At a glance" not in [header.value for header in session.header]
    assert not session.success
    assert "completeness" in session.warning[0].value


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
    told = "The first token of a text, which all of its tokens see, is a type of its own"
    for folder, is_told in ((gpt2_folder, True), (turned_folder, False)):
        session = opened("overview", folder)
        assert (told in f"{captions(session)} {sentences(session)}") == is_told


def test_what_could_not_be_used_of_the_corpus_is_said(opened, changed):
    folder = changed(
        "delete from stored.provenance where name like '%_left_out'",
        "insert into stored.provenance values ('corpus blank_rows_left_out', '1234'), "
        "('corpus malformed_rows_left_out', '1'), ('corpus padding_tokens_left_out', '0'), "
        "('corpus coreference_left_out', '3'), ('corpus images_left_out', '2'), "
        "('corpus masks_left_out', 'many')",
    )
    for language, expected in (
        (
            "en",
            "Left out of the corpus, since it could not be used: images (2), rows without text "
            "(1,234), malformed rows (1), such as sentences that are no tree, coreference of "
            "documents (3) whose sentences are read.",
        ),
        (
            "ja",
            "コーパスのうち使用できず除外したもの：画像（2 枚）、テキストのない行（1,234 件）、"
            "形式に誤りのある行（1 件。木にならない文など）、共参照（3 文書。文は使用）。",
        ),
    ):
        captions = [c.value for c in opened("overview", folder, lang=language).caption]
        assert expected in captions
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


changed = changes_of("store_folder")
SAMPLE = "insert into stored.provenance values ('sample head_token', '5/3000')"


@pytest.fixture
def open_head(opened, changed):
    return partial(opened, "head", changed(SAMPLE))


@pytest.mark.parametrize(
    ("lang", "note"),
    [
        ("en", "head_token holds a random sample: 5 of 3,000 sequences."),
        ("ja", "head_token は無作為標本（全 3,000 系列中 5 系列）です。"),
    ],
)
def test_a_figure_of_a_sample_says_so(open_head, lang, note):
    assert note in captions(open_head(he_view="tokens", he_least="1", lang=lang))
