"""Windows of annotated documents: single sentences, or as many as fit together."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate, pairwise

from transformers import PreTrainedTokenizerBase

from precompute.corpora.annotated.documents import Document, Sentence, joined
from precompute.corpora.lines import span
from precompute.corpora.sequence import Annotated
from precompute.corpora.special_tokens import room_for
from precompute.corpora.tokenizing.word_pieces import word_pieces


def windows(
    documents: Iterable[Document],
    tokenizer: PreTrainedTokenizerBase,
    *,
    max_tokens: int,
    by_sentence: bool,
    counts: Counter[str],
) -> Iterator[Annotated]:
    """Yield single sentences of treebanks, and windows of documents with coreference.

    A window holds as many sentences as fit. A sentence that does not fit is left out, and the
    windows end before it and begin after it. Mentions that cross the edge of a window are left out.

    Args:
        by_sentence: True to read documents with coreference sentence by sentence too.
        counts: counters to increment: `too_long` for each sentence that does not fit,
            `mentions_cut` for each mention that crosses an edge, `mentions_without_words_left_out`
            for each that holds empty nodes alone; `heads_by_tree`, `heads_by_tag` and
            `heads_by_word` by the source of mentions' heads; `sentences_by_rule` for each sentence
            that ends by our rule.

    Raises:
        UserError: `max_tokens` leaves no room for a text.
        BadCorpus: the tokenizer returns no token for a word.
    """
    room = room_for(1, tokenizer, max_tokens)
    counts.update(too_long=0, coreference_left_out=0)
    for number, document in enumerate(documents):
        alone = by_sentence or not document.bears_coreference
        sizes = [_n_pieces(sentence, tokenizer, room) for sentence in document.sentences]
        following = [
            _n_pieces(sentence, tokenizer, room, space=before.spaces[-1])
            for before, sentence in pairwise((document.sentences[0], *document.sentences))
        ]
        counts["too_long"] += sum(size > room for size in sizes)
        counts["mentions_without_words_left_out"] += document.mentions_without_words
        # where each sentence begins among the words of the document, and where the last one ends
        starts = [0, *accumulate(map(len, document.sentences))]
        for run in _runs(sizes, following, room=1 if alone else room, limit=room):
            window = _window(document, run, starts, counts)
            yield window if alone else replace(window, document=number)


def _n_pieces(
    sentence: Sentence, tokenizer: PreTrainedTokenizerBase, room: int, *, space: bool = False
) -> int:
    """Count the tokens of a sentence; if it has too many words return their number instead.

    Args:
        space: True if a sentence precedes it in its window.
    """
    if len(sentence) > room:
        return len(sentence)
    place = span(sentence.first, sentence.last)
    pieces = word_pieces(sentence.forms, sentence.spaces, tokenizer, place=place, space=space)
    return sum(map(len, pieces))


def _runs(sizes: list[int], following: list[int], *, room: int, limit: int) -> Iterator[range]:
    """Yield ranges of sentences for one window: until `room` is full, none of more than `limit`.

    `following` holds the sizes after another sentence, whose space the first word may begin with.
    """
    first, filled = 0, 0
    for place, size in enumerate(sizes):
        if place > first and (filled + following[place] > room or size > limit):
            yield range(first, place)
            first, filled = place, 0
        if size > limit:
            first = place + 1
        else:
            filled += following[place] if place > first else size
    if first < len(sizes):
        yield range(first, len(sizes))


def _window(document: Document, run: range, starts: list[int], counts: Counter[str]) -> Annotated:
    sentences = document.sentences[run.start : run.stop]
    first, end = starts[run.start], starts[run.stop]
    begun, ended = document.begun_before(end), document.ended_before(end)
    inside = document.mentions[document.begun_before(first) : begun]
    kept = [mention for mention in inside if mention.last < end]
    counts["mentions_cut"] += begun - ended
    if document.bears_coreference:
        counts[f"heads_by_{document.heads_by}"] += len(kept)
    if document.sentences_by_rule:
        counts["sentences_by_rule"] += len(sentences)
    shifted = (
        replace(of, first=of.first - first, last=of.last - first, head=of.head - first)
        for of in kept
    )
    known = joined(sentences, tuple(shifted))
    return Annotated(known, span(sentences[0].first, sentences[-1].last))
