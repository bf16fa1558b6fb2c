"""Coreference in columns of many widths, refused columns, and a real corpus against its trees."""

from pathlib import Path
from typing import Any

import pytest

from analysis.errors import BadCorpus
from precompute.corpora.annotated.conllu import conllu_documents
from precompute.corpora.annotated.coreference_columns import column_documents
from precompute.corpora.annotated.documents import joined
from precompute.corpora.annotated.mentions import head_by_tree, kind_by_tag
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
ZED, CAT = Mention(0, 0, 0, 0, "nominal"), Mention(4, 5, 5, 1, "nominal")
HIM, IT = Mention(8, 8, 8, 0, "pronoun"), Mention(10, 10, 10, 1, "pronoun")
ONE_SENTENCE = ONTOGUM.replace("1\tran\t_", "1\tran\t(3").replace("5\tcat\t2)", "5\tcat\t2)3)")


def document(lines: str) -> str:
    return f"#begin document x\n{lines}#end document\n"


READ = {
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
        [ZED, CAT, HIM, IT],
    ),
    "no sentence ends within a mention": (
        ONE_SENTENCE,
        ['Zed ran. " The cat saw  him and it'],
        [ZED, CAT, HIM, IT],
    ),
    "two columns": (document("a (1\nb 1)\nc (1)\n"), ["a b c"], None),
    "five columns": (document("d 0 0 a (1\nd 0 1 b 1)\nd 0 2 c (1)\n"), ["a b c"], None),
    "an empty last column": (document("d\t0\t0\ta\tNN\t\n"), ["a"], []),
    "a mention written twice is one": (
        document("a (1)(1)\nb (1)\n"),
        ["a b"],
        [Mention(0, 0, 0, 0, "nominal"), Mention(1, 1, 1, 0, "nominal")],
    ),
}


@pytest.mark.parametrize("case", READ)
def test_columns_of_any_width_are_read(tmp_path, case):
    text, sentences, mentions = READ[case]
    (found,) = sound(column_documents, tmp_path, text)
    assert [sentence.text for sentence in found.sentences] == sentences
    assert mentions is None or list(found.mentions) == mentions
    assert found.sentences[0].governors is None
    is_tagged = text == CONLL_2012
    assert (found.heads_by, found.sentences_by_rule) == (("word", "tag")[is_tagged], not is_tagged)


WIDTHS = "give 2 (word, brackets), 3 (number, word, brackets) or the 12 and more of CoNLL-2012"
END = (
    "the document that begins in line 1 does not end; write `#end document` after its last word, "
    "and see whether the file was cut off"
)
REFUSED = {
    "a (1)\n": " line 1: stands outside a document; write `#begin document` before it",
    "#end document\n": " line 1: ends a document that did not begin; leave it out",
    "#begin document x\na -\n": f": {END}",
    "#begin document x\na -\n#begin document y\n": f" line 3: {END}",
    document("a\n"): f" line 2: 1 column(s), as in 'a'; {WIDTHS}",
    document("a b c -\n"): f" line 2: 4 column(s), as in 'a b c -'; {WIDTHS}",
    document("a (1\n"): " line 2: '(1' is never closed; close it with 1)",
    document("a 1)\n"): " line 2: '1)' closes what is not open; open it with (1",
    document(
        "a (1))\n"
    ): " line 2: '(1))' is no run of brackets; write (1, 1) or (1), as in (1(2)3)",
    document("a 1\n"): " line 2: '1' is no run of brackets; write (1, 1) or (1), as in (1(2)3)",
    document("a (1\n" * 501): " line 502: more than 500 mentions are open at once; close them",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:40])
def test_broken_columns_are_refused(tmp_path, text):
    assert refused(BadCorpus, sound, column_documents, tmp_path, text) == f"f{REFUSED[text]}"


DATA = Path(__file__).parents[4].parent / "shared" / "data"


@pytest.mark.shared_data
@pytest.mark.skipif(not DATA.is_dir(), reason="no folder shared/data beside the checkout")
def test_ontogum_has_its_known_mentions_nearly_all_of_gum_with_heads_and_kinds_of_the_tree():
    """GUM knows more: it counts generic nouns, dates and modifiers as mentions."""
    trees: Any = conllu_documents(DATA / "treebanks" / "gum_free-dev.conllu")
    columns: Any = column_documents(DATA / "coref" / "ontogum" / "ontogum_free-dev.conll")
    n_mentions = n_clusters = n_heads = shared = right_heads = right_kinds = 0
    for mine, other in zip(trees, columns, strict=True):
        words = joined(mine.sentences)
        heads = [head_by_tree(m.first, m.last, words.governors or ()) for m in other.mentions]
        n_mentions += len(heads)
        n_clusters += len({mention.cluster for mention in other.mentions})
        n_heads += len(set(heads))
        shared += len({mention.head for mention in mine.mentions} & set(heads))
        for mention, head in zip(other.mentions, heads, strict=True):
            right_heads += mention.head == head
            right_kinds += mention.kind == kind_by_tag(words.parts_of_speech[head])
    assert (n_mentions, n_mentions - n_clusters) == (935, 725)
    assert shared / n_heads >= 0.98
    assert right_heads / n_mentions >= 0.9
    assert right_kinds / n_mentions >= 0.94
