"""CoNLL-U and columns of coreference: words, trees and mentions as they are read, or left out."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import BadCorpus, UserError
from precompute.corpora.annotated.conllu import conllu_documents
from precompute.corpora.annotated.coreference_columns import column_documents
from precompute.corpora.annotated.documents import head_by_tag, head_by_word
from precompute.corpora.sequence import ROOT, Mention
from tests.precompute.corpora.reading import line, written
from tests.precompute.corpora.tiny import load, sound
from tests.refusals import refused

read = partial(sound, conllu_documents)


def only_sentence(folder: Path, text: str):
    ((parsed,),) = [document.sentences for document in read(folder, text)]
    return parsed


TREES = {
    "every column": (
        "# sent_id = 1\n"
        + line(1, "Cats", 2, "nsubj", upos="NOUN", feats="Number=Plur")
        + line(2, "ran", 0, "root", upos="VERB", misc="Gloss=a=b|SpaceAfter=No")
        + line(3, ".", 2, "punct"),
        {
            "forms": ("Cats", "ran", "."),
            "spaces": (True, False, True),
            "governors": (1, ROOT, 1),
            "relations": ("nsubj", "root", "punct"),
            "parts_of_speech": ("NOUN", "VERB", ""),
            "features": ("Number=Plur", "", ""),
        },
    ),
    "empty nodes are passed over": (
        line("0.1", "it") + line(1) + line("1.1", "ran", "_", "_") + line("1.2", "ran"),
        {"forms": ("cat",), "governors": (ROOT,), "relations": ("root",)},
    ),
    "tokens of several words, as their words": (
        line(1, "cats", 2, "nsubj")
        + line("2-3", "don't", "_", "_", misc="SpaceAfter=No")
        + line(2, "do", 0, "root")
        + line(3, "n't", 2, "advmod")
        + line("4-5", "au", "_", "_")
        + line(4, "à", 5, "case", misc="SpaceAfter=No")
        + line(5, "le", 2, "obl"),
        {"forms": ("cats", "do", "n't", "à", "le"), "spaces": (True, False, False, True, True)},
    ),
}


@pytest.mark.parametrize("case", TREES)
def test_words_and_trees_are_read_and_the_rest_is_passed_over(tmp_path, case):
    text, expected = TREES[case]
    parsed = only_sentence(tmp_path, text)
    assert {name: getattr(parsed, name) for name in expected} == expected


NO_TREES = {
    "1\tcat\t_\n": "1: 3 column(s) with tabs between, not the 10 of CoNLL-U; write _ for what is "
    "not known",
    line("x"): "1: ID is 'x'; it must be 3, 3-4 or 3.1, counted from 1",
    line(2): "1: ID is 2 where 1 is due; number the words of a sentence from 1, with a blank line "
    "before the next",
    line("1-3", "a") + line(1): "1: this token reaches to word 3 of 1; mend its ID",
    line(1, head="1"): "1: HEAD is '1', the word itself; give another word",
    line(1, head="１"): "1: HEAD is '１'; it must be the id of a word of the sentence (1 to 1), or "
    "0 for the root",
    line(1) + line(2): "2: HEAD is 0, as in line 1; a sentence has one root: attach the other, or "
    "make two sentences",
    line(1) + line(2, head=3) + line(3, head=4) + line(4, head=3): "3: its HEADs lead in a circle, "
    "3 → 4 → 3; every word must lead to the root",
}


@pytest.mark.parametrize("text", NO_TREES)
def test_what_is_no_tree_is_refused_with_its_line(tmp_path, text):
    assert refused(BadCorpus, read, tmp_path, text) == f"f line {NO_TREES[text]}"


CONLL_2012 = """#begin document (bc/cctv/00); part 000
bc/cctv/00   0   0    Zed   NNP   (TOP(S(NP*)   -   -   -   Speaker#1   *   (V*)   (12)
bc/cctv/00   0   1    saw   VBD   (VP*   see   01   1   Speaker#1   *   *   -
bc/cctv/00   0   2    the    DT   (NP*   -   -   -   Speaker#1   *   *   (3
bc/cctv/00   0   3    cat    NN   *   -   -   -   Speaker#1   *   *   -
bc/cctv/00   0   4    of    IN   *   -   -   -   Speaker#1   *   *   -
bc/cctv/00   0   5    Ann   NNP   *   -   -   -   Speaker#1   *   *   3)
bc/cctv/00   0   6   /.    .   *))   -   -   -   Speaker#1   *   *   -

bc/cctv/00   0   0   -LRB-   -LRB-   (TOP*   -   -   -   Speaker#1   *   -
bc/cctv/00   0   1   It   PRP   *   -   -   -   Speaker#1   *   (3)
bc/cctv/00   0   2   saw   VBD   *   see   -   -   Speaker#1   *   -
bc/cctv/00   0   3   him   PRP   *)   -   -   -   Speaker#1   *   (12)|(4)

#end document
#begin document (bc/cctv/00); part 001
#end document
"""
ONTOGUM = """# begin document a
0\tZed\t(1)
1\tran\t_
2\t.\t_
3\t"\t_
4\tThe\t(2
5\tcat\t2)
6\tsaw\t_
7\t\t_
8\thim\t(1)
9\tand\t_
10\tit\t(2)
# end document

"""
ZED, CAT = Mention(0, 0, 0, 0, "nominal"), Mention(4, 5, 5, 1, "nominal")
HIM, IT_AGAIN = Mention(8, 8, 8, 0, "pronoun"), Mention(10, 10, 10, 1, "pronoun")
ONE_SENTENCE = ONTOGUM.replace("1\tran\t_", "1\tran\t(3").replace("5\tcat\t2)", "5\tcat\t2)3)")


def document(lines: str) -> str:
    return f"#begin document x\n{lines}#end document\n"


COLUMNS = {
    "CoNLL-2012, with its tags, sentences and escapes": (
        CONLL_2012,
        ["Zed saw the cat of Ann.", "(It saw him"],
        [
            Mention(0, 0, 0, cluster=0, kind="proper"),
            Mention(2, 5, 3, cluster=1, kind="nominal"),
            Mention(8, 8, 8, cluster=1, kind="pronoun"),
            Mention(10, 10, 10, cluster=0, kind="pronoun"),
        ],
    ),
    "OntoGUM, without sentences, tags or a word for every number": (
        ONTOGUM,
        ['Zed ran. "', "The cat saw  him and it"],
        [ZED, CAT, HIM, IT_AGAIN],
    ),
    "no sentence ends within a mention": (
        ONE_SENTENCE,
        ['Zed ran. " The cat saw  him and it'],
        [ZED, CAT, HIM, IT_AGAIN],
    ),
    "a mention written twice is one": (
        document("a (1)(1)\nb (1)\n"),
        ["a b"],
        [Mention(0, 0, 0, 0, "nominal"), Mention(1, 1, 1, 0, "nominal")],
    ),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_columns_of_any_width_are_read(tmp_path, case):
    text, sentences, mentions = COLUMNS[case]
    (found,) = sound(column_documents, tmp_path, text)
    assert [sentence.text for sentence in found.sentences] == sentences
    assert list(found.mentions) == mentions
    assert found.sentences[0].governors is None
    is_tagged = text == CONLL_2012
    assert (found.heads_by, found.sentences_by_rule) == (("word", "tag")[is_tagged], not is_tagged)


END = (
    "the document that begins in line 1 does not end; write `#end document` after its last word, "
    "and see whether the file was cut off"
)
NO_COLUMNS = {
    "a (1)\n": " line 1: stands outside a document; write `#begin document` before it",
    "#begin document x\na -\n#begin document y\n": f" line 3: {END}",
    document("a (1\n"): " line 2: '(1' is never closed; close it with 1)",
    document("a 1)\n"): " line 2: '1)' closes what is not open; open it with (1",
    document(
        "a (1))\n"
    ): " line 2: '(1))' is no run of brackets; write (1, 1) or (1), as in (1(2)3)",
    document("a (1\n" * 501): " line 502: more than 500 mentions are open at once; close them",
}


@pytest.mark.parametrize("text", NO_COLUMNS, ids=lambda text: text[:40])
def test_broken_columns_are_refused(tmp_path, text):
    assert refused(BadCorpus, sound, column_documents, tmp_path, text) == f"f{NO_COLUMNS[text]}"


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


ON_NODES = EID + rows_of("1", "1.1 (e1-x-NUMBER-", "2", "3 e1)") + rows_of("1 (e1-a-1-)", "2")
IT = rows_of("1 (e1-a-1-)(e2-b-1-)", "2 (e2-b-1-)")
KINDS = {"PRON": "pronoun", "PROPN": "proper"}
MENTIONS: dict[str, tuple[str, list[Any]]] = {
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
    "discontinuous mentions and those of what is mentioned once are left out": (
        GRP + text_of("(1-x[1/2]-coref 1[1/2]) (1[2/2]-x-coref)(2-x) (1-x-coref) (1-x-ana) _"),
        [(3, 3, 3, 0), (4, 4, 4, 0)],
    ),
    "apposed, predicated and single ones are no mentions": (
        GRP + text_of("(1-x-coref) (1-x-sgl)(1-x-pred)(1-x-appos) (1-x-ana) (2-x) _ _"),
        [(0, 0, 0, 0), (2, 2, 2, 0)],
    ),
    "a mention opens on an empty node": (
        EID + rows_of("1", "1.1 (e1-a-1-", "2 e1)") + IT,
        [(1, 1, 1, 0), (2, 2, 2, 0), (2, 2, 2, 1), (3, 3, 3, 1)],
    ),
    "a head is counted with empty nodes": (
        without_tree(ON_NODES.replace("NUMBER", "3")),
        [(1, 2, 2, 0), (3, 3, 3, 0)],
    ),
    "an empty node alone is left out": (
        EID + rows_of("1 (e1-a-1-)", "2", "2.1", "2.2 (e1-a-1-)") + rows_of("1", "2 (e1-a-1-)"),
        [(0, 0, 0, 0), (3, 3, 3, 0), 1],
    ),
}
HEADERS = {  # of the same entities: 7 twice, apposed once, and 9 once
    "GRP-etype-link": "(7-x-coref 7) (7-x-appos) (7-x-ana) (9-x-coref)",
    "eid-etype-head-other": "(e7-x-2- e7) _ (e7-x-1-) (e9-x-1-)",
    "entity-GRP-infstat-MIN-coref_type-identity": "(person-7-new-2-coref person-7) "
    "(person-7-giv-1-appos) (person-7-giv-1-ana) (place-9-new-1-coref-Rome-by-night)",
    "": "(e7-x-2- e7) _ (e7-x-1-) (e9-x-1-)",
}
for header, entities in HEADERS.items():
    named = f"# global.Entity = {header}\n" if header.strip() else ""
    MENTIONS[f"under the header {header!r}"] = (
        f"# newdoc id = a\n{named}{text_of(f'_ {entities}')}",
        [(1, 2, 1, 0), (4, 4, 4, 0)],
    )


@pytest.mark.parametrize("case", MENTIONS)
def test_mentions_are_read_with_their_heads_and_clusters(tmp_path, case):
    """A row holds the first and last word, the head and the cluster; a number, those left out."""
    text, expected = MENTIONS[case]
    (found,) = sound(conllu_documents, tmp_path, text)
    rows = [(m.first, m.last, m.head, m.cluster) for m in found.mentions]
    n_lost = found.mentions_without_words
    assert rows + [n_lost] * bool(n_lost) == expected
    parts = [part for sentence in found.sentences for part in sentence.parts_of_speech]
    kinds = [KINDS.get(parts[mention.head], "nominal") for mention in found.mentions]
    assert [mention.kind for mention in found.mentions] == kinds
    assert found.bears_coreference
    assert found.heads_by == ("tree" if "\tdep\t" in text else "tag")


UNREAD = {
    "no field for the entity": (
        "# global.Entity = etype-identity\n" + text_of("(person-Rome person) _ _ _ _"),
        ": `# global.Entity = etype-identity` names no field GRP or eid, and so nothing tells "
        "which mentions are of one entity; call its field GRP or eid there",
    ),
    "a bracket too many": (
        GRP + text_of("_ 7) _ _ _ _"),
        " line 4: '7)' closes what is not open; open it with (7",
    ),
    "a bracket too few": (
        GRP + text_of("_ (7-x _ _ _ _"),
        " line 4: '(7' is never closed; close it with 7)",
    ),
    "no run of brackets": (
        GRP + text_of("_ ()2 _ _ _ _"),
        " line 4: '()2' is no run of brackets; write (1, 1) or (1), as in (1(2)3)",
    ),
}
TREE = (1, 3, 1, -1, 3, 3)


@pytest.mark.parametrize("kind", UNREAD)
def test_coreference_that_cannot_be_read_loses_itself_alone(tmp_path, kind, capsys):
    text, reason = UNREAD[kind]
    other = "\n# newdoc id = b\n# global.Entity = eid\n" + text_of("(e1 e1) (e1) _ _ _")
    corpus = load(written(tmp_path, text + other), packing="trees")
    known = [sequence.annotation for sequence in corpus.sequences if sequence.annotation]
    *lost, kept = [(annotation.governors, len(annotation.mentions)) for annotation in known]
    assert set(lost) == {(TREE, 0)}
    assert kept == (TREE, 2)
    assert corpus.counts["coreference_left_out"] == 1
    assert corpus.counts["malformed_rows_left_out"] == 0
    assert capsys.readouterr().out == f"Left out, the coreference of a document: f{reason}.\n"


BY_TAG = {
    "the/DT old/JJ cat/NN": "cat",
    "the/DT cat/NN of/IN my/PRP$ aunt/NN": "cat",
    "Ann/NNP Lee/NNP ,/, who/WP sang/VBD": "Lee",
    "my/PRP$ aunt/NN 's/POS": "aunt",
}
BY_WORD = {
    "my aunt 's": "aunt",
    "my aunts ' cat": "cat",
    "その 猫": "猫",
}


def test_the_head_is_the_last_noun_or_word_before_what_follows_the_core():
    for mention, head in BY_TAG.items():
        pairs = [word.rsplit("/", 1) for word in f"in/IN {mention} of/IN".split()]
        words, tags = zip(*pairs, strict=True)
        assert words[head_by_tag(1, len(words) - 2, tags)] == head
    for mention, head in BY_WORD.items():
        words = f"in {mention} of".split()
        assert words[head_by_word(1, len(words) - 2, words)] == head


def sentence(*heads: int | str, forms: tuple[str, ...] = (), misc: str = "_") -> str:
    """A sentence in CoNLL-U whose words have these heads."""
    words = forms or ("the", "cat", "ran", "mat")[: len(heads)]
    rows = enumerate(zip(words, heads, strict=True), start=1)
    return "".join(line(n, word, head, "dep", upos="NOUN", misc=misc) for n, (word, head) in rows)


GOOD, TWO_ROOTS = sentence(2, 3, 0), sentence(0, 3, 0)


def corpus_of(folder, *sentences: str, **options):
    """Return words and number of mentions of each sequence of a corpus, and counts of the lost."""
    corpus = load(written(folder, "\n".join(sentences)), max_tokens=20, **options)
    known = [sequence.annotation for sequence in corpus.sequences if sequence.annotation]
    words = [" ".join(annotation.forms) for annotation in known]
    mentions = [len(annotation.mentions) for annotation in known]
    lost = "malformed_rows_left_out", "coreference_left_out"
    return words, mentions, tuple(corpus.counts[count] for count in lost)


MENTIONED = "# newdoc id = d\n# global.Entity = GRP-etype-link\n" + sentence(
    2, 0, misc="Entity=(1)"
)


@pytest.mark.parametrize("bad", [TWO_ROOTS, GOOD.replace("\tNOUN", "", 1)])
def test_a_malformed_sentence_loses_the_coreference_of_its_document_and_no_other_tree(
    tmp_path, bad, capsys
):
    whole = f"{MENTIONED}\n{bad}\n{GOOD}"
    _, mentions, lost = corpus_of(tmp_path, MENTIONED, whole, MENTIONED, GOOD)
    assert (mentions, lost) == ([2, 0, 0, 2], (1, 1))
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("Left out, the coreference of a document: f line ")
    assert second.startswith("Left out: f line ")


def columns(*words: str) -> str:
    return "#begin document d\n" + "\n".join(words) + "\n#end document\n"


@pytest.mark.parametrize("bad", [("the (1", "cat -"), ("the", "cat (1)"), ("the x",)])
def test_a_document_in_columns_is_left_out_where_it_is_malformed(tmp_path, bad):
    good = columns("the (1", "cat 1)", "", "it (1)")
    assert corpus_of(tmp_path, columns(*bad) + good + good) == (["the cat it"] * 2, [2, 2], (1, 0))


NO_WORDS = (
    " stands for every word, as where words may not be passed on; put them back first with the "
    "script of whoever made the corpus (those of OntoNotes are the LDC's)"
)


@pytest.mark.parametrize("forms", ["_ _ _", "[WORD] [WORD]", "XXX XXX"])
def test_a_corpus_without_its_words_is_refused_with_the_remedy(tmp_path, forms):
    first, *others = forms.split()
    wordless = sentence(0, *[1] * len(others), forms=(first, *others))
    reason = f": {first!r}{NO_WORDS}"
    assert refused(UserError, corpus_of, tmp_path, wordless) == f"f line 1{reason}"
    in_columns = columns(*(f"{form} -" for form in (first, *others)))
    assert refused(UserError, corpus_of, tmp_path, in_columns) == f"f line 2{reason}"


@pytest.mark.parametrize("forms", ["[SEP]", "no no", "[WORD] cat", "[A] [B]"])
def test_words_that_look_like_placeholders_are_words(tmp_path, forms):
    words = tuple(forms.split())
    heads = (0, *[1] * (len(words) - 1))
    assert corpus_of(tmp_path, sentence(*heads, forms=words))[0] == [forms]
