"""Documents cut into windows: nothing lost, nothing twice, as much as fits."""

from collections import Counter
from itertools import accumulate
from typing import Any
from unittest.mock import Mock

from hypothesis import example, given
from hypothesis import strategies as st

from precompute.corpora.annotated import documents as of_windows
from precompute.corpora.annotated.documents import Document, Sentence, windows
from precompute.corpora.sequence import ROOT, Annotation, Mention
from precompute.corpora.source import Line
from precompute.corpora.tokenizing.encoded import room_for
from precompute.corpora.tokenizing.kind import word_pieces
from tests.precompute.corpora.tiny import BUILT, TOKENIZERS, encode, unhurried


def sentence(number: int, forms: tuple[str, ...], *, tree: bool = True) -> Sentence:
    """Every word hangs on the first, which is the root."""
    nothing = ("",) * len(forms)
    return Sentence(
        forms=forms,
        spaces=(True,) * len(forms),
        governors=(ROOT, *(0,) * (len(forms) - 1)) if tree else None,
        relations=("root", *("dep",) * (len(forms) - 1)) if tree else None,
        parts_of_speech=nothing,
        features=nothing,
        first=Line("f", number, ""),
        last=Line("f", number, ""),
    )


@st.composite
def documents(draw) -> Document:
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=8))
    words = st.sampled_from(["cat", "sat", "zz", ","])
    sentences = tuple(
        sentence(number, tuple(draw(words) for _ in range(length)))
        for number, length in enumerate(lengths)
    )
    n_words = sum(lengths)
    spans = draw(st.lists(st.tuples(*[st.integers(0, n_words - 1)] * 2), max_size=8, unique=True))
    mentions = tuple(
        Mention(first, last, first, cluster=0, kind="nominal")
        for first, last in sorted(spans)
        if first <= last
    )
    return Document(sentences, mentions, bears_coreference=draw(st.booleans()))


TWICE = Document((sentence(0, ("cat",)),) * 2, bears_coreference=True)
"""A document whose second sentence is longer behind the first, by a space."""


@unhurried(80)
@given(documents(), st.sampled_from(sorted(TOKENIZERS)), st.integers(6, 16), st.booleans())
@example(document=TWICE, family="gpt2", room=6, alone=False)
def test_windows_hold_whole_sentences_in_order_and_as_many_as_fit(document, family, room, alone):
    counts = Counter()
    cuts = cut(document, family, room, by_sentence=alone, counts=counts)
    lengths = [len(encode(entry, family)[0]) for entry in cuts]
    sizes = [size_of(parsed, family) for parsed in document.sentences]
    fits = [parsed for parsed, size in zip(document.sentences, sizes, strict=True) if size <= room]
    known = [entry.annotation for entry in cuts]
    assert [parsed.forms for parsed in fits] == [
        forms for annotation in known for forms in sentences_of(annotation)
    ]
    assert counts["too_long"] == len(sizes) - len(fits)
    assert max(lengths, default=0) <= room
    if alone or not document.bears_coreference:
        assert all(set(annotation.sentences) == {0} for annotation in known)
    elif len(fits) == len(sizes):
        special = room - room_for(1, BUILT[family], room)
        for length, following in zip(lengths, known[1:], strict=False):
            next_sentence = sentence(0, sentences_of(following)[0])
            behind = size_of(next_sentence, family) + grown_behind(next_sentence, family)
            assert length + behind - special > room


def test_a_sentence_of_too_many_words_is_left_out_without_being_tokenized(monkeypatch):
    forms = [("cat",) * 3, ("cat",) * 1000, ("sat",) * 3]
    document = Document(tuple(map(sentence, range(3), forms)), (), bears_coreference=False)
    noted, counts = Mock(side_effect=word_pieces), Counter()
    monkeypatch.setattr(of_windows, "word_pieces", noted)
    assert len(cut(document, "bert", 16, by_sentence=True, counts=counts)) == 2
    assert max(len(call.args[0]) for call in noted.call_args_list) == 3
    assert counts["too_long"] == 1


def cut(
    document: Document, family: str, room: int, *, by_sentence: bool, counts: Counter[str]
) -> list[Any]:
    """The windows of one document."""
    settings = {"max_tokens": room, "by_sentence": by_sentence}
    return list(windows([document], BUILT[family], counts=counts, **settings))


def sentences_of(annotation: Annotation) -> list[tuple[str, ...]]:
    """The words of each sentence."""
    pairs = list(zip(annotation.sentences, annotation.forms, strict=True))
    places = range(pairs[-1][0] + 1)
    return [tuple(form for number, form in pairs if number == place) for place in places]


def size_of(alone: Sentence, family: str) -> int:
    """Tokens of a sentence by itself, special ones included."""
    (entry,) = cut(Document((alone,)), family, 64, by_sentence=True, counts=Counter())
    return len(encode(entry, family)[0])


def grown_behind(following: Sentence, family: str) -> int:
    """The tokens that its first word gains behind another, since it begins with a space there."""
    first = following.forms[0]
    return len(BUILT[family].tokenize(f" {first}")) - len(BUILT[family].tokenize(first))


@unhurried(80)
@given(documents(), st.integers(6, 40))
def test_mentions_are_kept_or_cut_and_counted(document, room):
    counts = Counter()
    cuts = cut(document, "bert", room, by_sentence=False, counts=counts)
    if counts["too_long"]:
        return
    starts = [0, *accumulate(len(entry.annotation) for entry in cuts)]
    kept = [
        (start + mention.first, start + mention.last)
        for start, entry in zip(starts, cuts, strict=False)
        for mention in entry.annotation.mentions
    ]
    crossed = {
        (mention.first, mention.last): sum(mention.first < edge <= mention.last for edge in starts)
        for mention in document.mentions
    }
    assert sorted(kept) == [place for place, n in crossed.items() if not n]
    assert counts["mentions_cut"] == sum(crossed.values())


def window(*sentences: Sentence) -> Annotation:
    document = Document(sentences, bears_coreference=True)
    (entry,) = cut(document, "bert", 64, by_sentence=False, counts=Counter())
    assert entry.place == f"f lines {sentences[0].first.number}-{sentences[-1].last.number}"
    return entry.annotation


def test_places_count_within_the_window_which_has_a_tree_if_all_its_sentences_have_one():
    annotation = window(sentence(1, ("cat", "sat")), sentence(4, ("dog", "ran", ".")))
    assert annotation.sentences == (0, 0, 1, 1, 1)
    assert annotation.governors == (ROOT, 0, ROOT, 2, 2)
    assert annotation.relations == ("root", "dep", "root", "dep", "dep")
    annotation = window(sentence(1, ("cat",)), sentence(2, ("dog",), tree=False))
    assert (annotation.governors, annotation.relations) == (None, None)
