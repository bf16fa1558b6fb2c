"""The bundled treebank is sound: no word, tree or mention of it is left to trust."""

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from precompute.corpora import load
from precompute.corpora.annotated.annotation import ROOT
from precompute.corpora.annotated.conllu import conllu_documents
from precompute.corpora.annotated.documents import Sentence
from tests.precompute.corpora.inventory import (
    BEARERS,
    FEATURES,
    GOVERNORS,
    LEAVES,
    NOMINAL,
    RELATIONS,
    REQUIRED,
    SUBJECTS,
    UPOS,
    VALUES,
    listed,
)

PATH = Path(load.__file__).with_name("demo.conllu")
DOCUMENTS = list(conllu_documents(PATH))
COMMENTS = {
    key: re.findall(rf"^# {key} = (.+)$", PATH.read_text(encoding="utf-8"), re.MULTILINE)
    for key in ("sent_id", "text")
}
NOT_PROJECTIVE = {"single-sentences-37"}  # A letter arrived yesterday that nobody could read.
NAMELESS = ["It", "it"]  # in "It took her eleven months" and "he knew it": what no mention names


@dataclass
class Word:
    place: str
    form: str
    part: str
    features: dict[str, str]
    relation: str
    governor: int
    dependents: list["Word"]


def words_of(sentence: Sentence, identity: str) -> list[Word]:
    features = [
        dict(feature.split("=") for feature in column.split("|") if feature)
        for column in sentence.features
    ]
    columns = zip(
        sentence.forms,
        sentence.parts_of_speech,
        features,
        sentence.relations or (),
        sentence.governors or (),
        strict=True,
    )
    words = [
        Word(f"{identity} word {number} {row[0]}", *row, [])
        for number, row in enumerate(columns, 1)
    ]
    for word in words:
        if word.governor != ROOT:
            words[word.governor].dependents.append(word)
    return words


SENTENCES = [sentence for document in DOCUMENTS for sentence in document.sentences]
TREES = [words_of(*pair) for pair in zip(SENTENCES, COMMENTS["sent_id"], strict=True)]
WORDS = [word for tree in TREES for word in tree]
PAIRS = [(word, tree[word.governor]) for tree in TREES for word in tree if word.governor != ROOT]


def test_it_is_as_large_as_it_is_said_to_be():
    assert (len(SENTENCES), sum(map(len, SENTENCES))) == (69, 823)
    assert sum(document.bears_coreference for document in DOCUMENTS) == 5
    assert len(set(COMMENTS["sent_id"])) == len(set(COMMENTS["text"])) == len(SENTENCES)


def test_the_words_spell_the_texts():
    for sentence, text in zip(SENTENCES, COMMENTS["text"], strict=True):
        pairs = zip(sentence.forms, sentence.spaces, strict=True)
        assert "".join(form + " " * space for form, space in pairs).strip() == text


def test_names_are_those_of_universal_dependencies():
    assert not [word for word in WORDS if word.part not in UPOS]
    assert not [word for word in WORDS if word.relation not in RELATIONS]
    assert not [word for word in WORDS if (word.part == "PUNCT") != (word.relation == "punct")]
    assert not [word for word in WORDS if (word.relation == "root") != (word.governor == ROOT)]


def test_relations_join_the_parts_of_speech_that_they_may():
    assert not [w for w in WORDS if w.part not in BEARERS.get(w.relation, UPOS)]
    assert not [
        (word, governor)
        for word, governor in PAIRS
        if governor.part not in GOVERNORS.get(word.relation, UPOS)
        and "cop" not in {dependent.relation for dependent in governor.dependents}
    ]


def test_prepositions_tell_obliques_from_objects():
    for word in WORDS:
        cases = sum(dependent.relation == "case" for dependent in word.dependents)
        if word.relation in {"obl", "obl:agent", "nmod"}:
            assert cases == 1, word.place
        if word.relation in {*SUBJECTS, "obj", "iobj", "obl:tmod", "appos", "flat"}:
            assert cases == 0, word.place


def test_function_words_bear_nothing():
    assert not [word for word, governor in PAIRS if governor.relation in LEAVES]


def test_no_word_has_two_subjects_objects_or_determiners():
    for single in (SUBJECTS, {"obj"}, {"iobj"}, {"det"}, {"cop"}):
        assert not [w for w in WORDS if sum(d.relation in single for d in w.dependents) > 1]


def test_features_are_those_of_the_part_of_speech_in_order():
    for word in WORDS:
        assert word.features.keys() <= listed(FEATURES.get(word.part, "")), word.place
        assert word.features.keys() >= listed(REQUIRED.get(word.part, "")), word.place
        assert list(word.features) == sorted(word.features, key=str.lower), word.place
        assert not [k for k, v in word.features.items() if v not in listed(VALUES[k])], word.place


def test_finite_verbs_have_mood_and_tense_and_others_have_not():
    for word in WORDS:
        form = word.features.get("VerbForm")
        if word.part in {"VERB", "AUX"} and form != "Fin":
            assert "Mood" not in word.features, word.place
        elif word.features.get("Mood") == "Ind":
            assert "Tense" in word.features, word.place
            assert ("Number" in word.features) == ("Person" in word.features), word.place


def test_subjects_agree_with_their_verbs_and_passives_with_their_voice():
    for word, governor in PAIRS:
        if word.relation == "aux:pass":
            assert governor.features["Voice"] == "Pass", word.place
        if word.relation in {"nsubj", "nsubj:pass"}:
            is_joined = "conj" in {dependent.relation for dependent in word.dependents}
            number = "Plur" if is_joined else word.features.get("Number")
            verbs = [d for d in governor.dependents if d.relation in {"aux", "aux:pass", "cop"}]
            for verb in (governor, *verbs):
                verb_number = verb.features.get("Number") if verb.part in {"VERB", "AUX"} else None
                assert not {number, verb_number} >= {"Sing", "Plur"}, (word.place, verb.place)
            assert word.features.get("Case", "Nom") == "Nom", word.place
        if word.relation in {"obj", "iobj", "obl"}:
            assert word.features.get("Case", "Acc") == "Acc" or governor.form == "made", word.place


def test_trees_are_projective_but_for_those_that_are_named():
    trees = zip(COMMENTS["sent_id"], TREES, strict=True)
    assert {identity for identity, tree in trees if crosses(tree)} == NOT_PROJECTIVE


def crosses(tree: list[Word]) -> bool:
    """Return True if two arcs of the tree cross."""
    places = ((n, word.governor) for n, word in enumerate(tree) if word.governor != ROOT)
    arcs = [(min(pair), max(pair)) for pair in places]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


def of_documents():
    """Each document with coreference: its words, and its mentions."""
    trees = iter(TREES)
    for document in DOCUMENTS:
        words = [word for _ in document.sentences for word in next(trees)]
        if document.bears_coreference:
            yield words, document.mentions


def test_mentions_nest_and_are_carried_by_a_noun_of_theirs():
    for words, mentions in of_documents():
        for mention in mentions:
            assert mention.first <= mention.head <= mention.last
            assert words[mention.head].part in NOMINAL
            assert (mention.kind == "pronoun") == (words[mention.head].part == "PRON")
            assert (mention.kind == "proper") == (words[mention.head].part == "PROPN")
            assert words[mention.last].part != "PUNCT"
        for first, second in pairwise(mentions):
            assert second.first > first.last or second.last <= first.last
        clusters = [mention.cluster for mention in mentions]
        assert all(clusters.count(cluster) > 1 for cluster in clusters)


def test_pronouns_of_one_thing_agree():
    for words, mentions in of_documents():
        for key in ("Number", "Gender"):
            values: dict[int, set[str]] = {}
            for mention in mentions:
                if mention.kind == "pronoun" and key in words[mention.head].features:
                    values.setdefault(mention.cluster, set()).add(words[mention.head].features[key])
            assert all(len(options) == 1 for options in values.values()), (key, values)


def test_personal_pronouns_are_mentions():
    left = [
        word.form
        for words, mentions in of_documents()
        for place, word in enumerate(words)
        if word.features.get("PronType") == "Prs" and place not in {m.head for m in mentions}
    ]
    assert left == NAMELESS
