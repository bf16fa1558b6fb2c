"""A file as one stream of text, cut wherever a sequence is full."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator

from transformers import PreTrainedTokenizerBase

from precompute.corpora.checks import check_some_tokens
from precompute.corpora.lines import Line, span
from precompute.corpora.sequence import Tokens
from precompute.corpora.special_tokens import framed, room_for
from precompute.corpora.tokenizing.word_pieces import line_pieces


def blocks(
    documents: Iterable[list[Line]],
    tokenizer: PreTrainedTokenizerBase,
    *,
    max_tokens: int,
    counts: Counter[str],
) -> Iterator[Tokens]:
    """Yield texts of exactly `max_tokens` tokens, special ones included, across blank lines.

    Each is a window of the document in which it begins. Every token of the file is in one entry, in
    order; those after the last full entry in none.

    Args:
        counts: its `too_short` grows by one if tokens are left over at the end of the file.

    Raises:
        UserError: `max_tokens` leaves no room for a text.
        BadCorpus: the tokenizer returns no token for a line.

    Source:
        yamamoto-2023, section 3.1, whose texts are all 512 tokens long.
    """
    room = room_for(1, tokenizer, max_tokens)
    held: deque[tuple[str, int, Line]] = deque()
    lines = ((number, line) for number, document in enumerate(documents) for line in document)
    for index, (number, line) in enumerate(lines):
        of_line = line_pieces(line.text, tokenizer, goes_on=index > 0)
        check_some_tokens(len(of_line), line.text, place=line.place)
        held.extend((piece, number, line) for piece in of_line)
        while len(held) >= room:
            block = [held.popleft() for _ in range(room)]
            pieces, documents_of, lines_of = zip(*block, strict=True)
            tokens, segments = framed((list(pieces),), tokenizer)
            yield Tokens(tokens, segments, span(lines_of[0], lines_of[-1]), documents_of[0])
    counts["too_short"] += bool(held)
