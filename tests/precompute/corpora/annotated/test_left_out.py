"""Sentences and documents that are malformed, or hold placeholders for words, are left out."""

import pytest

from analysis.errors import UserError
from tests.precompute.corpora.reading import line, written
from tests.precompute.corpora.tiny import load
from tests.refusals import refused


def sentence(*heads: int | str, forms: tuple[str, ...] = (), misc: str = "_") -> str:
    """A sentence in CoNLL-U whose words have these heads."""
    words = forms or ("the", "cat", "ran", "mat")[: len(heads)]
    rows = enumerate(zip(words, heads, strict=True), start=1)
    return "".join(line(n, word, head, "dep", upos="NOUN", misc=misc) for n, (word, head) in rows)


GOOD, TWO_ROOTS, NO_ROOT = sentence(2, 3, 0), sentence(0, 3, 0), sentence(2, 3, 2)
LOST_COLUMN = GOOD.replace("\tNOUN", "", 1)
REASONS = {
    TWO_ROOTS: "7: HEAD is 0, as in line 5; a sentence has one root: attach the other, or make two "
    "sentences",
    NO_ROOT: "5: no word of this sentence has HEAD 0; give its root that HEAD",
    LOST_COLUMN: "5: 9 column(s) with tabs between, not the 10 of CoNLL-U; write _ for what is not "
    "known",
}


def corpus_of(folder, *sentences: str, **options):
    """Return words and number of mentions of each sequence of a corpus, and counts of the lost."""
    corpus = load(written(folder, "\n".join(sentences)), max_tokens=20, **options)
    known = [sequence.annotation for sequence in corpus.sequences if sequence.annotation]
    words = [" ".join(annotation.forms) for annotation in known]
    mentions = [len(annotation.mentions) for annotation in known]
    lost = "malformed_rows_left_out", "coreference_left_out"
    return words, mentions, tuple(corpus.counts[count] for count in lost)


def test_two_of_eleven_are_too_many_and_two_of_two_hundred_are_not(tmp_path):
    assert refused(UserError, corpus_of, tmp_path, TWO_ROOTS, TWO_ROOTS, *[GOOD] * 9) == (
        "f line 3: HEAD is 0, as in line 1; a sentence has one root: attach the other, or make two "
        "sentences. It is the first of 2 malformed rows among 11; more than 1 in 100 are too many "
        "to be left out."
    )
    words, _, lost = corpus_of(tmp_path, TWO_ROOTS, TWO_ROOTS, *[GOOD] * 198)
    assert (len(words), lost) == (198, (2, 0))
    assert corpus_of(tmp_path, GOOD, GOOD, NO_ROOT, GOOD, limit=2)[2] == (0, 0)
    assert corpus_of(tmp_path, GOOD, GOOD, NO_ROOT, GOOD, limit=3)[2] == (1, 0)


MENTIONED = "# newdoc id = d\n# global.Entity = GRP-etype-link\n" + sentence(
    2, 0, misc="Entity=(1)"
)


@pytest.mark.parametrize("bad", REASONS)
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


@pytest.mark.parametrize(
    "forms", ["_ _ _", "___ ____ _", "[WORD] [WORD]", "<unk> <unk>", "XXX XXX"]
)
def test_a_corpus_without_its_words_is_refused_with_the_remedy(tmp_path, forms):
    first, *others = forms.split()
    wordless = sentence(0, *[1] * len(others), forms=(first, *others))
    reason = f": {first!r}{NO_WORDS}"
    assert refused(UserError, corpus_of, tmp_path, wordless) == f"f line 1{reason}"
    assert refused(UserError, corpus_of, tmp_path, *[wordless] * 3, GOOD) == (
        f"f line 1{reason}. It is the first of 3 malformed rows among 4; more than 1 in 100 are "
        "too many to be left out."
    )
    in_columns = columns(*(f"{form} -" for form in (first, *others)))
    assert refused(UserError, corpus_of, tmp_path, in_columns) == f"f line 2{reason}"


@pytest.mark.parametrize("forms", ["cat _", "[SEP]", "no no", "[WORD] cat", "[A] [B]"])
def test_words_that_look_like_placeholders_are_words(tmp_path, forms):
    words = tuple(forms.split())
    heads = (0, *[1] * (len(words) - 1))
    assert corpus_of(tmp_path, sentence(*heads, forms=words))[0] == [forms]
