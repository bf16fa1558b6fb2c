"""Real treebanks and coreference corpora, against known facts."""

from functools import cache

import pytest

from precompute.corpora.annotated.conllu import conllu_documents
from precompute.corpora.annotated.coreference_columns import column_documents
from precompute.corpora.annotated.mentions import head_by_tree, kind_by_tag
from precompute.corpora.load import read_corpus
from tests.precompute.corpora.texts.test_real_text import real
from tests.precompute.corpora.tiny import shared_data, sound
from tests.precompute.corpora.whole import whole

pytestmark = pytest.mark.shared_data


@cache
def treebank(name: str):
    return tuple(sound(conllu_documents(shared_data() / "treebanks" / name)))


def gum():
    return treebank("gum_free-dev.conllu")


@cache
def ontogum():
    return tuple(
        sound(column_documents(shared_data() / "coref" / "ontogum" / "ontogum_free-dev.conll"))
    )


def parts_of(document) -> list[str]:
    return [part for sentence in document.sentences for part in sentence.parts_of_speech]


def governors_of(document) -> list[int]:
    """Governors counted within the document; a root's is -1."""
    governors: list[int] = []
    for sentence in document.sentences:
        start = len(governors)
        governors += [
            governor + start if governor >= 0 else -1 for governor in sentence.governors or ()
        ]
    return governors


@pytest.mark.parametrize(
    ("name", "sentences", "words"),
    [("ja_pud-ud-test.v2.4.conllu", 1000, 26707), ("gum_free-dev.conllu", 341, 8383)],
)
def test_every_sentence_and_word_is_read(name, sentences, words):
    path = shared_data() / "treebanks" / name
    parsed = [sentence for document in treebank(name) for sentence in document.sentences]
    text = path.read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines() if line[:1].isdigit()]
    assert (len(parsed), sum(map(len, parsed))) == (sentences, words)
    plain = [row for row in lines if row[0].isdigit()]
    assert [row[1] for row in plain] == [form for sentence in parsed for form in sentence.forms]
    assert [int(row[6]) - 1 for row in plain] == [
        head for s in parsed for head in s.governors or ()
    ]


def test_windows_of_gum_lose_nothing():
    path = str(shared_data() / "treebanks" / "gum_free-dev.conllu")
    corpus = whole(read_corpus(path, real("bert"), positions=512, segment_types=2))
    assert sum(len(sequence.annotation or ()) for sequence in corpus.sequences) == 8383
    assert max(map(len, corpus.sequences)) <= 128
    assert corpus.counts["heads_by_tree"] == sum(len(document.mentions) for document in gum())
    assert corpus.counts["too_long"] == corpus.counts["mentions_cut"] == 0


def test_ontogum_has_the_mentions_that_are_known_of_it():
    mentions = [mention for document in ontogum() for mention in document.mentions]
    assert len(mentions) == 935
    clusters = sum(len({m.cluster for m in document.mentions}) for document in ontogum())
    assert len(mentions) - clusters == 725


def test_mentions_of_ontogum_are_among_those_of_gum():
    """GUM knows more: it counts generic nouns, dates and modifiers as mentions."""
    shared = all_of_ontogum = 0
    for mine, other in zip(gum(), ontogum(), strict=True):
        heads = {mention.head for mention in mine.mentions}
        governors = governors_of(mine)
        theirs = {
            head_by_tree(mention.first, mention.last, governors) for mention in other.mentions
        }
        shared += len(heads & theirs)
        all_of_ontogum += len(theirs)
    assert shared / all_of_ontogum >= 0.98


def test_heads_and_kinds_by_rule_are_nearly_always_those_of_the_tree():
    right_heads = right_kinds = n_mentions = 0
    for mine, other in zip(gum(), ontogum(), strict=True):
        governors, parts = governors_of(mine), parts_of(mine)
        for mention in other.mentions:
            head = head_by_tree(mention.first, mention.last, governors)
            n_mentions += 1
            right_heads += mention.head == head
            right_kinds += mention.kind == kind_by_tag(parts[head])
    assert right_heads / n_mentions >= 0.9
    assert right_kinds / n_mentions >= 0.94


def test_key_documents_of_the_reference_scorer_are_read():
    paths = sorted((shared_data() / "coref" / "scorer-tests").glob("*.key"))
    sizes = {
        path.stem: [len(document.mentions) for document in sound(column_documents(path))]
        for path in paths
    }
    assert sizes == {
        "TC-A": [5], "TC-B": [5], "TC-C": [7], "TC-D": [12], "TC-E": [12], "TC-F": [4], "TC-G": [4],
        "TC-H": [4], "TC-I": [4], "TC-J": [3], "TC-K": [7], "TC-L": [7], "TC-M": [6], "TC-N": [0],
    }  # fmt: skip
