"""Coreference in columns of many widths, and refused columns."""

import pytest

from analysis.errors import BadCorpus
from precompute.corpora.annotated.coreference_columns import column_documents
from precompute.corpora.sequence import Mention
from tests.precompute.corpora.tiny import sound
from tests.refusals import refused

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


@pytest.fixture
def documents(tmp_path):
    def read(text: str):
        path = tmp_path / "f.conll"
        path.write_text(text, encoding="utf-8")
        return list(sound(column_documents(path)))

    return read


def test_conll_2012_with_its_tags_sentences_and_escapes(documents):
    (document,) = documents(CONLL_2012)
    assert [sentence.forms for sentence in document.sentences] == [
        ("Zed", "saw", "the", "cat", "of", "Ann", "."),
        ("(", "It", "saw", "him"),
    ]
    assert document.sentences[0].spaces == (True,) * 5 + (False, True)
    assert document.sentences[1].spaces == (False, True, True, True)
    assert document.mentions == (
        Mention(0, 0, 0, cluster=0, kind="proper"),
        Mention(2, 5, 3, cluster=1, kind="nominal"),
        Mention(8, 8, 8, cluster=1, kind="pronoun"),
        Mention(10, 10, 10, cluster=0, kind="pronoun"),
    )
    assert (document.heads_by, document.sentences_by_rule) == ("tag", False)
    assert document.sentences[0].governors is None


def test_ontogum_without_sentences_tags_or_a_word_for_every_number(documents):
    (document,) = documents(ONTOGUM)
    assert [sentence.forms for sentence in document.sentences] == [
        ("Zed", "ran", ".", '"'),
        ("The", "cat", "saw", "", "him", "and", "it"),
    ]
    kinds = [(mention.head, mention.cluster, mention.kind) for mention in document.mentions]
    assert kinds == [(0, 0, "nominal"), (5, 1, "nominal"), (8, 0, "pronoun"), (10, 1, "pronoun")]
    assert (document.heads_by, document.sentences_by_rule) == ("word", True)


def test_a_rule_ends_no_sentence_within_a_mention(documents):
    (document,) = documents(
        ONTOGUM.replace("1\tran\t_", "1\tran\t(3").replace("5\tcat\t2)", "5\tcat\t2)3)")
    )
    assert [len(sentence) for sentence in document.sentences] == [11]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("a (1\nb 1)\nc (1)\n", ("a", "b", "c")),
        ("d 0 0 a (1\nd 0 1 b 1)\nd 0 2 c (1)\n", ("a", "b", "c")),
        ("d\t0\t0\ta\tNN\t\n", ("a",)),
    ],
)
def test_narrow_columns_and_an_empty_last_one(documents, lines, words):
    (document,) = documents(f"#begin document x\n{lines}#end document\n")
    assert document.sentences[0].forms == words


def test_one_mention_written_twice_is_one(documents):
    (document,) = documents("#begin document x\na (1)(1)\nb (1)\n#end document\n")
    assert [mention.first for mention in document.mentions] == [0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a (1)\n", " line 1: stands outside a document; write `#begin document` before it"),
        ("#end document\n", " line 1: ends a document that did not begin; leave it out"),
        ("#begin document x\na -\n", ": the document that begins in line 1 does not end; write"),
        (
            "#begin document x\na -\n#begin document y\n",
            " line 3: the document that begins in line 1 does not end; write `#end document`",
        ),
        ("#begin document x\na\n#end document\n", " line 2: 1 column(s), as in 'a'; give 2 (word"),
        ("#begin document x\na b c -\n#end document\n", " line 2: 4 column(s), as in 'a b c -'"),
        ("#begin document x\na (1\n#end document\n", " line 2: '(1' is never closed; close it"),
        ("#begin document x\na 1)\n#end document\n", " line 2: '1)' closes what is not open; open"),
        ("#begin document x\na (1))\n#end document\n", " line 2: '(1))' is no run of brackets"),
        ("#begin document x\na 1\n#end document\n", " line 2: '1' is no run of brackets; write"),
    ],
)
def test_broken_columns_are_refused(documents, text, message):
    assert refused(BadCorpus, documents, text).startswith(f"f.conll{message}")
