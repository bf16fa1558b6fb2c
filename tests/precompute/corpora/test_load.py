"""A corpus as sequences of one model, with its counts; names and values in messages."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import UnfitModel, UserError
from precompute.corpora.load import TEXT_PACKINGS, entries
from precompute.corpora.texts.rows import write_jsonl
from precompute.corpora.wording import file_name, path_as_given, shown
from tests.precompute.corpora.reading import outcome, written
from tests.precompute.corpora.tiny import (
    BUILT,
    SEGMENT_TYPES,
    TOKENIZERS,
    assert_same_sequences,
    load,
    unhurried,
)
from tests.refusals import refused
from tests.small_treebank import write_treebank

PLAIN = "the cat sat\nthe dog ran\nthe mat\n\nzz\n \nthe cat\n"


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain.txt"
    path.write_text(PLAIN)
    return path


@pytest.mark.parametrize("family", TOKENIZERS)
@pytest.mark.parametrize("packing", TEXT_PACKINGS)
def test_a_corpus_turned_into_json_lines_gives_the_same_sequences(plain, family, packing):
    tokenizer, options = BUILT[family], {"seed": 3, "packing": packing, "max_tokens": 9}
    converted = plain.with_name("converted.jsonl")
    texts = entries(str(plain), tokenizer=tokenizer, segment_types=SEGMENT_TYPES[family], **options)
    assert write_jsonl(texts, converted) > 0
    for mask_rate in (0.0, 0.3) if tokenizer.mask_token else (0.0,):
        once = load(plain, family, mask_rate=mask_rate, **options)
        again = load(converted, family, mask_rate=mask_rate, **options)
        assert_same_sequences(once.sequences, again.sequences)


@unhurried(30)
@given(limit=st.integers(1, 9), mask_rate=st.floats(0, 0.9), packing=st.sampled_from(TEXT_PACKINGS))
def test_a_limit_keeps_the_first_sequences_as_they_are(tmp_path_factory, limit, mask_rate, packing):
    path = tmp_path_factory.mktemp("limit") / "plain.txt"
    path.write_text(PLAIN * 3)
    options = {"mask_rate": mask_rate, "packing": packing}
    unlimited = load(path, **options)
    assert_same_sequences(load(path, limit=limit, **options).sequences, unlimited.sequences[:limit])


def test_a_corpus_tells_its_name_its_hash_and_what_reading_did(plain):
    corpus = load(plain, max_tokens=8)
    assert corpus.name == "plain.txt"
    assert corpus.sha256 == hashlib.sha256(PLAIN.encode()).hexdigest()
    assert [sequence.place for sequence in corpus.sequences][:2] == [
        "plain.txt lines 1-2",
        "plain.txt line 3",
    ]
    assert +corpus.counts == {"truncated": 1, "unpaired": 3}
    assert +load(plain, packing="sentences").counts == {"too_short": 2}


TWO = "the cat\nsat the\nmat the\ndog ran\n\nthe dog\nran the\ncat sat\n"
TREE = "# newdoc\n# global.Entity = eid\n1\tcat\t_\t_\t_\t_\t0\troot\t_\tEntity=(e1)\n"
DOCUMENTS = {
    "pairs of two documents": ((TWO,), {}, [0, 0, 1, 1]),
    "blocks across them": ((TWO,), {"packing": "blocks", "max_tokens": 6}, [0, 0, 1]),
    "texts by themselves": (('{"text": "the cat"}\n{"text": "the dog"}',), {}, [0, 1]),
    "one document in each of two files": ((TREE, TREE), {}, [0, 1]),
}


@pytest.mark.parametrize("case", DOCUMENTS)
def test_windows_of_one_document_are_redrawn_together(tmp_path, case):
    contents, options, documents = DOCUMENTS[case]
    files = tuple(written(tmp_path, content, f"f{n}") for n, content in enumerate(contents))
    assert load(files, **options).documents == documents


SHORT = "f: all its documents are too short to be packed; use --packing paragraphs"
PIECES = (
    "--packing {0} cuts the text by a model's word pieces; name the model with --model, or use "
    "--packing paragraphs."
)
WITHOUT_A_MODEL = {"tokenizer": None}
REFUSED = {
    "too short for sentences": ("the\n\ncat\n", {"packing": "sentences"}, SHORT),
    "a packing by another name": (
        PLAIN,
        {"packing": "sentence"},
        "No packing is called 'sentence'. Did you mean 'sentences'? Known: blocks, paragraphs, "
        "sentences, trees.",
    ),
    "a seed below 0": (
        PLAIN,
        {"packing": "sentences", "seed": -1},
        "--seed is -1; it must be 0 or more.",
    ),
    "sentences without a model": (
        PLAIN,
        WITHOUT_A_MODEL | {"packing": "sentences"},
        PIECES.format("sentences"),
    ),
    "trees of a text": (
        PLAIN,
        {"packing": "trees"},
        "--packing trees reads the sentences of a treebank, and f is none; give a CoNLL-U file, or "
        "leave --packing out.",
    ),
    "a treebank as JSON Lines": (
        TREE,
        WITHOUT_A_MODEL,
        "A treebank or coreference corpus is cut by a model's word pieces, and JSON Lines has no "
        "place for its annotation: give the file itself as --corpus of a run.",
    ),
    "a treebank of long sentences": (
        TREE.replace("cat", "catmatcat"),
        {"max_tokens": 4},
        "f: none of its sentences fits into --max-tokens; give a larger number there",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_corpus_cannot_be_is_refused_with_the_remedy(tmp_path, case):
    content, options, message = REFUSED[case]
    options = {"tokenizer": BUILT["bert"], "max_tokens": 16} | options
    assert outcome(written(tmp_path, content), **options) == message


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        (
            {"limit": 0},
            UserError,
            "--limit is 0; it must be at least 1, or left out to read the whole corpus.",
        ),
        ({"mask_rate": 1.5}, UserError, "--mask is 1.5; it must be at least 0 and less than 1."),
        (
            {"family": "gpt2", "mask_rate": 0.12},
            UnfitModel,
            "The model's tokenizer has no mask token, so --mask 0.12 cannot be done: use --mask 0 "
            "or a masked language model.",
        ),
    ],
)
def test_a_number_that_cannot_be_is_refused_before_the_corpus_is_read(options, kind, message):
    assert refused(kind, load, "none.txt", **options) == message


@pytest.mark.parametrize("family", TOKENIZERS)
@pytest.mark.parametrize("packing", ["paragraphs", "trees"])
def test_a_treebank_is_a_corpus(tmp_path, family, packing):
    corpus = load(write_treebank(tmp_path / "f"), family, max_tokens=40, packing=packing)
    known = [sequence.annotation for sequence in corpus.sequences if sequence.annotation]
    sentences = [len(set(annotation.sentences)) for annotation in known]
    assert (sum(map(len, known)), sum(sentences)) == (240, 39)
    assert (max(sentences) > 1) == (packing == "paragraphs")
    assert (corpus.counts["heads_by_tree"], corpus.counts["too_long"]) == (48, 0)


@unhurried()
@given(st.text(st.characters()))
def test_any_text_is_shown_on_one_short_line(text):
    assert shown(text).isprintable()
    assert len(shown(text)) <= 60 * len(r"\U0010ffff") + 2


def test_values_are_shown_as_python_writes_them_and_cut_and_names_of_files_whole():
    assert shown("<b>") == "'<b>'"
    assert shown("a\x1b[31m\n") == r"'a\x1b[31m\n'"
    assert shown("x" * 60) == f"'{'x' * 60}'"
    assert shown("x" * 61) == f"'{'x' * 59}…'"
    assert shown(10**5000) == "a huge int"
    assert shown([[[[1]]]]) == "[[[...]]]"
    assert file_name(Path("a/文 1.txt")) == "文 1.txt"
    assert file_name(Path("a/b\n\x1b.txt")) == r"'b\n\x1b.txt'"
    assert path_as_given(Path("a/b\u202e.txt")) == r"'a/b\u202e.txt'"
