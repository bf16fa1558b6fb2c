"""The bundled treebank is sound: its words, trees and mentions agree with its texts."""

import re
from itertools import pairwise
from pathlib import Path

from precompute.corpora import load
from precompute.corpora.annotated.conllu import conllu_documents
from precompute.corpora.sequence import ROOT
from tests.precompute.corpora.tiny import sound

PATH = Path(load.__file__).with_name("demo.conllu")
DOCUMENTS = list(sound(conllu_documents(PATH)))
SENTENCES = [sentence for document in DOCUMENTS for sentence in document.sentences]
COMMENTS = {
    key: re.findall(rf"^# {key} = (.+)$", PATH.read_text(encoding="utf-8"), re.MULTILINE)
    for key in ("sent_id", "text")
}
NOT_PROJECTIVE = {"single-sentences-37"}  # A letter arrived yesterday that nobody could read.
KINDS = {"PRON": "pronoun", "PROPN": "proper"}


def test_it_is_as_large_as_it_is_said_to_be_and_its_words_spell_its_texts():
    assert (len(SENTENCES), sum(map(len, SENTENCES))) == (69, 823)
    assert sum(document.bears_coreference for document in DOCUMENTS) == 5
    assert len(set(COMMENTS["sent_id"])) == len(set(COMMENTS["text"])) == len(SENTENCES)
    for sentence, text in zip(SENTENCES, COMMENTS["text"], strict=True):
        pairs = zip(sentence.forms, sentence.spaces, strict=True)
        assert "".join(form + " " * space for form, space in pairs).strip() == text


def test_trees_keep_the_rules_of_universal_dependencies():
    crossing = set()
    for identity, sentence in zip(COMMENTS["sent_id"], SENTENCES, strict=True):
        governors, relations = sentence.governors or (), sentence.relations or ()
        for part, relation, of in zip(sentence.parts_of_speech, relations, governors, strict=True):
            assert (part == "PUNCT") == (relation == "punct"), identity
            assert (relation == "root") == (of == ROOT), identity
        arcs = [sorted((n, governor)) for n, governor in enumerate(governors) if governor != ROOT]
        if any(a < c < b < d for a, b in arcs for c, d in arcs):
            crossing.add(identity)
    assert crossing == NOT_PROJECTIVE


def test_mentions_nest_and_are_carried_by_a_noun_of_theirs():
    for document in (document for document in DOCUMENTS if document.bears_coreference):
        parts = [part for sentence in document.sentences for part in sentence.parts_of_speech]
        for mention in document.mentions:
            assert mention.first <= mention.head <= mention.last
            assert parts[mention.head] in {"NOUN", "PROPN", "PRON", "NUM"}
            assert mention.kind == KINDS.get(parts[mention.head], "nominal")
            assert parts[mention.last] != "PUNCT"
        for first, second in pairwise(document.mentions):
            assert second.first > first.last or second.last <= first.last
        clusters = [mention.cluster for mention in document.mentions]
        assert all(clusters.count(cluster) > 1 for cluster in clusters)
