"""Sentences and documents that are malformed, or hold placeholders for words."""

from pathlib import Path

import pytest

from analysis.errors import BadCorpus, UserError
from precompute.corpora.sequence import Annotation
from tests.precompute.corpora.left_out.test_rows_of_text import unused
from tests.precompute.corpora.tiny import load
from tests.precompute.corpora.whole import Whole
from tests.refusals import refused


def sentence(*heads: int | str, forms: tuple[str, ...] = (), misc: str = "_") -> str:
    """A sentence in CoNLL-U whose words have these heads."""
    words = forms or ("the", "cat", "ran", "mat")[: len(heads)]
    rows = zip(words, heads, strict=True)
    return "".join(
        f"{n}\t{word}\t_\tNOUN\t_\t_\t{head}\tdep\t_\t{misc}\n"
        for n, (word, head) in enumerate(rows, start=1)
    )


GOOD = sentence(2, 3, 0)
BAD = {
    "two roots": (sentence(0, 3, 0), "HEAD is 0, as in line 1; a sentence has one root"),
    "no root": (sentence(2, 3, 2), "no word of this sentence has HEAD 0"),
    "a lost column": (GOOD.replace("\tNOUN", "", 1), "9 column(s) with tabs between"),
    "a blank word": (sentence(2, 0, forms=("\u00a0", "cat")), "FORM is '\\xa0'; give the word"),
}


def write(folder: Path, *sentences: str) -> Path:
    path = folder / "t.conllu"
    path.write_text("\n".join(sentences), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", BAD)
def test_one_malformed_sentence_is_left_out_of_a_treebank(tmp_path, kind, capsys):
    bad, reason = BAD[kind]
    corpus = load(write(tmp_path, GOOD, bad, *[GOOD] * 9))
    places = [sequence.place for sequence in corpus.sequences]
    assert len(places) == 10
    assert places[0] == "t.conllu lines 1-3"
    assert unused(corpus) == (0, 1)
    first = capsys.readouterr().out
    assert first.startswith("Left out: t.conllu line ")
    assert reason.replace("line 1;", "line 5;") in first


def test_two_of_eleven_are_too_many_and_two_of_two_hundred_are_not(tmp_path):
    bad = BAD["two roots"][0]
    assert refused(UserError, load, write(tmp_path, bad, bad, *[GOOD] * 9)) == (
        "t.conllu line 3: HEAD is 0, as in line 1; a sentence has one root: attach the other, or "
        "make two sentences. It is the first of 2 malformed rows among 11; more than 1 in 100 are "
        "too many to be left out."
    )
    corpus = load(write(tmp_path, bad, bad, *[GOOD] * 198))
    assert (len(corpus.sequences), unused(corpus)) == (198, (0, 2))


def test_faults_of_one_sentence_leave_the_words_of_others_where_they_were(tmp_path):
    whole = load(write(tmp_path, GOOD, sentence(0, 1, forms=("dog", "ran")), GOOD))
    parted = load(write(tmp_path, GOOD, BAD["no root"][0], sentence(0, 1, forms=("dog", "ran"))))
    assert annotations(parted) == annotations(whole)[:2]


def test_sentences_after_the_last_that_is_read_are_not_counted(tmp_path):
    path = write(tmp_path, GOOD, GOOD, BAD["no root"][0], GOOD)
    assert unused(load(path, limit=2)) == (0, 0)
    assert unused(load(path, limit=3)) == (0, 1)


HEADER = "# newdoc id = d\n# global.Entity = GRP-etype-link\n"
MENTIONED = HEADER + sentence(2, 0, misc="Entity=(1)")


@pytest.mark.parametrize("kind", BAD)
def test_a_malformed_sentence_loses_the_coreference_of_its_document_and_no_other_tree(
    tmp_path, kind, capsys
):
    bad = MENTIONED + "\n" + BAD[kind][0] + "\n" + GOOD
    corpus = load(write(tmp_path, MENTIONED, bad, MENTIONED, GOOD), max_tokens=20)
    assert unused(corpus) == (0, 1)
    assert corpus.counts["coreference_left_out"] == 1
    assert [len(known.mentions) for known in annotations(corpus)] == [2, 0, 0, 2]
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("Left out, the coreference of a document: t.conllu line ")
    assert second.startswith("Left out: t.conllu line ")


def annotations(corpus: Whole) -> list[Annotation]:
    return [sequence.annotation for sequence in corpus.sequences if sequence.annotation]


def columns(*words: str) -> str:
    return "#begin document d\n" + "\n".join(words) + "\n#end document\n"


@pytest.mark.parametrize("bad", [("the (1", "cat -"), ("the", "cat (1)"), ("the x",)])
def test_a_document_in_columns_is_left_out_where_it_is_malformed(tmp_path, bad):
    path = tmp_path / "c.conll"
    good = columns("the (1", "cat 1)", "", "it (1)")
    path.write_text(columns(*bad) + good + good)
    corpus = load(path)
    assert [len(known.mentions) for known in annotations(corpus)] == [2, 2]
    assert unused(corpus) == (0, 1)


PLACEHOLDERS = (
    ("_", "_", "_"),
    ("___", "____", "_"),
    ("[WORD]", "[WORD]"),
    ("<unk>", "<unk>", "<unk>"),
    ("XXX", "XXX"),
)
NO_WORDS = (
    " stands for every word, as where words may not be passed on; put them back first with the "
    "script of whoever made the corpus (those of OntoNotes are the LDC's)"
)


@pytest.mark.parametrize("forms", PLACEHOLDERS, ids=" ".join)
def test_a_corpus_without_its_words_is_refused_with_the_remedy(tmp_path, forms):
    heads = (0, *[1] * (len(forms) - 1))
    wordless = sentence(*heads, forms=forms)
    assert refused(BadCorpus, load, write(tmp_path, wordless)) == (
        f"t.conllu line 1: {forms[0]!r}{NO_WORDS}"
    )
    assert refused(UserError, load, write(tmp_path, *[wordless] * 3, GOOD)).startswith(
        f"t.conllu line 1: {forms[0]!r}{NO_WORDS}. It is the first of 3 malformed rows among 4; "
    )
    path = tmp_path / "c.conll"
    path.write_text(columns(*(f"{form} -" for form in forms)))
    assert refused(BadCorpus, load, path) == f"c.conll line 2: {forms[0]!r}{NO_WORDS}"


@pytest.mark.parametrize(
    "forms", [("cat", "_"), ("[SEP]",), ("no", "no"), ("[WORD]", "cat"), ("[A]", "[B]")]
)
def test_words_that_look_like_placeholders_are_words(tmp_path, forms):
    heads = (0, *[1] * (len(forms) - 1))
    corpus = load(write(tmp_path, sentence(*heads, forms=forms)))
    assert annotations(corpus)[0].forms == forms
