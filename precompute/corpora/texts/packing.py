"""Plain text (a paragraph or sentence per line, blank lines between documents) into entries:
paragraphs paired with the next, sentences packed to length, or one stream cut where it is full."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import accumulate, groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from transformers import PreTrainedTokenizerBase as Tokenizer

from precompute.corpora.left_out import check_some_tokens, is_blank
from precompute.corpora.randomness import generator
from precompute.corpora.sequence import Entry
from precompute.corpora.source import Line, numbered_lines, span
from precompute.corpora.tokenizing.encoded import framed, room_for
from precompute.corpora.tokenizing.kind import line_pieces

LEAST_PIECES = 2


def documents(path: Path) -> Iterator[list[Line]]:
    """Yield groups of lines between blank lines, in the file's order: one group is one document."""
    runs = groupby(numbered_lines(path), key=lambda line: is_blank(line.text))
    return (list(lines) for blank, lines in runs if not blank)


def paired(documents: Iterable[list[Line]], *, counts: Counter[str]) -> Iterator[Entry]:
    """Yield consecutive paragraphs of one document as pairs, each paragraph in one entry."""
    for number, document in enumerate(documents):
        for first, second in zip(document[::2], document[1::2], strict=False):
            yield Entry(span(first, second), (first.text, second.text), document=number)
        if len(document) % 2:
            counts["unpaired"] += 1
            yield Entry(document[-1].place, (document[-1].text,), document=number)


def packed(
    documents: Iterable[list[Line]],
    tokenizer: Tokenizer,
    *,
    max_tokens: int,
    seed: int,
    segment_types: int,
    counts: Counter[str],
) -> Iterator[Entry]:
    """Spans of neighbouring sentences, cut in two at random and filled up to `max_tokens`.

    Lines of one document are collected until their word pieces fill a sequence; where the first
    text ends is drawn among the ends of lines (within a line if no end of a line leaves two pieces
    on either side); single pieces are then dropped from the front or the back of the longer text.
    No piece stands in two entries.

    Args:
        segment_types: how many the model has; with fewer than two, every segment id is 0.

    Source:
        clark-2019, section 2; the lengths, the cut and the dropping are those of its released code.

    Differs:
        The entries keep the order of the text; each draws from a generator of its own.
    """
    room, index = room_for(2, tokenizer, max_tokens), 0
    for number, document in enumerate(documents):
        for collected in _filled(document, tokenizer, room):
            if _n_pieces(collected) < 2 * LEAST_PIECES:
                counts["too_short"] += 1
                continue
            draws = generator(seed, purpose="packing", index=index)
            sides = _dropped(*_cut(collected, draws), room, draws)
            tokens, segments = framed(sides, tokenizer)
            segments = segments if segment_types > 1 else (0,) * len(tokens)
            counts["truncated"] += _n_pieces(collected) > room
            place = span(collected[0].line, collected[-1].line)
            yield Entry(place, tokens=tokens, segments=segments, document=number)
            index += 1


class _Collected(NamedTuple):
    line: Line
    pieces: list[str]


def _n_pieces(collected: list[_Collected]) -> int:
    return sum(len(line.pieces) for line in collected)


def _filled(document: list[Line], tokenizer: Tokenizer, room: int) -> Iterator[list[_Collected]]:
    """Yield groups of lines that fill a sequence; the last one of a document may be shorter."""
    collected: list[_Collected] = []
    for line in document:
        pieces = line_pieces(line.text, tokenizer, goes_on=bool(collected))
        check_some_tokens(len(pieces), line.text, place=line.place)
        collected.append(_Collected(line, pieces))
        if _n_pieces(collected) >= room:
            yield collected
            collected = []
    if collected:
        yield collected


def _cut(collected: list[_Collected], draws: np.random.Generator) -> tuple[list[str], list[str]]:
    """The pieces before and after a point drawn at random."""
    pieces = [piece for line in collected for piece in line.pieces]
    within = range(LEAST_PIECES, len(pieces) - LEAST_PIECES + 1)
    ends_of_lines = accumulate(len(line.pieces) for line in collected)
    end = int(draws.choice([end for end in ends_of_lines if end in within] or within))
    return pieces[:end], pieces[end:]


def _dropped(
    first: list[str], second: list[str], room: int, draws: np.random.Generator
) -> tuple[list[str], list[str]]:
    """Both texts, shortened piece by piece until they fit."""
    sides = deque(first), deque(second)
    for _ in range(len(first) + len(second) - room):
        longer = sides[0] if len(sides[0]) > len(sides[1]) else sides[1]
        if draws.random() < 0.5:
            longer.popleft()
        else:
            longer.pop()
    return list(sides[0]), list(sides[1])


def blocks(
    documents: Iterable[list[Line]], tokenizer: Tokenizer, *, max_tokens: int, counts: Counter[str]
) -> Iterator[Entry]:
    """Yield texts of exactly `max_tokens` tokens, special ones included, across blank lines.

    Each is a window of the document in which it begins. Tokens after the last full one are left.

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
            yield Entry(
                span(lines_of[0], lines_of[-1]),
                tokens=tokens,
                segments=segments,
                document=documents_of[0],
            )
    counts["too_short"] += bool(held)
