import hashlib
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadCorpus, UnfitModel, UnknownName, UserError
from precompute.corpora.load import TEXT_PACKINGS, entries
from precompute.corpora.sequence import Entry
from precompute.corpora.texts.rows import write_jsonl
from tests.precompute.corpora.tiny import (
    BUILT,
    SEGMENT_TYPES,
    TOKENIZERS,
    assert_same_sequences,
    load,
    unhurried,
)
from tests.refusals import refused

PLAIN = "the cat sat\nthe dog ran\nthe mat\n\nzz\n \nthe cat\n"


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain.txt"
    path.write_text(PLAIN)
    return path


@pytest.mark.parametrize("family", TOKENIZERS)
@pytest.mark.parametrize("packing", TEXT_PACKINGS)
def test_corpus_turned_into_json_lines_gives_the_same_sequences(plain, family, packing):
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
def test_limit_keeps_the_first_sequences_as_they_are(tmp_path_factory, limit, mask_rate, packing):
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


def test_images_are_no_corpus_for_a_model_that_reads_text(tmp_path):
    reason = "which only a model that reads images takes; give such a model, or a text corpus"
    (tmp_path / "a.png").touch()
    for source, kind in (("demo-digits", "holds images"), (tmp_path, "is a folder of images")):
        assert refused(BadCorpus, load, source) == f"{source}: {kind}, {reason}"


def test_each_format_is_read_by_its_content(tmp_path):
    tokens = ["[CLS]", "the", "[SEP]"]
    pickled, lines = tmp_path / "a.jsonl", tmp_path / "b.txt"
    pickled.write_bytes(pickle.dumps([{"tokens": tokens, "attns": np.ones((1, 1, 3, 3))}]))
    lines.write_text(json.dumps({"tokens": tokens}))
    assert list(entries(str(pickled))) == [Entry("a.jsonl entry 1", tokens=tuple(tokens))]
    assert list(entries(str(lines))) == [Entry("b.txt line 1", tokens=tuple(tokens))]
    assert_same_sequences(load(pickled).sequences, load(lines).sequences)


def test_entries_are_read_as_they_are_asked_for(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(b'{"text": "the"}\n\xff\n')
    lines = entries(str(path))
    assert next(lines) == Entry("corpus.jsonl line 1", ("the",))
    with pytest.raises(BadCorpus):
        next(lines)
    assert len(load(path, limit=1).sequences) == 1


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("\n \n", {}, "plain.txt: holds no sequence; give a file that holds some text"),
        (
            "the\n\ncat\n",
            {"packing": "sentences"},
            "plain.txt: all its documents are too short to be packed; use --packing paragraphs",
        ),
        (
            "the cat\n",
            {"packing": "blocks"},
            "plain.txt: all its documents are too short to be packed; use --packing paragraphs",
        ),
    ],
)
def test_corpus_without_a_sequence_is_refused(plain, content, options, message):
    plain.write_text(content)
    assert refused(BadCorpus, load, plain, **options) == message


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        (
            {"limit": 0},
            UserError,
            "--limit is 0; it must be at least 1, or left out to read the whole corpus.",
        ),
        ({"mask_rate": 1.5}, UserError, "--mask is 1.5; it must be at least 0 and less than 1."),
        ({"packing": "sentences", "seed": -1}, UserError, "--seed is -1; it must be 0 or more."),
        (
            {"packing": "sentence"},
            UnknownName,
            "No packing is called 'sentence'. Did you mean 'sentences'? Known: blocks, "
            "paragraphs, sentences, trees.",
        ),
    ],
)
def test_number_or_name_that_cannot_be_is_refused(plain, options, kind, message):
    assert refused(kind, load, plain, **options) == message


@pytest.mark.parametrize("packing", ["sentences", "blocks"])
def test_pieces_cannot_be_packed_without_a_tokenizer(plain, packing):
    assert refused(UserError, entries, str(plain), packing=packing) == (
        f"--packing {packing} cuts the text by a model's word pieces; name the model with --model, "
        "or use --packing paragraphs."
    )


def test_model_without_a_mask_token_fails_before_the_corpus_is_read():
    with pytest.raises(UnfitModel):
        load("none.txt", "gpt2", mask_rate=0.12)
