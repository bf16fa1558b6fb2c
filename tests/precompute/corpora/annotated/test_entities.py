"""Mentions in CoNLL-U: brackets, clusters, heads, empty nodes, and entities that are refused."""

from typing import Any

import pytest

from precompute.corpora.annotated.conllu import conllu_documents
from precompute.corpora.annotated.mentions import (
    head_by_tag,
    head_by_tree,
    head_by_word,
    kind_by_tag,
    kind_by_word,
)
from tests.precompute.corpora.reading import line, written
from tests.precompute.corpora.tiny import load, sound

GRP = "# newdoc id = a\n# global.Entity = GRP-etype-link-minspan-identity\n"
EID = "# newdoc id = a\n# global.Entity = eid-etype-head-other\n"
WORDS = ("The DET 2", "cat NOUN 4", "Zed PROPN 2", "sat VERB 0", "it PRON 4", "ran VERB 4")
ANDED = (*WORDS[:2], "Zed PROPN 4", "and CCONJ 6", "it PRON 6", "ran VERB 0")


def text_of(entities: str, words: tuple[str, ...] = WORDS) -> str:
    """One sentence, with an `Entity=` for each word that has one; `_` stands for none."""
    text = ""
    for n, (word, of) in enumerate(zip(words, entities.split(), strict=True), start=1):
        form, part, head = word.split()
        text += line(n, form, head, "dep", upos=part, misc="_" if of == "_" else f"Entity={of}")
    return text


def rows_of(*rows: str) -> str:
    """One sentence of words and empty nodes, each as `ID Entity`; its second word is the root."""
    text = ""
    for number, _, entity in (row.partition(" ") for row in rows):
        tree = ("_", "_") if "." in number else (0, "root") if number == "2" else (2, "dep")
        text += line(number, "w", *tree, upos="NOUN", misc=f"Entity={entity}" if entity else "_")
    return text + "\n"


def without_tree(text: str) -> str:
    cells = (row.split("\t") for row in text.splitlines())
    return "".join(
        "\t".join(row if len(row) < 10 else [*row[:6], "_", "_", *row[8:]]) + "\n" for row in cells
    )


def nested(opening: str) -> str:
    return GRP + text_of(f"_ _ {opening} _ 1) (1-x-coref)", ANDED)


ACROSS = text_of("(1-x-coref _ _ _ _ _") + "\n" + text_of("_ 1) (1-x-ana) _ _ _")
TREELESS = GRP + without_tree(text_of("(1-x-coref _ 1) _ (1-x-ana-1) _"))
ON_NODES = EID + rows_of("1", "1.1 (e1-x-NUMBER-", "2", "3 e1)") + rows_of("1 (e1-a-1-)", "2")
IT = rows_of("1 (e1-a-1-)(e2-b-1-)", "2 (e2-b-1-)")
KINDS = {"PRON": "pronoun", "PROPN": "proper"}
READ: dict[str, tuple[str, list[Any]]] = {
    "brackets of one name close in turn": (
        GRP + text_of("(7-x-coref (7-x-coref 7) 7) _ (9-x-coref)(9-y-coref)"),
        [(0, 3, 3, 0), (1, 2, 1, 0), (5, 5, 5, 1), (5, 5, 5, 1)],
    ),
    "of several words that hang outside the first is the head": (
        nested("(1-x-coref"),
        [(2, 4, 3, 0), (5, 5, 5, 0)],
    ),
    "or the one that the file names": (nested("(1-x-coref-3"), [(2, 4, 4, 0), (5, 5, 5, 0)]),
    "but none that does not": (nested("(1-x-coref-1"), [(2, 4, 3, 0), (5, 5, 5, 0)]),
    "apposed, predicated and single ones are no mentions": (
        GRP + text_of("(1-x-coref) (1-x-sgl)(1-x-pred)(1-x-appos) (1-x-ana) (2-x) _ _"),
        [(0, 0, 0, 0), (2, 2, 2, 0)],
    ),
    "what is mentioned once has nothing to corefer with": (
        GRP + text_of("(1-x-coref) (1-x-pred) _ (2-x-coref) _ _"),
        [],
    ),
    "discontinuous mentions are left out": (
        GRP + text_of("(1-x[1/2]-coref 1[1/2]) (1[2/2]-x-coref) (1-x-coref) (1-x-ana) _"),
        [(3, 3, 3, 0), (4, 4, 4, 0)],
    ),
    "mentions may cross sentences": (GRP + ACROSS, [(0, 7, 3, 0), (8, 8, 8, 0)]),
    "CorefUD names its fields otherwise": (
        EID + text_of("(e1-x-2- e1) _ _ (e1-x-1-) _"),
        [(0, 1, 1, 0), (4, 4, 4, 0)],
    ),
    "without a tree the part of speech tells the head": (TREELESS, [(0, 2, 2, 0), (4, 4, 4, 0)]),
    "a mention opens on an empty node": (
        EID + rows_of("1", "1.1 (e1-a-1-", "2 e1)") + IT,
        [(1, 1, 1, 0), (2, 2, 2, 0), (2, 2, 2, 1), (3, 3, 3, 1)],
    ),
    "or closes on one": (
        EID + rows_of("1 (e1-a-1-", "2", "2.1 e1)") + IT,
        [(0, 1, 1, 0), (2, 2, 2, 0), (2, 2, 2, 1), (3, 3, 3, 1)],
    ),
    "a head is counted with empty nodes": (
        without_tree(ON_NODES.replace("NUMBER", "3")),
        [(1, 2, 2, 0), (3, 3, 3, 0)],
    ),
    "an empty node alone is left out": (
        EID + rows_of("1 (e1-a-1-)", "2", "2.1", "2.2 (e1-a-1-)") + rows_of("1", "2 (e1-a-1-)"),
        [(0, 0, 0, 0), (3, 3, 3, 0), 1],
    ),
    "but one of what does not corefer is not counted": (
        EID + rows_of("1", "2", "2.1", "2.2 (e9-a-1-)") + rows_of("1", "2 (e1-a-1-)"),
        [],
    ),
}
HEADERS = {  # of the same entities: 7 twice, apposed once, and 9 once
    "GRP-etype-link": "(7-x-coref 7) (7-x-appos) (7-x-ana) (9-x-coref)",
    "eid-etype-head-other": "(e7-x-2- e7) _ (e7-x-1-) (e9-x-1-)",
    "entity-GRP-infstat-MIN-coref_type-identity": "(person-7-new-2-coref person-7) "
    "(person-7-giv-1-appos) (person-7-giv-1-ana) (place-9-new-1-coref-Rome-by-night)",
    "": "(e7-x-2- e7) _ (e7-x-1-) (e9-x-1-)",
    " ": "(person-7 person-7) _ (person-7) (person-9)",
}
for header, entities in HEADERS.items():
    named = f"# global.Entity = {header}\n" if header.strip() else ""
    READ[f"under the header {header!r}"] = (
        f"# newdoc id = a\n{named}{text_of(f'_ {entities}')}",
        [(1, 2, 1, 0), (4, 4, 4, 0)],
    )


@pytest.mark.parametrize("case", READ)
def test_mentions_are_read_with_their_heads_and_clusters(tmp_path, case):
    """A row holds the first and last word, the head and the cluster; a number, those left out."""
    text, expected = READ[case]
    (found,) = sound(conllu_documents, tmp_path, text)
    rows = [(m.first, m.last, m.head, m.cluster) for m in found.mentions]
    n_lost = found.mentions_without_words
    assert rows + [n_lost] * bool(n_lost) == expected
    parts = [part for sentence in found.sentences for part in sentence.parts_of_speech]
    kinds = [KINDS.get(parts[mention.head], "nominal") for mention in found.mentions]
    assert [mention.kind for mention in found.mentions] == kinds
    assert found.bears_coreference
    assert found.heads_by == ("tree" if "\tdep\t" in text else "tag")


def test_fields_stay_those_of_the_last_header(tmp_path):
    text = text_of("(1-x-coref) (1-x-pred) (1-x-ana) _ _ _")
    documents = sound(conllu_documents, tmp_path, f"{GRP}{text}\n# newdoc id = b\n{text}")
    assert [len(entry.mentions) for entry in documents] == [2, 2]


NO_ENTITY = " nothing tells which mentions are of one entity; call its field GRP or eid there"
RUN = "is no run of brackets; write (1, 1) or (1), as in (1(2)3)"
UNREAD = {
    "no field for the entity": (
        "# global.Entity = etype-identity\n" + text_of("(person-Rome person) _ _ _ _"),
        f": `# global.Entity = etype-identity` names no field GRP or eid, and so{NO_ENTITY}",
    ),
    "no header and no number": (
        text_of("(person person) _ _ (e1-place) _"),
        f": no comment `# global.Entity = …` is there, and{NO_ENTITY}",
    ),
    "a bracket without its entity": (
        "# global.Entity = entity-GRP\n" + text_of("(person-7 person-7) _ _ (place) _"),
        " line 6: 'place' lacks field 2, which names the entity",
    ),
    "a mention that crosses documents": (
        GRP + ACROSS.replace("\n\n", "\n\n# newdoc id = c\n").replace("1)", "", 1),
        " line 3: '(1' is never closed; close it with 1)",
    ),
    **{
        f"the bracket {entity}": (GRP + text_of(f"_ {entity} _ _ _ _"), f" line 4: {reason}")
        for entity, reason in {
            "7)": "'7)' closes what is not open; open it with (7",
            "(7-x": "'(7' is never closed; close it with 7)",
            "7": f"'7' {RUN}",
            "(1-x-coref)2": f"'(1-x-coref)2' {RUN}",
            "()": f"'()' {RUN}",
            ")(": f"')(' {RUN}",
        }.items()
    },
}
TREE = (1, 3, 1, -1, 3, 3)


@pytest.mark.parametrize("packing", ["paragraphs", "trees"])
@pytest.mark.parametrize("kind", UNREAD)
def test_coreference_that_cannot_be_read_loses_itself_alone(tmp_path, kind, packing, capsys):
    text, reason = UNREAD[kind]
    other = "\n# newdoc id = b\n# global.Entity = eid\n" + text_of("(e1 e1) (e1) _ _ _")
    corpus = load(written(tmp_path, text + other), packing=packing)
    known = [sequence.annotation for sequence in corpus.sequences if sequence.annotation]
    *lost, kept = [(annotation.governors, len(annotation.mentions)) for annotation in known]
    assert set(lost) == {(TREE, 0)}
    assert kept == (TREE, 2)
    assert corpus.counts["coreference_left_out"] == 1
    assert corpus.counts["malformed_rows_left_out"] == 0
    assert capsys.readouterr().out == f"Left out, the coreference of a document: f{reason}.\n"


def test_what_is_left_out_is_counted_and_one_reason_is_printed_once(tmp_path, capsys):
    text = "# newdoc\n# global.Entity = etype\n" + text_of("(person) _ _ _ _ _")
    assert load(written(tmp_path, "\n".join([text] * 25))).counts["coreference_left_out"] == 25
    assert len(capsys.readouterr().out.splitlines()) == 1
    rows = rows_of("1 (e1-a-1-)", "1.1 (e1-a-1-)", "2 (e1-a-1-)")
    assert load(written(tmp_path, EID + rows)).counts["mentions_without_words_left_out"] == 1


BY_TAG = {
    "the/DT old/JJ cat/NN": "cat",
    "the/DT cat/NN of/IN my/PRP$ aunt/NN": "cat",
    "Ann/NNP Lee/NNP ,/, who/WP sang/VBD": "Lee",
    "Ann/NNP and/CC Bob/NNP": "Ann",
    "my/PRP$ aunt/NN 's/POS": "aunt",
    "the/DT one/NN who/WP sings/VBZ": "one",
    "the/DT very/RB old/JJ": "old",
    "der/DET Hund/NOUN von/ADP Ann/PROPN": "Hund",
}
BY_WORD = {
    "the cat of my aunt": "cat",
    "Ann Lee , who sang": "Lee",
    "Ann and Bob": "Ann",
    "my aunt 's": "aunt",
    "my aunts ' cat": "cat",
    "well - known cats": "cats",
    "その 猫": "猫",
}


@pytest.mark.parametrize("mention", [*BY_TAG, *BY_WORD])
def test_the_head_is_the_last_noun_or_word_before_what_follows_the_core(mention):
    if mention in BY_TAG:
        pairs = [word.rsplit("/", 1) for word in f"in/IN {mention} of/IN".split()]
        words, tags = zip(*pairs, strict=True)
        assert words[head_by_tag(1, len(words) - 2, tags)] == BY_TAG[mention]
    else:
        words = f"in {mention} of".split()
        assert words[head_by_word(1, len(words) - 2, words)] == BY_WORD[mention]


def test_the_head_in_a_tree_is_the_word_that_hangs_outside():
    governors = (1, 4, 1, 5, -1, 4)
    assert head_by_tree(0, 2, governors) == 1
    assert head_by_tree(0, 3, governors, preferred=[0, 3, 1]) == 3
    assert head_by_tree(3, 5, governors) == 4


def test_kinds_of_mentions_follow_their_tags_and_words():
    kinds = {tag: kind_by_tag(tag) for tag in ("PRP", "PRON", "NNP", "PROPN", "NN", "")}
    assert list(kinds.values()) == ["pronoun"] * 2 + ["proper"] * 2 + ["nominal"] * 2
    assert kind_by_word("She", alone=True, begins_sentence=True) == "pronoun"
    assert kind_by_word("that", alone=False, begins_sentence=False) == "nominal"
    assert kind_by_word("Ann", alone=True, begins_sentence=False) == "proper"
    assert kind_by_word("Ann", alone=True, begins_sentence=True) == "nominal"
