"""CoNLL-U files of other programs: read unchanged, or refused with their line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadCorpus
from precompute.corpora.annotated.conllu import conllu_documents
from precompute.corpora.sequence import ROOT
from tests.precompute.corpora.tiny import sound, unhurried
from tests.refusals import refused


def line(identity: int | str, form="cat", head: int | str = 0, relation="root", **columns) -> str:
    known = {"upos": "_", "feats": "_", "misc": "_"} | columns
    cells = (identity, form, "_", known["upos"], "_", known["feats"], head, relation, "_")
    return "\t".join(map(str, (*cells, known["misc"]))) + "\n"


def read(folder: Path, text: str):
    path = folder / "f.conllu"
    path.write_bytes(text.encode())
    return list(sound(conllu_documents(path)))


def sentence(folder: Path, text: str):
    ((parsed,),) = [document.sentences for document in read(folder, text)]
    return parsed


def refusal(folder: Path, text: str) -> str:
    return refused(BadCorpus, read, folder, text)


def test_every_column_that_is_read(tmp_path):
    parsed = sentence(
        tmp_path,
        "# sent_id = 1\n"
        + line(1, "Cats", 2, "nsubj", upos="NOUN", feats="Number=Plur")
        + line(2, "ran", 0, "root", upos="VERB", misc="Gloss=a=b|SpaceAfter=No")
        + line(3, ".", 2, "punct"),
    )
    assert parsed.forms == ("Cats", "ran", ".")
    assert parsed.spaces == (True, False, True)
    assert parsed.governors == (1, ROOT, 1)
    assert parsed.relations == ("nsubj", "root", "punct")
    assert parsed.parts_of_speech == ("NOUN", "VERB", "")
    assert parsed.features == ("Number=Plur", "", "")
    assert (parsed.first.number, parsed.last.number) == (2, 4)


def test_a_token_of_several_words_is_read_as_its_words(tmp_path):
    text = (
        line(1, "cats", 2, "nsubj")
        + line("2-3", "don't", "_", "_", misc="SpaceAfter=No")
        + line(2, "do", 0, "root")
        + line(3, "n't", 2, "advmod")
        + line("4-5", "au", "_", "_")
        + line(4, "à", 5, "case", misc="SpaceAfter=No")
        + line(5, "le", 2, "obl")
    )
    parsed = sentence(tmp_path, text)
    assert parsed.forms == ("cats", "do", "n't", "à", "le")
    assert parsed.spaces == (True, False, False, True, True)


def test_words_may_hold_spaces_and_lack_heads(tmp_path):
    parsed = sentence(tmp_path, line(1, "10  000", "_", "_") + line(2, "_", "_", "_"))
    assert parsed.forms == ("10  000", "_")
    assert (parsed.governors, parsed.relations) == (None, None)


def test_empty_nodes_and_enhanced_dependencies_are_passed_over(tmp_path):
    parsed = sentence(
        tmp_path, line("0.1", "it") + line(1) + line("1.1", "ran", "_", "_") + line("1.2", "ran")
    )
    assert parsed.forms == ("cat",)


OPTIONAL = {
    "an empty MISC": line(1, misc=""),
    "a MISC without values": line(1, misc="Ref|SpaceAfter|=|a=b=c||"),
    "an Entity without brackets' value": line(1, misc="Entity="),
    "an empty node without a form": line(1) + line("1.1", "", "_", "_"),
    "an empty node with a head": line(1) + line("1.1", "_", 7, "x", misc="CopyOf=9"),
    "empty nodes in no order": line(1) + line("1.9", "a") + line("1.2", "b"),
    "features that are none": line(1, upos="", feats="Number||=x"),
    "comments of no form": "#\n# global.Entity\n# global.Entity =\n# newdocs\n" + line(1),
    "dependencies beside the tree": line(1).replace("\t_\t_\n", "\t9:x|0:root|(|1.7\t_\n"),
}


@pytest.mark.parametrize("kind", OPTIONAL)
def test_an_optional_annotation_of_any_form_leaves_the_tree(tmp_path, kind):
    parsed = sentence(tmp_path, OPTIONAL[kind])
    assert (parsed.forms, parsed.governors, parsed.relations) == (("cat",), (ROOT,), ("root",))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_sentences_documents_and_ends_of_lines(tmp_path, end):
    text = f"# newdoc id = a\n{line(1)}\n\n{line(1)}\n# newdoc\n# text = x\n{line(1)}\n# newdocs\n"
    documents = read(tmp_path, text.replace("\n", end))
    assert [len(document.sentences) for document in documents] == [2, 1]
    assert not any(document.bears_coreference for document in documents)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\tcat\t_\n", "line 1: 3 column(s) with tabs between, not the 10 of CoNLL-U; write _ "),
        ("a cat sat\n", "line 1: 1 column(s) with tabs"),
        (line("x"), "line 1: ID is 'x'; it must be 3, 3-4 or 3.1, counted from 1"),
        (line("-1"), "line 1: ID is '-1'"),
        (line("9" * 50), "line 1: ID is '9999"),
        (line(2), "line 1: ID is 2 where 1 is due; number the words of a sentence from 1"),
        (line(1) + line(1, "a", 1, "dep"), "line 2: ID is 1 where 2 is due"),
        (line("1-1", "a") + line(1), "line 1: ID is 1-1; a token of several words stands before"),
        (line("2-3", "a") + line(1), "line 1: ID is 2-3; a token of several words stands before"),
        (line("1-3", "a") + line(1), "line 1: this token reaches to word 3 of 1; mend its ID"),
        (line("1.1", "a"), "line 1: this sentence holds no word; leave it out"),
        (line(1, ""), "line 1: FORM is ''; give the word"),
        (line(1, " "), "line 1: FORM is ' '; give the word"),
        (line(1, head="1"), "line 1: HEAD is '1', the word itself; give another word"),
        (line(1, head="2"), "line 1: HEAD is '2'; it must be the id of a word of the sentence (1"),
        (line(1, head="-1"), "line 1: HEAD is '-1'; it must be the id of a word"),
        (line(1, head="²"), "line 1: HEAD is '²'; it must be the id of a word"),
        (line(1, head=""), "line 1: HEAD is ''; it must be the id of a word"),
        (line(1) + line(2, head="_"), "line 2: HEAD is '_'; it must be the id of a word"),
        (line(1, relation="_"), "line 1: DEPREL is '_' but HEAD is given; name the relation"),
        (line(1) + line(2), "line 2: HEAD is 0, as in line 1; a sentence has one root: attach"),
        (
            line(1, head=2) + line(2, head=1),
            "line 1: no word of this sentence has HEAD 0; give its root that HEAD",
        ),
        (
            line(1) + line(2, head=3) + line(3, head=4) + line(4, head=3),
            "line 3: its HEADs lead in a circle, 3 → 4 → 3; every word must lead to the root",
        ),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(tmp_path, text, message):
    assert refusal(tmp_path, text).startswith(f"f.conllu {message}")


@st.composite
def trees(draw) -> list[int]:
    """Governors of up to nine words, in any order: each hangs on one that was drawn before it."""
    order = draw(st.permutations(range(draw(st.integers(1, 9)))))
    governors = [ROOT] * len(order)
    for n, word in enumerate(order[1:], start=1):
        governors[word] = order[draw(st.integers(0, n - 1))]
    return governors


@unhurried(60)
@given(st.lists(trees(), min_size=1, max_size=4))
def test_every_tree_is_read_as_it_was_written(tmp_path_factory, written):
    text = "\n".join(
        "".join(
            line(n, f"w{n}", governor + 1, f"r{n}") for n, governor in enumerate(governors, start=1)
        )
        for governors in written
    )
    (document,) = read(tmp_path_factory.mktemp("trees"), text)
    assert [list(parsed.governors or ()) for parsed in document.sentences] == written


@unhurried(60)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_governors_that_are_no_tree_are_refused_and_no_others(tmp_path_factory, heads):
    text = "".join(line(n, head=head) for n, head in enumerate(heads, start=1))
    folder = tmp_path_factory.mktemp("governors")
    if is_tree(heads):
        assert sentence(folder, text).governors == tuple(head - 1 for head in heads)
    else:
        assert refusal(folder, text).startswith("f.conllu line ")


def is_tree(heads: list[int]) -> bool:
    """One root, and every word reaches it within as many steps as there are words."""
    if heads.count(0) != 1 or max(heads) > len(heads):
        return False
    reached = list(heads)
    for _ in heads:
        reached = [heads[head - 1] if head else 0 for head in reached]
    return not any(reached)
