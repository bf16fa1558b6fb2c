"""CoNLL-U files of other programs: read unchanged, or refused with their line."""

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadCorpus
from precompute.corpora.annotated.conllu import conllu_documents
from precompute.corpora.sequence import ROOT
from tests.precompute.corpora.reading import line
from tests.precompute.corpora.tiny import sound, unhurried
from tests.refusals import refused

read = partial(sound, conllu_documents)


def sentence(folder: Path, text: str):
    ((parsed,),) = [document.sentences for document in read(folder, text)]
    return parsed


READ = {
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
    "words that hold spaces and lack heads": (
        line(1, "10  000", "_", "_") + line(2, "_", "_", "_"),
        {"forms": ("10  000", "_"), "governors": None, "relations": None},
    ),
}
ONE_WORD = {"forms": ("cat",), "governors": (ROOT,), "relations": ("root",)}
PASSED_OVER = {
    "empty nodes": line("0.1", "it") + line(1) + line("1.1", "ran", "_", "_") + line("1.2", "ran"),
    "an empty MISC": line(1, misc=""),
    "an empty node without a form": line(1) + line("1.1", "", "_", "_"),
    "features that are none": line(1, upos="", feats="Number||=x"),
    "comments of no form": "#\n# global.Entity\n# global.Entity =\n# newdocs\n" + line(1),
    "dependencies beside the tree": line(1).replace("\t_\t_\n", "\t9:x|0:root|(|1.7\t_\n"),
}
CASES = READ | {kind: (text, ONE_WORD) for kind, text in PASSED_OVER.items()}


@pytest.mark.parametrize("case", CASES)
def test_words_and_trees_are_read_and_the_rest_is_passed_over(tmp_path, case):
    text, expected = CASES[case]
    parsed = sentence(tmp_path, text)
    assert {name: getattr(parsed, name) for name in expected} == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_sentences_documents_and_ends_of_lines(tmp_path, end):
    text = f"# newdoc id = a\n{line(1)}\n\n{line(1)}\n# newdoc\n# text = x\n{line(1)}\n# newdocs\n"
    documents = read(tmp_path, text.replace("\n", end))
    assert [len(document.sentences) for document in documents] == [2, 1]
    assert not any(document.bears_coreference for document in documents)
    parsed = documents[1].sentences[0]
    assert (parsed.first.number, parsed.last.number) == (9, 9)


COLUMNS = "column(s) with tabs between, not the 10 of CoNLL-U; write _ for what is not known"
OF_ID = "it must be 3, 3-4 or 3.1, counted from 1"
NUMBERED = "number the words of a sentence from 1, with a blank line before the next"
SEVERAL = "a token of several words stands before the first of them, here from 1 on"
OF_HEAD = "it must be the id of a word of the sentence (1 to {}), or 0 for the root"
REFUSED = {
    "1\tcat\t_\n": f"1: 3 {COLUMNS}",
    line("x"): f"1: ID is 'x'; {OF_ID}",
    line("9" * 50): f"1: ID is '{'9' * 50}'; {OF_ID}",
    line(2): f"1: ID is 2 where 1 is due; {NUMBERED}",
    line(1) + line(1, "a", 1, "dep"): f"2: ID is 1 where 2 is due; {NUMBERED}",
    line("1-1", "a") + line(1): f"1: ID is 1-1; {SEVERAL}",
    line("1-3", "a") + line(1): "1: this token reaches to word 3 of 1; mend its ID",
    line("1.1", "a"): "1: this sentence holds no word; leave it out",
    line(1, ""): "1: FORM is ''; give the word",
    line(1, head="1"): "1: HEAD is '1', the word itself; give another word",
    **{
        line(1, head=head): f"1: HEAD is {head!r}; {OF_HEAD.format(1)}"
        for head in ("2", "-1", "１", "", "9" * 9)
    },
    line(1) + line(2, head="_"): f"2: HEAD is '_'; {OF_HEAD.format(2)}",
    line(1, relation="_"): "1: DEPREL is '_' but HEAD is given; name the relation",
    line(1) + line(2): "2: HEAD is 0, as in line 1; a sentence has one root: attach the other, or "
    "make two sentences",
    line(1, head=2) + line(2, head=1): "1: no word of this sentence has HEAD 0; give its root that "
    "HEAD",
    line(1) + line(2, head=3) + line(3, head=4) + line(4, head=3): "3: its HEADs lead in a circle, "
    "3 → 4 → 3; every word must lead to the root",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_tree_is_refused_with_its_line(tmp_path, text):
    assert refused(BadCorpus, read, tmp_path, text) == f"f line {REFUSED[text]}"


@st.composite
def trees(draw) -> list[int]:
    """Governors of up to nine words, in any order: each hangs on one that was drawn before it."""
    order = draw(st.permutations(range(draw(st.integers(1, 9)))))
    governors = [ROOT] * len(order)
    for n, word in enumerate(order[1:], start=1):
        governors[word] = order[draw(st.integers(0, n - 1))]
    return governors


def is_tree(heads: list[int]) -> bool:
    """One root, and every word reaches it within as many steps as there are words."""
    if heads.count(0) != 1 or max(heads) > len(heads):
        return False
    reached = list(heads)
    for _ in heads:
        reached = [heads[head - 1] if head else 0 for head in reached]
    return not any(reached)


@unhurried(120)
@given(
    trees().map(lambda of: [governor + 1 for governor in of])
    | st.lists(st.integers(0, 5), min_size=1, max_size=5)
)
def test_every_tree_is_read_as_it_was_written_and_nothing_else(tmp_path_factory, heads):
    text = "".join(line(n, head=head) for n, head in enumerate(heads, start=1))
    folder = tmp_path_factory.mktemp("trees")
    if is_tree(heads):
        assert sentence(folder, text).governors == tuple(head - 1 for head in heads)
    else:
        assert refused(BadCorpus, read, folder, text).startswith("f line ")
