"""The overview says what the file says, how sure it is, and what else is in the folder."""

import json
import os
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from shutil import copyfile
from urllib.parse import parse_qs, parse_qsl, urlsplit

import numpy as np
import pytest

from analysis.errors import UserError
from pages.kit.contents import PAGES
from pages.kit.found import Found
from pages.kit.links import VIEWS
from pages.overview.as_json import VERSION
from pages.overview.ranked_findings import findings, how_sure
from pages.services.chosen import open_store, speak_of_file
from pages.services.sql_asking import Answer
from pages.services.sql_asking import asked as ask
from pages.words.numbers import scientific
from precompute.serve import findings as printed_findings
from tests.pages.conftest import captions, sentences
from tests.pages.kit.ran import ran

pytestmark = pytest.mark.slow


def test_what_the_file_says_of_its_model_corpus_and_samples_is_told(opened, changed):
    folder = changed(
        "update stored.provenance set value = '3' where name = 'random_weights'",
        "update stored.completeness set relative_error = 0.5",
        "delete from stored.provenance where name like '%_left_out'",
        "insert into stored.provenance values ('corpus blank_rows_left_out', '1234'), "
        "('corpus padding_tokens_left_out', '0'), ('corpus images_left_out', '2'), "
        "('corpus masks_left_out', 'many'), ('sample head_token', '5/3000')",
    )
    session = opened("overview", folder, lang="ja")
    texts = [text.value.replace("\\", "") for text in (*session.title, *session.caption)]
    sources = [line for line in texts if "tiny.duckdb" in line]
    assert sources
    assert all("（未学習の重み、シード 3）" in source for source in (texts[0], *sources))
    assert "このモデルは何も学習していません" in session.sidebar.warning[0].value
    assert "--random-weights 3" in "".join(code.value for code in session.code)
    assert scientific(0.5) in session.main.warning[0].value
    assert (
        "Left out of the corpus, since it could not be used: images (2), rows without text (1,234)."
    ) in captions(opened("overview", folder))
    said = captions(opened("head", folder, he_view="tokens", he_least="1"))
    assert "head_token holds a random sample: 5 of 3,000 sequences." in said


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


def test_other_files_are_listed_readable_or_not_and_those_with_trees_are_a_click_away(
    opened, store_folder, treebank_folder, tmp_path
):
    copyfile(store_folder / "tiny.duckdb", tmp_path / "plain.duckdb")
    copyfile(treebank_folder / "tiny.duckdb", tmp_path / "trees.duckdb")
    (tmp_path / "c.duckdb").write_text("not a database")
    text = sentences(opened("overview", tmp_path, file="trees.duckdb"))
    assert "on text\\.txt, 3 texts" in text
    assert "c\\.duckdb cannot be read" in text
    session = opened("syntax", tmp_path, file="plain.duckdb", sy_view="relations")
    [link] = [link.proto for link in session.main.get("page_link")]
    assert link.label == r"→ trees\.duckdb"
    place = {"file": "trees.duckdb", "lang": "en", "sy_view": "relations"}
    assert dict(parse_qsl(link.query_string)) == place


def test_a_name_that_is_no_text_hides_no_other_file(opened, store_folder, tmp_path):
    copyfile(store_folder / "tiny.duckdb", tmp_path / "tiny.duckdb")
    copyfile(store_folder / "tiny.duckdb", os.fsencode(tmp_path) + b"/\xff\xfe*.duckdb")
    session = opened("overview", tmp_path)
    assert r"\\xff\\xfe\*\.duckdb is left out" in session.sidebar.warning[0].value
    assert session.sidebar.selectbox(key="file").options == ["tiny.duckdb"]


@pytest.fixture(params=["treebank", "turned", "images"])
def found(request, monkeypatch) -> list[Found]:
    """Findings of an encoder of texts, of a decoder that turns positions, of images."""
    folder = request.getfixturevalue(f"{request.param}_folder")
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
    speak_of_file(open_store())
    made = findings(open_store())
    assert len(made) > 5
    return made


def test_a_file_that_cannot_be_read_is_refused_in_one_line(damaged_folder):
    with pytest.raises(UserError, match=r"tiny\.duckdb"):
        printed_findings(damaged_folder / "tiny.duckdb")


def test_a_card_is_in_the_section_behind_its_link_and_as_sure_as_its_interval(found):
    assert any(finding.baseline is not None for finding in found)
    for finding in found:
        assert finding.sentence in " ".join(ran(finding.page, finding.view).findings)
        if finding.baseline is None:
            continue
        wide, none = (
            replace(finding, evidence=finding.evidence.assign(low=low, high=high))
            for low, high in ((-1e9, 1e9), (np.nan, np.nan))
        )
        of_layers = "layer" in finding.evidence
        assert ("in 0 of" if of_layers else "not clearly different") in how_sure(wide)
        assert "[" not in how_sure(none)
        if not np.isnan(finding.evidence.iloc[0]["low"]):
            assert ("not clear" in how_sure(finding)) == (finding.side == "unclear")


def test_every_finding_comes_with_its_evidence_its_sql_and_a_link(treebank_folder):
    with redirect_stdout(StringIO()) as printed:
        printed_findings(treebank_folder / "tiny.duckdb", as_json=True)
    made = json.loads(printed.getvalue())
    assert (made["version"], len(made["findings"]) > 10) == (VERSION, True)
    addresses = {f"/{path}": page for page, path in PAGES.items()}
    for finding in made["findings"]:
        assert all(finding[field] for field in ("number", "sentence", "certainty", "queries"))
        link = urlsplit(finding["link"])
        assert addresses[link.path] == finding["page"]
        assert parse_qs(link.query)[VIEWS[finding["page"]]] == [finding["section"]]
        first = finding["evidence"][0]
        ends = [first["low"], first["high"]]
        assert finding["interval"] == (None if "layer" in first or None in ends else ends)
    [ratio] = [finding for finding in made["findings"] if finding["section"] == "ratio"]
    low, high = ratio["interval"]
    answers = ask(str(treebank_folder / "tiny.duckdb"), ratio["queries"])
    frames = [answer.frame for answer in answers if isinstance(answer, Answer)]
    assert len(frames) == len(answers)
    assert any(((frame["low"] == low) & (frame["high"] == high)).any() for frame in frames)
