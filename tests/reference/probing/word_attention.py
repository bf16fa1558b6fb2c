"""clark-2019, section 4.1: attention between words, one pair of words and one piece at a time."""

Matrix = list[list[float]]
Spans = list[tuple[int, int]]


def received(row: list[float], span: tuple[int, int]) -> float:
    """Attention of one token to a word: the sum over the word's pieces."""
    return sum(row[key] for key in range(*span))


def by_mean(attention: Matrix, spans: Spans) -> Matrix:
    """Attention between words: the mean over the pieces of the attending word."""
    return [
        [
            sum(received(attention[query], to) for query in range(*of)) / (of[1] - of[0])
            for to in spans
        ]
        for of in spans
    ]


def by_first(attention: Matrix, spans: Spans) -> Matrix:
    """Attention of the first piece of each word to each word."""
    return [[received(attention[of[0]], to) for to in spans] for of in spans]


def to_kind(attention: Matrix, spans: Spans, of_kind: list[bool]) -> list[float]:
    """Attention of each word to the tokens of one kind, as mean over its pieces."""
    return [
        sum(
            weight
            for query in range(*of)
            for weight, wanted in zip(attention[query], of_kind, strict=True)
            if wanted
        )
        / (of[1] - of[0])
        for of in spans
    ]
