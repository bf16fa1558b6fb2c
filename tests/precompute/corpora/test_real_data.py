"""Real text, tokenizers, treebanks and coreference corpora, against known facts."""

from functools import cache

import pytest

from precompute.corpora.annotated.conllu import conllu_documents
from precompute.corpora.annotated.coreference_columns import column_documents
from precompute.corpora.annotated.mentions import head_by_tree, kind_by_tag
from tests.precompute.corpora.tiny import shared_data, sound

pytestmark = pytest.mark.shared_data


@cache
def treebank(name: str):
    return tuple(sound(conllu_documents(shared_data() / "treebanks" / name)))


@cache
def gum_and_ontogum():
    """Documents of GUM and of OntoGUM, each with the governors and parts of speech of GUM."""
    path = shared_data() / "coref" / "ontogum" / "ontogum_free-dev.conll"
    pairs = zip(treebank("gum_free-dev.conllu"), sound(column_documents(path)), strict=True)
    return [(mine, other, *_columns(mine)) for mine, other in pairs]


def _columns(document) -> tuple[list[int], list[str]]:
    """Governors, counted within the document, and parts of speech; a root's governor is -1."""
    governors: list[int] = []
    for sentence in document.sentences:
        start = len(governors)
        governors += [of + start if of >= 0 else -1 for of in sentence.governors or ()]
    return governors, [part for of in document.sentences for part in of.parts_of_speech]


def test_ontogum_has_its_known_mentions_nearly_all_of_gum_with_heads_and_kinds_of_the_tree():
    """GUM knows more: it counts generic nouns, dates and modifiers as mentions."""
    n_mentions = n_clusters = n_heads = shared = right_heads = right_kinds = 0
    for mine, other, governors, parts in gum_and_ontogum():
        heads = [head_by_tree(m.first, m.last, governors) for m in other.mentions]
        n_mentions += len(heads)
        n_clusters += len({mention.cluster for mention in other.mentions})
        n_heads += len(set(heads))
        shared += len({mention.head for mention in mine.mentions} & set(heads))
        for mention, head in zip(other.mentions, heads, strict=True):
            right_heads += mention.head == head
            right_kinds += mention.kind == kind_by_tag(parts[head])
    assert (n_mentions, n_mentions - n_clusters) == (935, 725)
    assert shared / n_heads >= 0.98
    assert right_heads / n_mentions >= 0.9
    assert right_kinds / n_mentions >= 0.94
